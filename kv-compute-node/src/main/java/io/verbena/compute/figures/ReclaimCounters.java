package io.verbena.compute.figures;

/** What the reclaimers of a node have done; written by the node's thread. */
public final class ReclaimCounters
{
    /** Claims that got chunks. */
    public long rounds;
    /** Chunks taken over with records of others in them. */
    public long adoptedChunks;
    /** Bytes in them that no word named. */
    public long adoptedBytes;
    /** Chunks without any record, given back. */
    public long returnedChunks;
    /** Tentative words of the dead that were removed. */
    public long killedWords;

    /** Sweeps of all own chunks that were asked for by a request. */
    public long sweepsAsked;
    /** Of these, those that had ended at the latest count, see {@code SpaceTally}. */
    public long sweepsEnded;
    /** Index chunks that no table used and nobody else returned, given back. */
    public long returnedIndexChunks;

    @Override
    public String toString()
    {
        return "ReclaimCounters{rounds=" + rounds + " adoptedChunks=" + adoptedChunks + " adoptedBytes=" +
            adoptedBytes + " returnedChunks=" + returnedChunks + " killedWords=" + killedWords +
            " returnedIndexChunks=" + returnedIndexChunks + '}';
    }
}
