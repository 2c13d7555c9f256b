package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.AtomicEthDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * The atomic that arrived last. It waits until the answers before it were sent, because an earlier READ, whose bytes
 * are read when they are sent, must not see what it changes. Used by the engine's thread.
 */
final class InboundAtomic
{
    private final QueuePairPort queuePair;
    private boolean isWaiting;
    private boolean isFollowed;
    private boolean isSwap;
    private long address;
    private int key;
    private long swapOrAdd;
    private long compared;
    private long word;

    InboundAtomic(final QueuePairPort queuePair)
    {
        this.queuePair = queuePair;
    }

    void clear()
    {
        isWaiting = false;
        isFollowed = false;
    }

    /** Takes over what a packet asks for. */
    void begin(final RocePacket packet, final int operation)
    {
        isWaiting = true;
        isFollowed = false;
        isSwap = operation == RoceOpcode.COMPARE_SWAP;
        address = AtomicEthDescriptor.address(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        key = AtomicEthDescriptor.remoteKey(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        swapOrAdd = AtomicEthDescriptor.swapOrAdd(packet.buffer(), BthDescriptor.LENGTH_BYTES);
        compared = AtomicEthDescriptor.compare(packet.buffer(), BthDescriptor.LENGTH_BYTES);
    }

    /** Whether it has not been executed. */
    boolean isWaiting()
    {
        return isWaiting;
    }

    /** A request so many PSNs behind it was dropped and has to come again; 0 is a copy of its own. */
    void onFollowed(final int distance)
    {
        isFollowed |= distance > 0;
    }

    /** Whether a request behind it was dropped. */
    boolean isFollowed()
    {
        return isFollowed;
    }

    /**
     * Checks rights and place.
     *
     * @param freeReplies how many more READs and atomics may wait for their answers.
     * @return SUCCESS, REM_INV_REQ_ERR or REM_ACCESS_ERR.
     */
    int check(final int freeReplies)
    {
        final int status = AccessChecks.queuePairStatus(isSwap ? WorkRequest.COMPARE_SWAP : WorkRequest.FETCH_ADD,
            queuePair.accessFlags(), address, Math.max(0, freeReplies));
        if (status != WorkCompletionStatus.SUCCESS)
        {
            return status;
        }
        word = queuePair.engine().memory().remote(
            key, queuePair.domain(), queuePair.number(), AccessFlags.REMOTE_ATOMIC, address, Long.BYTES);
        if (word == RemoteAccess.REFUSED)
        {
            return WorkCompletionStatus.REM_ACCESS_ERR;
        }
        // The word must be aligned where it lies, too: a window may begin anywhere.
        return (word & Long.BYTES - 1) == 0 ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.REM_INV_REQ_ERR;
    }

    /** Changes the word that was just checked; returns what it was. */
    long execute()
    {
        isWaiting = false;
        return isSwap ? RawMemory.compareSwap(word, compared, swapOrAdd) : RawMemory.fetchAdd(word, swapOrAdd);
    }

    /**
     * Results of a responder's last atomics, as many as a requester may have outstanding: a repeated atomic gets the
     * saved result and is not executed again. Bounded.
     */
    static final class AtomicResults
    {
        private final int[] sequences;
        private final long[] originals;
        private int next;
        private int count;

        AtomicResults(final int capacity)
        {
            sequences = new int[capacity];
            originals = new long[capacity];
        }

        void clear()
        {
            next = 0;
            count = 0;
        }

        void add(final int sequence, final long original)
        {
            sequences[next] = sequence;
            originals[next] = original;
            next = (next + 1) % sequences.length;
            count = Math.min(count + 1, sequences.length);
        }

        /** Index of the newest result of an atomic with this PSN, -1 when it is not there. */
        int find(final int sequence)
        {
            for (int age = 1; age <= count; age++)
            {
                final int index = (next - age + sequences.length) % sequences.length;
                if (sequences[index] == sequence)
                {
                    return index;
                }
            }
            return -1;
        }

        /** The value found at an index. */
        long original(final int index)
        {
            return originals[index];
        }
    }
}
