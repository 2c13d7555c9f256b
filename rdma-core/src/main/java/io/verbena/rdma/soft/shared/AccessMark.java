package io.verbena.rdma.soft.shared;

import org.agrona.concurrent.SystemNanoClock;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Says whether a requester is inside its peer's memory: a sequence in its queue pair's entry that is odd meanwhile. The
 * requester enters before it looks at states and keys; whoever revokes changes those first and looks at the mark then.
 * With a full fence on both sides, either the requester sees the revocation or the revoker sees the mark; no matter
 * whether they are of one process.
 */
public final class AccessMark
{
    private static final long PARK_NS = 20_000;

    private final long address;
    private final WatchPace pace;
    private long sequence;

    /**
     * @param entry address of the queue pair's entry.
     * @param pace  of the watch over the device's fabric.
     */
    public AccessMark(final long entry, final WatchPace pace)
    {
        this.pace = pace;
        address = entry + QueuePairEntry.MARK_OFFSET;
        sequence = SharedWords.getLong(address);
    }

    /** Requester: from here on it may be inside. Also a full fence. */
    public void enter()
    {
        // Release: who sees the mark sees the target named before it.
        SharedWords.putLongRelease(address, ++sequence);
        VarHandle.fullFence();
    }

    /** Requester: its last access is done. */
    public void leave()
    {
        SharedWords.putLongRelease(address, ++sequence);
        pace.onAccess();
    }

    /** Requester, outside: the device it enters from now on. */
    public void target(final long interfaceId)
    {
        SharedWords.putLongRelease(address + Long.BYTES, interfaceId);
    }

    /** Anybody: the sequence now. */
    public static long sequence(final long entry)
    {
        return SharedWords.getLongVolatile(entry + QueuePairEntry.MARK_OFFSET);
    }

    /** Anybody: whether the requester was inside then. */
    public static boolean isInside(final long sequence)
    {
        return (sequence & 1) != 0;
    }

    /** Anybody: whether a requester of a device is inside another one, which may be the same. */
    public static boolean isAnyInside(final DeviceFile device, final long target)
    {
        final int limit = SharedWords.getIntAcquire(device.base() + DeviceFileDescriptor.QUEUE_PAIR_LIMIT_OFFSET);
        for (int i = 0; i < limit; i++)
        {
            final long entry = device.queuePairEntry(i);
            final long sequence = sequence(entry);
            if (isInside(sequence) && target(entry, sequence) == target)
            {
                return true;
            }
        }
        return false;
    }

    /** Anybody: grows with each access of a requester of the device. */
    public static long accesses(final DeviceFile device)
    {
        final int limit = SharedWords.getIntAcquire(device.base() + DeviceFileDescriptor.QUEUE_PAIR_LIMIT_OFFSET);
        long sum = 0;
        for (int i = 0; i < limit; i++)
        {
            sum += sequence(device.queuePairEntry(i));
        }
        return sum;
    }

    /**
     * Anybody: waits until the requester has been outside.
     *
     * @return false when it has not by the deadline.
     */
    static boolean awaitOutside(final long entry, final long deadlineNs)
    {
        final long found = sequence(entry);
        while (isInside(found) && sequence(entry) == found)
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - deadlineNs > 0)
            {
                return false;
            }
            LockSupport.parkNanos(PARK_NS);
        }
        return true;
    }

    /** Anybody: the device that the requester enters. */
    public static long target(final long entry, final long sequence)
    {
        return isInside(sequence) ? SharedWords.getLongAcquire(entry + QueuePairEntry.MARK_TARGET_OFFSET) : 0;
    }
}
