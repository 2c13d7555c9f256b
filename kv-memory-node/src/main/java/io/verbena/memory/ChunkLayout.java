package io.verbena.memory;

import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;

import java.util.ArrayList;
import java.util.List;

/**
 * Where the chunks of a region are.
 *
 * @param chunksOffset     where the first one begins.
 * @param chunkLengthBytes of each.
 * @param chunkCount       1 or more.
 */
record ChunkLayout(long chunksOffset, int chunkLengthBytes, int chunkCount)
{
    /** @return runs of neighbours among ascending indexes of chunks. */
    List<ChunkRun> runs(final int[] indexes)
    {
        final List<ChunkRun> runs = new ArrayList<>();
        int first = 0;

        for (int i = 1; i <= indexes.length; i++)
        {
            if (i == indexes.length || indexes[i] != indexes[i - 1] + 1)
            {
                runs.add(new ChunkRun(offset(indexes[first]), i - first));
                first = i;
            }
        }

        return runs;
    }

    /** @return where a chunk begins. */
    long offset(final int index)
    {
        return chunksOffset + (long)index * chunkLengthBytes;
    }

    /**
     * @return index of the first chunk of a run.
     * @throws ControlException INVALID_REQUEST when it is not of whole chunks of this region.
     */
    int index(final ChunkRun run)
    {
        final long distance = run.offset() - chunksOffset;
        final long index = distance / chunkLengthBytes;

        if (distance < 0 || 0 != distance % chunkLengthBytes || run.chunkCount() < 1 ||
            index + run.chunkCount() > chunkCount)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST,
                "offset=" + run.offset() + " chunkCount=" + run.chunkCount() + " are no chunks of this node");
        }

        return (int)index;
    }
}
