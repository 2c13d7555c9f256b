package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;

/**
 * A completion queue of two rings: one for completions that the polling thread itself produces (its sends), without any
 * atomic; and an inbox for those that other threads produce (a peer's SEND completes our receive), many producers and
 * one consumer, without locks.
 *
 * <p>The count that decides about an overrun spans both rings; while other threads produce it may lag behind polling
 * and posting, which matters only to a queue that is smaller than the queues that complete in it.
 */
final class SoftCompletionQueue implements CompletionQueue
{
    private static final VarHandle TAIL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle INBOX_HEAD;
    private static final VarHandle LOCAL_HEAD;
    private static final VarHandle LOCAL_TAIL;
    /** Index in an array of 3 cache lines, so that the producers' counter shares its line with nothing. */
    private static final int TAIL_INDEX = 8;

    static
    {
        try
        {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            INBOX_HEAD = lookup.findVarHandle(SoftCompletionQueue.class, "inboxHead", long.class);
            LOCAL_HEAD = lookup.findVarHandle(SoftCompletionQueue.class, "localHead", long.class);
            LOCAL_TAIL = lookup.findVarHandle(SoftCompletionQueue.class, "localTail", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final SoftDevice device;
    private final int capacity;
    private final int mask;
    private final CompletionEntry[] local;
    private final CompletionEntry[] inbox;
    private final long[] inboxTail = new long[24];
    private final ArrayList<SoftQueuePair> waiting = new ArrayList<>();
    private long localHead;
    private long localTail;
    private long inboxHead;
    private volatile SoftQueuePair[] attached = new SoftQueuePair[0];
    private volatile boolean needsAttention;
    private volatile boolean isOverrun;
    private boolean isClosed;

    SoftCompletionQueue(final SoftDevice device, final int capacity)
    {
        this.device = device;
        this.capacity = capacity;
        final int slots = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
        mask = slots - 1;
        local = new CompletionEntry[slots];
        inbox = new CompletionEntry[slots];
        for (int i = 0; i < slots; i++)
        {
            local[i] = new CompletionEntry();
            inbox[i] = new CompletionEntry();
        }
    }

    SoftDevice device()
    {
        return device;
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public int poll(final WorkCompletions completions)
    {
        if (needsAttention || !waiting.isEmpty())
        {
            serve();
        }
        int count = 0;
        if (localHead != localTail)
        {
            count = drainLocal(completions);
        }
        if (inboxHead != (long)TAIL.getOpaque(inboxTail, TAIL_INDEX))
        {
            count = drainInbox(completions, count);
        }
        if (count == 0 && isOverrun)
        {
            throw new RdmaException(
                "completion queue overrun: capacity=" + capacity +
                "; make it as deep as the send and receive queues that complete here together");
        }
        return count;
    }

    /** Polling thread: the request before a position of a queue pair's send queue has completed. */
    void pushSend(
        final SoftQueuePair queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final long position)
    {
        if (localTail - localHead + (long)TAIL.getOpaque(inboxTail, TAIL_INDEX) - inboxHead >= capacity)
        {
            overrun();
            return;
        }
        final CompletionEntry entry = local[(int)localTail & mask];
        entry.queuePair = queuePair;
        entry.wrId = wrId;
        entry.status = status;
        entry.opcode = opcode;
        entry.byteLength = byteLength;
        entry.position = position;
        LOCAL_TAIL.setOpaque(this, localTail + 1);
    }

    /** Any thread: a receive of a queue pair has completed. */
    void pushReceive(
        final SoftQueuePair queuePair,
        final long wrId,
        final int status,
        final int opcode,
        final int byteLength,
        final int immediate)
    {
        long tail;
        do
        {
            tail = (long)TAIL.getVolatile(inboxTail, TAIL_INDEX);
            if (occupiedBefore(tail) >= capacity)
            {
                overrun();
                return;
            }
        }
        while (!TAIL.compareAndSet(inboxTail, TAIL_INDEX, tail, tail + 1));

        final CompletionEntry entry = inbox[(int)tail & mask];
        entry.queuePair = queuePair;
        entry.wrId = wrId;
        entry.status = status;
        entry.opcode = opcode;
        entry.byteLength = byteLength;
        entry.immediate = immediate;
        entry.publish(tail);
    }

    /**
     * Any thread: entries held. Each tail is read before its head, so that what is polled meanwhile makes the count
     * too low, never too high.
     */
    private long occupiedBefore(final long tail)
    {
        final long inboxCount = tail - (long)INBOX_HEAD.getAcquire(this);
        final long localEnd = (long)LOCAL_TAIL.getAcquire(this);
        return inboxCount + localEnd - (long)LOCAL_HEAD.getAcquire(this);
    }

    /** Any thread: some attached queue pair may have to be flushed by the polling thread. */
    void requestAttention()
    {
        needsAttention = true;
    }

    /** Polling thread: the queue pair has requests that wait for the peer. */
    void addWaiting(final SoftQueuePair queuePair)
    {
        if (!waiting.contains(queuePair))
        {
            waiting.add(queuePair);
        }
    }

    /** Polling thread: nothing waits any more. */
    void removeWaiting(final SoftQueuePair queuePair)
    {
        waiting.remove(queuePair);
    }

    synchronized void attach(final SoftQueuePair queuePair)
    {
        if (isClosed)
        {
            throw new RdmaException("completion queue is closed: device=" + device.name());
        }
        final SoftQueuePair[] copy = Arrays.copyOf(attached, attached.length + 1);
        copy[attached.length] = queuePair;
        attached = copy;
    }

    synchronized void detach(final SoftQueuePair queuePair)
    {
        attached = Arrays.stream(attached).filter(other -> other != queuePair).toArray(SoftQueuePair[]::new);
    }

    boolean isOverrun()
    {
        return isOverrun;
    }

    @Override
    public synchronized void close()
    {
        if (attached.length > 0)
        {
            throw new RdmaException(
                "completion queue is in use: close its queue pairs first, open=" + attached.length);
        }
        if (!isClosed)
        {
            isClosed = true;
            device.childClosed();
        }
    }

    private void serve()
    {
        if (needsAttention)
        {
            // Cleared before looking: a request that comes meanwhile sets it again.
            needsAttention = false;
            for (final SoftQueuePair queuePair : attached)
            {
                queuePair.flushIfInError();
            }
        }
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            waiting.get(i).retry();
        }
    }

    private int drainLocal(final WorkCompletions completions)
    {
        final int limit = completions.capacity();
        long head = localHead;
        final long tail = localTail;
        int count = 0;
        while (count < limit && head != tail)
        {
            final CompletionEntry entry = local[(int)head & mask];
            head++;
            final SoftQueuePair queuePair = entry.queuePair;
            if (!queuePair.isClosed())
            {
                queuePair.releaseSends(entry.position);
                completions.set(
                    count++, entry.wrId, entry.status, entry.opcode, entry.byteLength, 0, queuePair.number());
            }
        }
        LOCAL_HEAD.setOpaque(this, head);
        return count;
    }

    private int drainInbox(final WorkCompletions completions, final int startIndex)
    {
        final int limit = completions.capacity();
        long head = inboxHead;
        int count = startIndex;
        while (count < limit)
        {
            final CompletionEntry entry = inbox[(int)head & mask];
            if (!entry.isPublished(head))
            {
                break;
            }
            final SoftQueuePair queuePair = entry.queuePair;
            if (!queuePair.isClosed())
            {
                queuePair.releaseReceive();
                completions.set(
                    count++,
                    entry.wrId,
                    entry.status,
                    entry.opcode,
                    entry.byteLength,
                    entry.immediate,
                    queuePair.number());
            }
            head++;
        }
        // Release: a producer that sees the slot free does not overtake these reads of it.
        INBOX_HEAD.setRelease(this, head);
        return count;
    }

    private void overrun()
    {
        isOverrun = true;
        for (final SoftQueuePair queuePair : attached)
        {
            queuePair.moveToError();
        }
    }
}
