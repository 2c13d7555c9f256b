package io.verbena.memory;

import java.util.Arrays;

import static io.verbena.table.format.ChunkDescriptor.STATE_FREE;

/** Finds free chunks. One thread. */
final class FreeChunks
{
    private final byte[] states;

    /** @param states by chunk; the owner changes them. */
    FreeChunks(final byte[] states)
    {
        this.states = states;
    }

    /** @return the first free chunk from an index on, or -1 when there is none. */
    int next(final int from)
    {
        for (int i = from; i < states.length; i++)
        {
            if (STATE_FREE == states[i])
            {
                return i;
            }
        }

        return -1;
    }

    /**
     * Free chunks from where the last lease ended: a chunk just returned is used again as late as possible.
     *
     * @param chunkCount so many are free.
     * @param hint       where the last lease ended.
     * @return ascending.
     */
    int[] any(final int chunkCount, final int hint)
    {
        final int[] indexes = new int[chunkCount];
        int found = 0;

        for (int i = 0; i < states.length && found < chunkCount; i++)
        {
            final int index = (hint + i) % states.length;

            if (STATE_FREE == states[index])
            {
                indexes[found++] = index;
            }
        }

        Arrays.sort(indexes);
        return indexes;
    }

    /** @return the first free neighbours, or null when there are none. */
    int[] neighbours(final int chunkCount)
    {
        int length = 0;

        for (int i = 0; i < states.length; i++)
        {
            length = STATE_FREE == states[i] ? length + 1 : 0;

            if (length == chunkCount)
            {
                final int[] indexes = new int[chunkCount];
                final int first = i - chunkCount + 1;
                Arrays.setAll(indexes, (j) -> first + j);
                return indexes;
            }
        }

        return null;
    }
}
