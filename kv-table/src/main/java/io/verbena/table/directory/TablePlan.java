package io.verbena.table.directory;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.Arrays;

/**
 * Shape of a table to be made: how many subtables of how many groups, and at which memory node each lies (round robin).
 * Made first; then the caller leases {@link #chunksAt} chunks at each node and {@link #place}s them; then
 * {@code TableEngine.createTable} formats them. Not thread-safe.
 */
public final class TablePlan
{
    /** Part of all slots that the expected records fill. */
    public static final double TARGET_FILL = 0.75;

    private final String name;
    private final int tableId;
    private final long hashSeed;
    private final int depth;
    private final int groupCount;
    private final int[] memoryNodeIds;
    private final long[] offsets;

    private TablePlan(
        final String name,
        final int tableId,
        final long hashSeed,
        final int depth,
        final int groupCount,
        final int[] memoryNodeIds)
    {
        this.name = name;
        this.tableId = tableId;
        this.hashSeed = hashSeed;
        this.depth = depth;
        this.groupCount = groupCount;
        this.memoryNodeIds = memoryNodeIds;
        offsets = new long[1 << depth];
        Arrays.fill(offsets, -1);
    }

    /**
     * Plans a table that holds the expected records at {@link #TARGET_FILL}.
     *
     * @param name            of the table.
     * @param tableId         random, not 0.
     * @param hashSeed        random.
     * @param expectedRecords 1 or more.
     * @param memoryNodeIds   where subtables go, round robin; 1 or more.
     * @param chunkBytes      length of a leased chunk; a subtable lies within one.
     * @return the plan.
     */
    public static TablePlan forRecords(
        final String name,
        final int tableId,
        final long hashSeed,
        final long expectedRecords,
        final int[] memoryNodeIds,
        final long chunkBytes)
    {
        final int mostGroups = SubtableDescriptor.groupsWithin(chunkBytes);
        if (expectedRecords < 1 || memoryNodeIds.length == 0 || mostGroups == 0)
        {
            throw new IllegalArgumentException("cannot plan a table: expectedRecords=" + expectedRecords +
                " memoryNodes=" + memoryNodeIds.length + " chunkBytes=" + chunkBytes);
        }
        final double groups = Math.ceil(expectedRecords / (TARGET_FILL * BucketDescriptor.SLOTS_PER_GROUP));
        int depth = 0;
        while (1 << depth < memoryNodeIds.length || groups / (1 << depth) > mostGroups)
        {
            if (++depth > BucketDescriptor.MAX_DEPTH)
            {
                throw new IllegalArgumentException("too many records for one table: expectedRecords=" +
                    expectedRecords + " with chunkBytes=" + chunkBytes + "; use larger chunks or several tables");
            }
        }
        return new TablePlan(name, tableId, hashSeed, depth, (int)Math.ceil(groups / (1 << depth)),
            memoryNodeIds.clone());
    }

    /**
     * @param chunkBytes length of a leased chunk.
     * @return the same with subtables as long as a chunk: what a split makes takes a chunk, however short it is.
     */
    public TablePlan ofWholeChunks(final long chunkBytes)
    {
        return new TablePlan(
            name, tableId, hashSeed, depth, SubtableDescriptor.groupsWithin(chunkBytes), memoryNodeIds);
    }

    /**
     * A plan of a given shape, for tests and tools.
     *
     * @return the plan.
     */
    public static TablePlan ofShape(
        final String name,
        final int tableId,
        final long hashSeed,
        final int depth,
        final int groupCount,
        final int[] memoryNodeIds)
    {
        return new TablePlan(name, tableId, hashSeed, depth, groupCount, memoryNodeIds.clone());
    }

    /** @return number of subtables, a power of two. */
    public int subtableCount()
    {
        return offsets.length;
    }

    /** @return bytes of each subtable. */
    public long subtableBytes()
    {
        return SubtableDescriptor.lengthBytes(groupCount);
    }

    /** @return node at which a subtable lies. */
    public int memoryNodeId(final int suffix)
    {
        return memoryNodeIds[suffix % memoryNodeIds.length];
    }

    /** @return how many chunks are needed at a node. */
    public int chunksAt(final int memoryNodeId)
    {
        int chunks = 0;
        for (int i = 0; i < offsets.length; i++)
        {
            chunks += memoryNodeId(i) == memoryNodeId ? 1 : 0;
        }
        return chunks;
    }

    /**
     * Gives one chunk to the next subtable of that node which has none.
     *
     * @param memoryNodeId where the chunk lies.
     * @param chunkOffset  in the node's region, a multiple of 64.
     * @return false if no subtable of this node needs one.
     */
    public boolean place(final int memoryNodeId, final long chunkOffset)
    {
        for (int i = 0; i < offsets.length; i++)
        {
            if (memoryNodeId(i) == memoryNodeId && offsets[i] < 0)
            {
                offsets[i] = chunkOffset;
                return true;
            }
        }
        return false;
    }

    /** @return whether every subtable has a chunk. */
    public boolean isPlaced()
    {
        return Arrays.stream(offsets).allMatch(offset -> offset >= 0);
    }

    /** @return the descriptor; needs {@link #isPlaced()}. */
    public TableDescriptor descriptor()
    {
        if (!isPlaced())
        {
            throw new IllegalStateException("lease and place a chunk for each subtable first: " + this);
        }
        final long[] entries = new long[offsets.length];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = DirectoryEntry.stable(depth, memoryNodeId(i), offsets[i]);
        }
        return new TableDescriptor(name, tableId, depth, groupCount, hashSeed, entries);
    }

    @Override
    public String toString()
    {
        return "TablePlan{name=" + name + " subtables=" + offsets.length + " groups=" + groupCount +
            " memoryNodes=" + Arrays.toString(memoryNodeIds) + '}';
    }
}
