package io.verbena.protocol.message;

import java.util.List;
import java.util.function.LongConsumer;

/**
 * Chunks leased at a memory node.
 *
 * @param chunkLengthBytes length of each.
 * @param newestLease      number of the newest lease of the memory node: leases after this one have larger numbers.
 * @param runs             the chunks; one run when they were asked for contiguous.
 */
public record ChunkLease(int chunkLengthBytes, long newestLease, List<ChunkRun> runs)
{
    /** Most runs in one lease or return. */
    public static final int MAX_RUNS = 254;

    /** Gives the offset of each chunk in the region, in the order of the runs. */
    public void forEachChunk(final LongConsumer consumer)
    {
        for (final ChunkRun run : runs)
        {
            for (int i = 0; i < run.chunkCount(); i++)
            {
                consumer.accept(run.offset() + (long)i * chunkLengthBytes);
            }
        }
    }
}
