package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.function.LongConsumer;

/** One slot of a send queue; filled when staged, valid until its completion. Owned by the queue pair's owner thread. */
public final class WorkRequest
{
    /** SEND, SEND_WITH_IMM and SEND_WITH_INV. */
    public static final int SEND = 0;
    /** WRITE and WRITE_WITH_IMM. */
    public static final int WRITE = 1;
    /** READ. */
    public static final int READ = 2;
    /** CMP_SWAP. */
    public static final int COMPARE_SWAP = 3;
    /** FETCH_ADD. */
    public static final int FETCH_ADD = 4;
    /** BIND_MW: {@link #remoteKey} is the new key, {@link #remoteAddress} the first byte. */
    public static final int BIND_MW = 5;
    /** LOCAL_INV of {@link #remoteKey}. */
    public static final int LOCAL_INV = 6;

    /** One of the constants above; equal to the completion's opcode. */
    public int operation;
    /** {@link io.verbena.rdma.verbs.SendFlags}. */
    public int flags;
    /** Comes back in the completion. */
    public long wrId;
    /** First byte at the requester. */
    public long localAddress;
    /** Bytes, of all places; 8 for atomics. */
    public int lengthBytes;
    /** Key at the requester. */
    public int localKey;
    /** How many places were given, 1 or more. */
    public int segmentCount;
    /** The places when it {@link #isGathered()}; null where the queue pair takes one for each request. */
    public SegmentList segments;
    /** First byte at the responder. */
    public long remoteAddress;
    /** Key at the responder; of SEND_WITH_INV the one to be taken away. */
    public int remoteKey;
    /** Whether {@link #immediate} goes along. */
    public boolean hasImmediate;
    /** For the peer's completion. */
    public int immediate;
    /** CMP_SWAP: value expected; FETCH_ADD: addend. */
    public long operand;
    /** CMP_SWAP: value to store. */
    public long desired;
    /** Whether it is SEND_WITH_INV. */
    public boolean invalidates;
    /** BIND_MW: the window. */
    public MemoryWindow window;
    /** BIND_MW: the region. */
    public MemoryRegion region;
    /** BIND_MW: length of the window. */
    public long windowBytes;
    /** BIND_MW: rights. */
    public int accessFlags;
    /** UD and DC: way to the device; null until addressed. */
    public AddressHandle destination;
    /** UD and DC: queue pair or target there. */
    public int destinationNumber;
    /** UD: Q_Key; DC: access key. */
    public long destinationKey;

    /**
     * Tells all of it that its execution depends on, except the payload.
     *
     * @param words takes it.
     */
    public void describe(final LongConsumer words)
    {
        words.accept((long)operation << 32 | flags);
        words.accept(wrId);
        // The payload of INLINE lies in a buffer whose address says nothing.
        words.accept((flags & SendFlags.INLINE) != 0 ? 0 : localAddress);
        words.accept((long)localKey << 32 | lengthBytes);
        if (isGathered())
        {
            segments.describe(words);
        }
        words.accept(remoteAddress);
        words.accept((long)remoteKey << 32 | (hasImmediate || invalidates ? immediate : 0));
        words.accept((hasImmediate ? 1 : 0) | (invalidates ? 2 : 0));
        // What a request does not use was left in its place by one before.
        words.accept(operation == COMPARE_SWAP || operation == FETCH_ADD ? operand : 0);
        words.accept(operation == COMPARE_SWAP ? desired : 0);
        if (operation == BIND_MW)
        {
            words.accept((long)window.remoteKey() << 32 | (region == null ? 0 : region.localKey()));
            words.accept(windowBytes);
            words.accept(accessFlags);
        }
        if (destination != null)
        {
            words.accept(destination.target().hashCode());
            words.accept(destinationNumber);
            words.accept(destinationKey);
        }
    }

    /**
     * Counts it as posted.
     *
     * @param counters of its queue pair.
     */
    public void count(final VerbCounters counters)
    {
        counters.payloadBytes += lengthBytes;
        switch (operation)
        {
            case READ -> counters.reads++;
            case WRITE -> counters.writes++;
            case COMPARE_SWAP -> counters.compareSwaps++;
            case FETCH_ADD -> counters.fetchAdds++;
            case BIND_MW, LOCAL_INV -> counters.localOperations++;
            default -> counters.sends++;
        }
    }

    /** @return whether its payload lies in the places of {@link #segments}; that of INLINE was put together. */
    public boolean isGathered()
    {
        return segmentCount > 1 && (flags & SendFlags.INLINE) == 0;
    }

    /** @return whether it is done on this side alone. */
    public boolean isLocal()
    {
        return operation >= BIND_MW;
    }

    /** @return whether it counts against the limit of READs and atomics. */
    public boolean isReadOrAtomic()
    {
        return operation >= READ && operation <= FETCH_ADD;
    }

    /** @return whether it consumes a receive of the peer. */
    public boolean consumesReceive()
    {
        return operation == SEND || hasImmediate;
    }
}
