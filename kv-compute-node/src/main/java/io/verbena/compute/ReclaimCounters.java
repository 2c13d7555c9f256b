package io.verbena.compute;

/** What the reclaimers of a node have done; written by the node's thread. */
final class ReclaimCounters
{
    /** Claims that got chunks. */
    long rounds;
    /** Chunks taken over with records of others in them. */
    long adoptedChunks;
    /** Bytes in them that no word named. */
    long adoptedBytes;
    /** Chunks without any record, given back. */
    long returnedChunks;
    /** Tentative words of the dead that were removed. */
    long killedWords;

    /** Sweeps of all own chunks that were asked for by a request. */
    long sweepsAsked;
    /** Of these, those that had ended at the latest count, see {@link SpaceTally}. */
    long sweepsEnded;
    /** Index chunks that no table used and nobody else returned, given back. */
    long returnedIndexChunks;

    @Override
    public String toString()
    {
        return "ReclaimCounters{rounds=" + rounds + " adoptedChunks=" + adoptedChunks + " adoptedBytes=" +
            adoptedBytes + " returnedChunks=" + returnedChunks + " killedWords=" + killedWords +
            " returnedIndexChunks=" + returnedIndexChunks + '}';
    }
}
