package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;

import static io.verbena.rdma.soft.shared.DeviceFileDescriptor.*;

/**
 * Queue pairs and DC targets of an own device by number, and their part of its file. A number is an entry's index
 * (lower 14 bits) and how often it was used (upper 10), so that a closed queue pair's number rests.
 */
final class QueuePairTable
{
    private static final int ENTRIES_PER_COMMIT = 8;
    private static final int INDEX_BITS = Integer.numberOfTrailingZeros(MAX_QUEUE_PAIRS);
    private static final int MAX_USES = (1 << 24 - INDEX_BITS) - 1;

    private static final AsyncEventType[] EVENT_TYPES = AsyncEventType.values();

    private final DeviceFile file;
    private final IntSupplier random;
    private final AtomicReferenceArray<SoftResponder> queuePairs = new AtomicReferenceArray<>(MAX_QUEUE_PAIRS);
    private final short[] uses = new short[MAX_QUEUE_PAIRS];
    private int limit;
    private int lastIndex;
    private int openCount;

    /**
     * @param file   of the device.
     * @param random where how often an entry was used begins and goes on, so that no number follows from others;
     *               null when uses are counted.
     */
    QueuePairTable(final DeviceFile file, final IntSupplier random)
    {
        this.random = random;
        this.file = file;
    }

    /** Makes a queue pair or DC target with a number of its own. */
    synchronized <T extends SoftResponder> T add(final IntFunction<T> factory)
    {
        if (openCount >= limit / 2 && limit < MAX_QUEUE_PAIRS)
        {
            file.commit(
                QUEUE_PAIRS_OFFSET + (long)limit * QueuePairEntry.LENGTH,
                (long)ENTRIES_PER_COMMIT * QueuePairEntry.LENGTH);
            limit += ENTRIES_PER_COMMIT;
            SharedWords.putIntRelease(file.base() + QUEUE_PAIR_LIMIT_OFFSET, limit);
        }
        if (openCount >= MAX_QUEUE_PAIRS - 1)
        {
            throw new RdmaException("too many queue pairs on one device: open=" + openCount + "; close some first");
        }
        int index = lastIndex;
        do
        {
            index = index + 1 < limit ? index + 1 : 0;
        }
        while (queuePairs.get(index) != null);
        lastIndex = index;
        uses[index] = nextUse(uses[index]);
        final T queuePair = factory.apply(uses[index] << INDEX_BITS | index);
        queuePairs.set(index, queuePair);
        openCount++;
        return queuePair;
    }

    private short nextUse(final short last)
    {
        short next;
        do
        {
            // The highest is left out: with all ones behind it, it is the number for multicast on a network.
            next = (short)(random == null ? last % MAX_USES + 1 : 1 + Math.floorMod(random.getAsInt(), MAX_USES - 1));
        }
        while (next == last);
        return next;
    }

    synchronized void remove(final SoftResponder queuePair)
    {
        if (queuePairs.compareAndSet(queuePair.number() & MAX_QUEUE_PAIRS - 1, queuePair, null))
        {
            openCount--;
        }
    }

    /** The open queue pair or DC target of a number, or null. */
    SoftResponder find(final int number)
    {
        final SoftResponder queuePair = queuePairs.get(number & MAX_QUEUE_PAIRS - 1);
        return queuePair != null && queuePair.number() == number && !queuePair.isClosed() ? queuePair : null;
    }

    /** Collects what peers left. */
    synchronized void collectEvents(final AsyncEventQueue events)
    {
        for (int i = 0; i < limit; i++)
        {
            final SoftResponder queuePair = queuePairs.get(i);
            long left = queuePair == null ? 0 : queuePair.takeEvents();
            for (; left != 0; left &= left - 1)
            {
                events.raise(EVENT_TYPES[Long.numberOfTrailingZeros(left)], queuePair);
            }
        }
    }

    /** Whether a claim of this visitor is open in a receive queue. */
    synchronized boolean hasClaimOf(final int visitor)
    {
        for (int i = 0; i < limit; i++)
        {
            final SoftResponder queuePair = queuePairs.get(i);
            if (queuePair != null && queuePair.hasClaimOf(visitor))
            {
                return true;
            }
        }
        return false;
    }
}
