package io.verbena.table;

import io.verbena.rdma.verbs.PostStatus;

/**
 * Stages one batch of one operation and rings the doorbell, counting what it costs. Batches are kept to
 * {@link #MAX_REQUESTS}, so that one always fits a connection that has that much room.
 */
final class Batch
{
    /** Most requests of a batch. */
    static final int MAX_REQUESTS = 9;
    /** Cookie bits that hold the operation's index. */
    private static final int INDEX_BITS = 12;
    private static final int SEQUENCE_MASK = (1 << 30 - INDEX_BITS) - 1;

    private final Scratch scratch;
    private final boolean fencesReads;
    private OneSidedPort port;
    private Operation operation;
    private int sequence;
    private int staged;
    private int extraRoundTrips;

    Batch(final Scratch scratch, final boolean fencesReads)
    {
        this.scratch = scratch;
        this.fencesReads = fencesReads;
    }

    static int indexOf(final int cookie)
    {
        return cookie & (1 << INDEX_BITS) - 1;
    }

    void begin(final Operation op)
    {
        operation = op;
        port = op.link.port;
        staged = 0;
        extraRoundTrips = 0;
        port.begin();
    }

    void read(final int localOffset, final int lengthBytes, final long remoteOffset)
    {
        port.read(scratch.region, localOffset, lengthBytes, remoteOffset);
        staged++;
    }

    void write(final int localOffset, final int lengthBytes, final long remoteOffset)
    {
        port.write(scratch.region, localOffset, lengthBytes, remoteOffset);
        staged++;
    }

    /** Stages a compare-and-swap whose result lands in the numbered result word. */
    void swap(final int resultNumber, final long remoteOffset, final long expected, final long desired)
    {
        port.compareSwap(
            scratch.region, operation.swapResultOffset(resultNumber), remoteOffset, expected, desired);
        staged++;
    }

    /** The READs that follow must execute after the atomics before them; a fence only where the device needs it. */
    void readsFollowAtomics()
    {
        if (fencesReads)
        {
            port.fenceNext();
            extraRoundTrips = 1;
        }
    }

    /** @return {@link PostStatus}; when negative, nothing was posted and nothing was counted. */
    int ring()
    {
        sequence = sequence + 1 & SEQUENCE_MASK;
        final int cookie = sequence << INDEX_BITS | operation.index;
        final int status = port.complete(cookie);
        if (status == PostStatus.OK)
        {
            operation.cookie = cookie;
            operation.inFlight = true;
            operation.verbs += staged;
            operation.doorbells++;
            operation.roundTrips += 1 + extraRoundTrips;
        }
        return status;
    }
}
