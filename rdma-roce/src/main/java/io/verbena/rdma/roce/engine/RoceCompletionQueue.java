package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.NotificationArm;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

/** A ring of completions of one engine. Used by the engine's thread. */
public final class RoceCompletionQueue implements CompletionQueue
{
    /** Stands for the position of a send in the completion of a receive. */
    static final long RECEIVE = -1;

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
    private final CompletionOwner[] owners;
    private long head;
    private long tail;
    private int attachedCount;
    private boolean isOverrun;

    RoceCompletionQueue(final EngineContext engine, final int capacity, final CompletionListener listener)
    {
        this.engine = engine;
        this.capacity = capacity;
        this.listener = listener;
        wrIds = new long[capacity];
        positions = new long[capacity];
        statuses = new int[capacity];
        opcodes = new int[capacity];
        byteLengths = new int[capacity];
        immediates = new int[capacity];
        flags = new int[capacity];
        sources = new int[capacity];
        owners = new CompletionOwner[capacity];
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        if (head == tail)
        {
            engine.drive();
        }
        int count = 0;
        while (head < tail && count < completions.capacity())
        {
            final int slot = (int)(head++ % capacity);
            final CompletionOwner owner = owners[slot];
            if (owner != null)
            {
                owners[slot] = null;
                completions.set(count, wrIds[slot], statuses[slot], opcodes[slot], byteLengths[slot],
                    immediates[slot], owner.number());
                completions.setDetails(count, flags[slot], sources[slot], 0);
                count++;
                release(owner, positions[slot]);
            }
        }
        if (count == 0 && isOverrun)
        {
            throw new RdmaException("completion queue has overrun and is dead: capacity=" + capacity);
        }
        return count;
    }

    @Override
    public void requestNotification(final boolean solicitedOnly)
    {
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
        engine.enter();
        try
        {
            if (attachedCount > 0)
            {
                throw new RdmaException("completion queue is used by queue pairs, close these first: " + attachedCount);
            }
            engine.events().forget(this);
        }
        finally
        {
            engine.exit();
        }
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
        final CompletionOwner owner,
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
        final CompletionOwner owner,
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

    /** Drops what belongs to a queue pair that is reset or closed. */
    void forget(final CompletionOwner owner)
    {
        for (long position = head; position < tail; position++)
        {
            final int slot = (int)(position % capacity);
            if (owners[slot] == owner)
            {
                owners[slot] = null;
                if (positions[slot] == RECEIVE)
                {
                    owner.freeReceive();
                }
            }
        }
    }

    /** One more role of a queue pair completes here. */
    void attach()
    {
        attachedCount++;
    }

    /** One role fewer does. */
    void detach()
    {
        attachedCount--;
    }

    boolean isOverrun()
    {
        return isOverrun;
    }

    private void add(
        final CompletionOwner owner,
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
        if (isOverrun)
        {
            return;
        }
        if (tail - head == capacity)
        {
            isOverrun = true;
            engine.events().raise(AsyncEventType.CQ_ERR, this);
            engine.onOverrun();
            return;
        }
        final int slot = (int)(tail++ % capacity);
        owners[slot] = owner;
        positions[slot] = position;
        wrIds[slot] = wrId;
        statuses[slot] = status;
        opcodes[slot] = opcode;
        byteLengths[slot] = lengthBytes;
        immediates[slot] = immediate;
        flags[slot] = givenFlags;
        sources[slot] = source;
        if (arm.fires(isSolicited || status != WorkCompletionStatus.SUCCESS) && listener != null)
        {
            listener.onNotification(this);
        }
    }

    private static void release(final CompletionOwner owner, final long position)
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
