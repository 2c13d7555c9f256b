package io.verbena.table.directory;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a subtable lies.
 *
 * @param memoryNodeId of its node.
 * @param suffix       of the hashes of its keys, so many bits as the depth says.
 * @param depth        local depth.
 * @param offset       of its header in the node's region.
 */
public record Subtable(int memoryNodeId, int suffix, int depth, long offset)
{
    /**
     * The subtables that a descriptor names, each once: several entries name one that is less deep than the directory.
     *
     * @param table descriptor.
     * @return them, by suffix.
     */
    public static List<Subtable> of(final TableDescriptor table)
    {
        final List<Subtable> subtables = new ArrayList<>();
        for (int entry = 0; entry < table.subtableCount(); entry++)
        {
            final long word = table.entry(entry);
            final int depth = DirectoryEntry.depth(word);
            if (entry < 1 << depth)
            {
                subtables.add(new Subtable(
                    DirectoryEntry.memoryNodeId(word), entry, depth, DirectoryEntry.subtableOffset(word)));
            }
        }
        return subtables;
    }

    /**
     * One of the two that take its place when it is split.
     *
     * @param link to them.
     * @param side 0 or 1.
     * @return where it lies.
     */
    public Subtable child(final long link, final int side)
    {
        return new Subtable(memoryNodeId, suffix | side << depth, depth + 1, SplitLink.offset(link, side));
    }

    /**
     * The other one of two that are merged.
     *
     * @param link of this one.
     * @return where it lies.
     */
    public Subtable sibling(final long link)
    {
        return new Subtable(memoryNodeId, suffix ^ 1 << depth - 1, depth, MergeLink.sibling(link));
    }

    /**
     * The one that takes the place of this one and its sibling when they are merged.
     *
     * @param link to it.
     * @return where it lies.
     */
    public Subtable merged(final long link)
    {
        return new Subtable(memoryNodeId, suffix & (1 << depth - 1) - 1, depth - 1, MergeLink.merged(link));
    }

    /** @return whether its keys are among those of another one, or the same. */
    public boolean isWithin(final Subtable other)
    {
        return depth >= other.depth && (suffix & (1 << other.depth) - 1) == other.suffix;
    }

    /** @return whether it has the keys of an entry of a directory that is as deep as it, or deeper. */
    public boolean covers(final int entry)
    {
        return (entry & (1 << depth) - 1) == suffix;
    }

    public boolean isWithin(final long regionLengthBytes, final int groupCount)
    {
        return offset + SubtableDescriptor.lengthBytes(groupCount) <= regionLengthBytes &&
            depth <= BucketDescriptor.MAX_DEPTH;
    }

    /** @return side of the split by which it came to be. */
    public int side()
    {
        return suffix >>> depth - 1;
    }

    public long header(final int tableId)
    {
        return BucketDescriptor.header(tableId, suffix, depth);
    }

    public long groupOffset(final int group)
    {
        return offset + SubtableDescriptor.GROUPS_OFFSET + (long)group * BucketDescriptor.GROUP_BYTES;
    }

    @Override
    public String toString()
    {
        return "subtable " + suffix + " of depth " + depth + " at node " + memoryNodeId;
    }
}
