package io.verbena.memory;

import io.verbena.control.ChunkLease;
import io.verbena.control.ChunkPurpose;
import io.verbena.control.ChunkRun;
import io.verbena.control.ControlException;
import io.verbena.control.ControlStatus;
import io.verbena.raas.PeerIdentity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Who has which chunk. Lives in the node's own memory, out of clients' reach. One thread.
 *
 * <p>What is reclaimed, exactly: a chunk is free again when it is returned, by its owner if it was leased for blocks,
 * by anybody if it was leased for an index. The one who returns it answers for it that nothing in it can be reached
 * any more. Chunks of an owner that left or was fenced are <em>retained</em>: published blocks in them live on, and
 * which ones is not known here.
 */
final class ChunkTable
{
    private static final byte FREE = 0;
    private static final byte BLOCKS = 1;
    private static final byte INDEX = 2;
    private static final byte RETAINED = 3;
    private static final int STATES = 4;

    private final long chunksOffset;
    private final int chunkLengthBytes;
    private final byte[] states;
    private final PeerIdentity[] owners;
    private final int[] counts = new int[STATES];
    private int hint;

    /**
     * @param chunksOffset     where the first chunk begins in the region.
     * @param chunkLengthBytes of each.
     * @param chunkCount       1 or more, all free.
     */
    ChunkTable(final long chunksOffset, final int chunkLengthBytes, final int chunkCount)
    {
        this.chunksOffset = chunksOffset;
        this.chunkLengthBytes = chunkLengthBytes;
        states = new byte[chunkCount];
        owners = new PeerIdentity[chunkCount];
        counts[FREE] = chunkCount;
    }

    /**
     * Leases chunks, all or none.
     *
     * @param owner      of the chunks.
     * @param purpose    what for.
     * @param chunkCount 1 or more.
     * @param contiguous whether they must be neighbours.
     * @return ascending runs, at most {@link ChunkLease#MAX_RUNS}.
     * @throws ControlException EXHAUSTED when there are not enough; nothing is leased then.
     */
    List<ChunkRun> lease(
        final PeerIdentity owner, final ChunkPurpose purpose, final int chunkCount, final boolean contiguous)
    {
        if (chunkCount < 1)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "chunkCount=" + chunkCount + " must be 1 or more");
        }

        final int[] indexes = chunkCount > counts[FREE] ? null : contiguous ? neighbours(chunkCount) : any(chunkCount);
        final List<ChunkRun> runs = null == indexes ? null : runs(indexes);

        if (null == runs || runs.size() > ChunkLease.MAX_RUNS)
        {
            throw new ControlException(
                ControlStatus.EXHAUSTED,
                "no memory: " + chunkCount + (contiguous ? " neighbouring" : "") + " chunks of " + chunkLengthBytes +
                " bytes wanted, " + counts[FREE] + " of " + states.length + " are free" +
                (null == runs ? "" : ", in too many pieces for one lease") +
                "; drop tables, add a memory node or give it more memory");
        }

        for (final int index : indexes)
        {
            set(index, ChunkPurpose.INDEX == purpose ? INDEX : BLOCKS, owner);
        }

        hint = (indexes[indexes.length - 1] + 1) % states.length;
        return runs;
    }

    /**
     * Takes chunks back, all or none.
     *
     * @param caller who returns them.
     * @param runs   what.
     * @throws ControlException INVALID_REQUEST when one of them is not the caller's to return; then none is.
     */
    void takeBack(final PeerIdentity caller, final List<ChunkRun> runs)
    {
        final BitSet returned = new BitSet(states.length);

        for (final ChunkRun run : runs)
        {
            final int first = index(run);

            for (int i = first; i < first + run.chunkCount(); i++)
            {
                final boolean isCallers = INDEX == states[i] || BLOCKS == states[i] && caller.equals(owners[i]);

                if (!isCallers || returned.get(i))
                {
                    throw new ControlException(
                        ControlStatus.INVALID_REQUEST,
                        "chunk at offset " + offset(i) + " is not " + caller + "'s to return (again)");
                }

                returned.set(i);
            }
        }

        returned.stream().forEach((i) -> set(i, FREE, null));
    }

    /**
     * Retains the block chunks of a node that left or was fenced, and of its earlier lives.
     *
     * @param identity of the node.
     */
    void retain(final PeerIdentity identity)
    {
        for (int i = 0; i < states.length; i++)
        {
            if (BLOCKS == states[i] && owners[i].nodeId() == identity.nodeId() &&
                owners[i].incarnation() <= identity.incarnation())
            {
                set(i, RETAINED, owners[i]);
            }
        }
    }

    /** @return chunks in all. */
    int chunkCount()
    {
        return states.length;
    }

    int freeCount()
    {
        return counts[FREE];
    }

    int blockCount()
    {
        return counts[BLOCKS];
    }

    int indexCount()
    {
        return counts[INDEX];
    }

    int retainedCount()
    {
        return counts[RETAINED];
    }

    /** @return chunks leased for blocks by owner, retained ones included. */
    Map<PeerIdentity, Integer> blockChunksByOwner()
    {
        final Map<PeerIdentity, Integer> chunks = new HashMap<>();

        for (int i = 0; i < states.length; i++)
        {
            if (BLOCKS == states[i] || RETAINED == states[i])
            {
                chunks.merge(owners[i], 1, Integer::sum);
            }
        }

        return chunks;
    }

    private void set(final int index, final byte state, final PeerIdentity owner)
    {
        counts[states[index]]--;
        counts[state]++;
        states[index] = state;
        owners[index] = owner;
    }

    /** Free chunks from where the last lease ended: a chunk just returned is used again as late as possible. */
    private int[] any(final int chunkCount)
    {
        final int[] indexes = new int[chunkCount];
        int found = 0;

        for (int i = 0; i < states.length && found < chunkCount; i++)
        {
            final int index = (hint + i) % states.length;

            if (FREE == states[index])
            {
                indexes[found++] = index;
            }
        }

        Arrays.sort(indexes);
        return indexes;
    }

    private int[] neighbours(final int chunkCount)
    {
        int length = 0;

        for (int i = 0; i < states.length; i++)
        {
            length = FREE == states[i] ? length + 1 : 0;

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

    private List<ChunkRun> runs(final int[] indexes)
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

    private long offset(final int index)
    {
        return chunksOffset + (long)index * chunkLengthBytes;
    }

    private int index(final ChunkRun run)
    {
        final long distance = run.offset() - chunksOffset;
        final long index = distance / chunkLengthBytes;

        if (distance < 0 || 0 != distance % chunkLengthBytes || run.chunkCount() < 1 ||
            index + run.chunkCount() > states.length)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST,
                "offset=" + run.offset() + " chunkCount=" + run.chunkCount() + " are no chunks of this node");
        }

        return (int)index;
    }
}
