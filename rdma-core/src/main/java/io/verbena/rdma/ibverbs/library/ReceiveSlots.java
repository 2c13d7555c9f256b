package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Receives of a queue pair or of a shared receive queue: the caller's identifiers by slot, and one
 * {@code struct ibv_recv_wr} to post with. Slots are taken from a stack, because a shared queue's receives complete in
 * any order. The poster takes, the poller gives back: these may be two threads for a shared queue, hence the monitor,
 * which is free of contention in all other cases.
 */
public final class ReceiveSlots
{
    private static final long SGE = VerbsLayouts.IBV_RECV_WR.byteSize();
    private static final long SG_LIST = VerbsLayouts.offset(VerbsLayouts.IBV_RECV_WR, "sg_list");
    private static final long NUM_SGE = VerbsLayouts.offset(VerbsLayouts.IBV_RECV_WR, "num_sge");
    private static final long SGE_LENGTH = SGE + VerbsLayouts.offset(VerbsLayouts.IBV_SGE, "length");
    private static final long SGE_KEY = SGE + VerbsLayouts.offset(VerbsLayouts.IBV_SGE, "lkey");

    private final long[] wrIds;
    private final int[] free;
    private final MemorySegment request = Arena.ofAuto().allocate(64, 64);
    private int freeCount;

    public ReceiveSlots(final int capacity)
    {
        wrIds = new long[capacity];
        free = new int[capacity];
        clear();
        request.set(JAVA_LONG, SG_LIST, request.address() + SGE);
    }

    /**
     * Posts a receive.
     *
     * @return 0, an errno value, or -1 when there is no free slot.
     */
    public synchronized int post(
        final MemorySegment function,
        final long queue,
        final int serial,
        final long wrId,
        final long localAddress,
        final int lengthBytes,
        final int localKey)
    {
        if (freeCount == 0)
        {
            return -1;
        }
        final int slot = free[freeCount - 1];
        request.set(JAVA_LONG, 0, CompletionId.of(serial, true, slot));
        request.set(JAVA_INT, NUM_SGE, lengthBytes == 0 ? 0 : 1);
        request.set(JAVA_LONG, SGE, localAddress);
        request.set(JAVA_INT, SGE_LENGTH, lengthBytes);
        request.set(JAVA_INT, SGE_KEY, localKey);
        final int errno = DataPath.post(function, queue, request.address(), request.address() + 56);
        if (errno == 0)
        {
            freeCount--;
            wrIds[slot] = wrId;
        }
        return errno;
    }

    /** Poller: the caller's identifier of a completed receive, whose slot is free from now on. */
    public synchronized long complete(final int slot)
    {
        free[freeCount++] = slot;
        return wrIds[slot];
    }

    public synchronized void clear()
    {
        freeCount = free.length;
        for (int i = 0; i < freeCount; i++)
        {
            free[i] = freeCount - 1 - i;
        }
    }
}
