package io.verbena.rdma.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;

/**
 * Receives of one queue pair, or of a shared receive queue, in posting order. The owner thread posts; at any time one
 * other thread, the peer's, consumes. Slots become free when completions have been polled, by any threads.
 */
public class ReceiveQueue
{
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle RELEASED;

    static
    {
        try
        {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(ReceiveQueue.class, "tail", long.class);
            HEAD = lookup.findVarHandle(ReceiveQueue.class, "head", long.class);
            RELEASED = lookup.findVarHandle(ReceiveQueue.class, "released", long.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final int capacity;
    private final int mask;
    private final long[] wrIds;
    private final long[] addresses;
    private final int[] lengths;
    private final int[] keys;
    private long released;
    private long tail;
    private long head;

    /** @param capacity most receives outstanding, 0 or more. */
    public ReceiveQueue(final int capacity)
    {
        this.capacity = capacity;
        final int slots = Math.max(1, Integer.highestOneBit(Math.max(1, capacity * 2 - 1)));
        mask = slots - 1;
        wrIds = new long[slots];
        addresses = new long[slots];
        lengths = new int[slots];
        keys = new int[slots];
    }

    /** Owner: adds a receive; parameters of {@link io.verbena.rdma.verbs.QueuePair#postReceive}; false when full. */
    public boolean offer(final long wrId, final long address, final int lengthBytes, final int key)
    {
        final long position = tail;
        // Acquire: the slot is written after its last use was over.
        if (position - (long)RELEASED.getAcquire(this) >= capacity)
        {
            return false;
        }
        final int slot = (int)position & mask;
        wrIds[slot] = wrId;
        addresses[slot] = address;
        lengths[slot] = lengthBytes;
        keys[slot] = key;
        // Release: the consumer that sees the new tail sees the slot.
        TAIL.setRelease(this, position + 1);
        return true;
    }

    /** Anyone: a completion was polled, a slot is free. */
    public void release()
    {
        // Atomic: the queue pairs of a shared receive queue may complete to queues that different threads poll.
        RELEASED.getAndAdd(this, 1L);
    }

    /** Owner, with no consumer about: forgets everything. */
    public void clear()
    {
        RELEASED.setRelease(this, 0L);
        TAIL.setRelease(this, 0L);
        HEAD.setRelease(this, 0L);
    }

    /**
     * Tells what decides what it does next: how many slots are taken, and the receives that are there. With nobody else
     * about.
     *
     * @param words takes it.
     */
    public void describe(final LongConsumer words)
    {
        words.accept(tail - released);
        words.accept(tail - head);
        for (long position = head; position < tail; position++)
        {
            final int slot = (int)position & mask;
            words.accept(wrIds[slot]);
            words.accept(addresses[slot]);
            words.accept((long)keys[slot] << 32 | lengths[slot]);
        }
    }

    /** Anyone: how many receives are there to be taken. */
    public int count()
    {
        return (int)((long)TAIL.getAcquire(this) - (long)HEAD.getAcquire(this));
    }

    /** Consumer: whether there is no receive. */
    public boolean isEmpty()
    {
        return (long)HEAD.getAcquire(this) == (long)TAIL.getAcquire(this);
    }

    /** Consumer: whether there is a receive, the oldest of which has so many bytes. */
    public boolean hasFitting(final int neededBytes)
    {
        return !isEmpty() && lengthBytes() >= neededBytes;
    }

    /** Consumer: the identifier of the oldest receive. */
    public long wrId()
    {
        return wrIds[(int)head & mask];
    }

    /** Consumer: the buffer of the oldest receive. */
    public long address()
    {
        return addresses[(int)head & mask];
    }

    /** Consumer: the buffer's length. */
    public int lengthBytes()
    {
        return lengths[(int)head & mask];
    }

    /** Consumer: the buffer's key. */
    public int key()
    {
        return keys[(int)head & mask];
    }

    /** Consumer: takes the oldest receive away. */
    public void remove()
    {
        HEAD.setRelease(this, head + 1);
    }
}
