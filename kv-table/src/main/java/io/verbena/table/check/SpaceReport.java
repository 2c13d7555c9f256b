package io.verbena.table.check;

import java.util.BitSet;

/** Where the bytes of a memory node's chunks are, as a {@link StoreChecker} found them. Not thread-safe. */
public final class SpaceReport
{
    /** The memory node. */
    public final int memoryNodeId;
    /** Chunks that nobody has. */
    public long freeChunkBytes;
    /** Chunks of indexes. */
    public long indexBytes;
    /** Of these, chunks that no table names. */
    public long unnamedIndexBytes;
    /** Chunks leased for blocks. */
    public long leasedBytes;
    /** Chunks closed for reclamation, or whose owner has ended; their unnamed parts wait for a reaper. */
    public long orphanBytes;
    /** Blocks of records. */
    public long namedBytes;
    /** Of these, in closed chunks. */
    public long namedInOrphansBytes;
    /** Chunks that somebody has, and in which no word names a block and no table has a subtable. */
    public final BitSet unnamedChunks = new BitSet();
    /** Chunks whose headers were damaged: nobody has them, and what words name in them stays readable. */
    public final BitSet quarantinedChunks = new BitSet();
    /** Of these, chunks in which a table has a subtable. */
    public final BitSet quarantinedIndexes = new BitSet();
    /** Bytes of {@link #quarantinedChunks}. */
    public long quarantinedChunkBytes;
    /** Free blocks and ranges not cut yet. */
    public long heldFreeBytes;
    /** Blocks that wait for the epoch. */
    public long quarantinedBytes;
    /** Blocks of operations under way. */
    public long inFlightBytes;
    /** In leased chunks, named by no word and held by no node: lost until the chunk is swept; 0 while nobody knows. */
    public long lostBytes;

    SpaceReport(final int memoryNodeId)
    {
        this.memoryNodeId = memoryNodeId;
    }

    @Override
    public String toString()
    {
        return "SpaceReport{memoryNodeId=" + memoryNodeId + " freeChunkBytes=" + freeChunkBytes + " indexBytes=" +
            indexBytes + " unnamedIndexBytes=" + unnamedIndexBytes + " leasedBytes=" + leasedBytes + " orphanBytes=" +
            orphanBytes + " namedBytes=" + namedBytes + " namedInOrphansBytes=" + namedInOrphansBytes +
            " heldFreeBytes=" + heldFreeBytes + " quarantinedBytes=" + quarantinedBytes + " inFlightBytes=" +
            inFlightBytes + " lostBytes=" + lostBytes + '}';
    }
}
