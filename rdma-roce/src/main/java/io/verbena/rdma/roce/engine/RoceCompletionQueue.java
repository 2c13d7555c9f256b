package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.NotificationArm;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.BitUtil;
import org.agrona.concurrent.SystemNanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A ring of completions of one engine. The thread that drives the engine adds, another one polls, without a lock; the
 * polling thread drives when it finds nothing and nobody drives. Two threads that poll at once do no harm: one of them
 * gets nothing.
 */
public final class RoceCompletionQueue implements NetworkCompletionQueue
{
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;
    private static final VarHandle POLLING;
    private static final long CLAIM_TIMEOUT_NS = 10_000_000_000L;

    static
    {
        try
        {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(RoceCompletionQueue.class, "head", long.class);
            TAIL = lookup.findVarHandle(RoceCompletionQueue.class, "tail", long.class);
            POLLING = lookup.findVarHandle(RoceCompletionQueue.class, "polling", int.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    /** Stands for the position of a send in the completion of a receive. */
    static final long RECEIVE = -1;

    /** What a completion queue needs of the queue pair or target that a completion belongs to. */
    abstract static class Owner
    {
        /** Number of the queue pair or target. */
        abstract int number();

        /** The completion of a send was polled: the slots before a position are free. */
        abstract void freeSends(long position);

        /** The completion of a receive was polled or dropped: its slot is free. */
        abstract void freeReceive();
    }

    private final EngineContext engine;
    private final CompletionListener listener;
    private final NotificationArm arm = new NotificationArm();
    private final int capacity;
    private final long[] wrIds;
    private final long[] positions;
    private final int[] statuses;
    private final int[] opcodes;
    private final int[] byteLengths;
    private final int[] immediates;
    private final int[] flags;
    private final int[] sources;
    private final Owner[] owners;
    private long head;
    private long tail;
    /** 1 while a thread polls, or drops what is of a queue pair. */
    private int polling;
    private final OpenChildren children = new OpenChildren("completion queue");
    private volatile boolean isOverrun;
    /** Used by {@link CompletionNotifier}. */
    RoceCompletionQueue nextNotified;
    private boolean isNotifying;
    private boolean hasSolicited;

    RoceCompletionQueue(final EngineContext engine, final int capacity, final CompletionListener listener)
    {
        this.engine = engine;
        this.capacity = capacity;
        this.listener = listener;
        engine.children().add();
        final int slots = BitUtil.findNextPositivePowerOfTwo(capacity);
        wrIds = new long[slots];
        positions = new long[slots];
        statuses = new int[slots];
        opcodes = new int[slots];
        byteLengths = new int[slots];
        immediates = new int[slots];
        flags = new int[slots];
        sources = new int[slots];
        owners = new Owner[slots];
    }

    @Override
    public boolean hasCompletion()
    {
        return (long)HEAD.getAcquire(this) != (long)TAIL.getAcquire(this) || isOverrun;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        if ((long)HEAD.getAcquire(this) == (long)TAIL.getAcquire(this))
        {
            engine.drive();
        }
        return pollUndriven(completions);
    }

    /**
     * Polls, and leaves driving to others.
     *
     * @param completions as of {@link #poll}.
     * @return as of {@link #poll}.
     */
    public int pollUndriven(final WorkCompletions completions)
    {
        if (!hasCompletion())
        {
            return 0;
        }
        if (!POLLING.compareAndSet(this, 0, 1))
        {
            return 0;
        }
        // Asked before the ring is looked at: nothing is added to it afterwards.
        final boolean wasOverrun = isOverrun;
        final int count;
        try
        {
            count = take(completions);
        }
        finally
        {
            POLLING.setRelease(this, 0);
        }
        if (count == 0 && wasOverrun)
        {
            throw new RdmaException("completion queue has overrun and is dead: capacity=" + capacity);
        }
        return count;
    }

    private int take(final WorkCompletions completions)
    {
        // Acquire: the completions before the end that is seen are seen, and what was done before them.
        final long end = (long)TAIL.getAcquire(this);
        long position = head;
        int count = 0;
        while (position < end && count < completions.capacity())
        {
            final int slot = slot(position++);
            final Owner owner = owners[slot];
            owners[slot] = null;
            completions.set(count, wrIds[slot], statuses[slot], opcodes[slot], byteLengths[slot],
                immediates[slot], owner.number());
            completions.setDetails(count, flags[slot], sources[slot], 0);
            count++;
            final long freed = positions[slot];
            // The slot first: as soon as the request is freed, another one may be posted there and complete.
            // Release: the slot is written again after it was read.
            HEAD.setRelease(this, position);
            release(owner, freed);
        }
        return count;
    }

    private int slot(final long position)
    {
        return (int)position & owners.length - 1;
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
        if (listener == null)
        {
            throw new RdmaException("completion queue was created without a channel: nobody could be notified");
        }
        arm.arm(solicitedOnly);
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public void close()
    {
        engine.exclusively(() ->
        {
            if (children.close())
            {
                engine.events().forget(this);
                engine.children().remove();
                if (listener != null)
                {
                    listener.onClosed(this);
                }
            }
        });
    }

    /**
     * Adds the completion of a send.
     *
     * @param owner       queue pair it belongs to.
     * @param position    after the request, freed by the poll.
     * @param wrId        of the request.
     * @param status      of {@link WorkCompletionStatus}.
     * @param opcode      of {@link io.verbena.rdma.verbs.WorkCompletionOpcode}.
     * @param lengthBytes of the request.
     */
    void addSend(
        final Owner owner,
        final long position,
        final long wrId,
        final int status,
        final int opcode,
        final int lengthBytes)
    {
        add(owner, position, wrId, status, opcode, lengthBytes, 0, 0, 0, false);
    }

    /**
     * Adds the completion of a receive; further parameters as in {@link #addSend}.
     *
     * @param immediate   or invalidated key.
     * @param givenFlags  which of them is valid, of {@link WorkCompletions}.
     * @param source      queue pair that sent a datagram.
     * @param isSolicited whether the sender asked to wake the receiver.
     */
    void addReceive(
        final Owner owner,
        final long wrId,
        final int status,
        final int opcode,
        final int lengthBytes,
        final int immediate,
        final int givenFlags,
        final int source,
        final boolean isSolicited)
    {
        add(owner, RECEIVE, wrId, status, opcode, lengthBytes, immediate, givenFlags, source, isSolicited);
    }

    /**
     * Drops what belongs to a queue pair that is reset or closed. Waits until a thread that is polling has done so:
     * afterwards none frees requests or receives of the queue pair.
     */
    void forget(final Owner owner)
    {
        claimPolling();
        try
        {
            drop(owner);
        }
        finally
        {
            POLLING.setRelease(this, 0);
        }
    }

    private void claimPolling()
    {
        // The engine's clock may stand still while this thread waits.
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        while (!POLLING.compareAndSet(this, 0, 1))
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - startNs > CLAIM_TIMEOUT_NS)
            {
                throw new RdmaException(
                    "a thread that polls the completion queue does not go on: capacity=" + capacity + ", waited 10 s");
            }
            Thread.yield();
        }
    }

    /** Nobody adds or polls meanwhile: what stays moves up, so that what is dropped takes no place any more. */
    private void drop(final Owner owner)
    {
        long end = head;
        for (long position = head; position < tail; position++)
        {
            final int slot = slot(position);
            final Owner completed = owners[slot];
            owners[slot] = null;
            if (completed != owner)
            {
                move(slot, slot(end++), completed);
            }
            else if (positions[slot] == RECEIVE)
            {
                owner.freeReceive();
            }
        }
        TAIL.setRelease(this, end);
    }

    private void move(final int from, final int to, final Owner owner)
    {
        owners[to] = owner;
        wrIds[to] = wrIds[from];
        positions[to] = positions[from];
        statuses[to] = statuses[from];
        opcodes[to] = opcodes[from];
        byteLengths[to] = byteLengths[from];
        immediates[to] = immediates[from];
        flags[to] = flags[from];
        sources[to] = sources[from];
    }

    /** Queue pairs that complete here fail: other completions of theirs, in another engine's queue, have been lost. */
    public void fail()
    {
        engine.exclusively(() ->
        {
            if (!isOverrun)
            {
                isOverrun = true;
                engine.onOverrun();
            }
        });
    }

    /** @throws RdmaException while queue pairs complete here. */
    public void checkUnused()
    {
        children.checkUnused();
    }

    /** What completes here, each role of a queue pair by itself. */
    OpenChildren children()
    {
        return children;
    }

    /** Whether it is of an engine. */
    boolean isOf(final EngineContext other)
    {
        return engine == other;
    }

    boolean isOverrun()
    {
        return isOverrun;
    }

    private void add(
        final Owner owner,
        final long position,
        final long wrId,
        final int status,
        final int opcode,
        final int lengthBytes,
        final int immediate,
        final int givenFlags,
        final int source,
        final boolean isSolicited)
    {
        if (isOverrun || tail - (long)HEAD.getAcquire(this) == capacity)
        {
            overrun(owner, position);
            return;
        }
        final int slot = slot(tail);
        owners[slot] = owner;
        positions[slot] = position;
        wrIds[slot] = wrId;
        statuses[slot] = status;
        opcodes[slot] = opcode;
        byteLengths[slot] = lengthBytes;
        immediates[slot] = immediate;
        flags[slot] = givenFlags;
        sources[slot] = source;
        // Release: who sees the new end sees the completion.
        TAIL.setRelease(this, tail + 1);
        if (listener != null)
        {
            hasSolicited |= isSolicited || status != WorkCompletionStatus.SUCCESS;
            if (!isNotifying)
            {
                isNotifying = true;
                engine.notifier().add(this);
            }
        }
    }

    /** A completion has no place: it is lost, and the queue pairs that complete here are to fail. */
    private void overrun(final Owner owner, final long position)
    {
        if (!isOverrun)
        {
            isOverrun = true;
            engine.events().raise(AsyncEventType.CQ_ERR, this);
            engine.onOverrun();
        }
        if (position == RECEIVE)
        {
            // Nobody will poll it, and a shared receive queue lives on.
            owner.freeReceive();
        }
    }

    /** Calls the listener if the queue is armed for what came since the last call. */
    void raise()
    {
        final boolean isSolicited = hasSolicited;
        isNotifying = false;
        hasSolicited = false;
        if (arm.fires(isSolicited))
        {
            listener.onNotification(this);
        }
    }

    private static void release(final Owner owner, final long position)
    {
        if (position == RECEIVE)
        {
            owner.freeReceive();
        }
        else
        {
            owner.freeSends(position);
        }
    }

    @Override
    public String toString()
    {
        return "RoceCompletionQueue{capacity=" + capacity + ", count=" + (tail - head) + ", isOverrun=" + isOverrun +
            '}';
    }
}
