package io.verbena.control;

import java.util.List;

/**
 * Chunks leased at a memory node.
 *
 * @param chunkLengthBytes length of each.
 * @param runs             the chunks; one run when they were asked for contiguous.
 */
public record ChunkLease(int chunkLengthBytes, List<ChunkRun> runs)
{
    /** Most runs in one lease or return. */
    public static final int MAX_RUNS = 255;
}
