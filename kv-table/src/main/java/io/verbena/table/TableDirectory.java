package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.Arrays;

/**
 * Where an engine believes the subtables of a table to be. Begins with the table's descriptor and only ever gets
 * deeper, by split links that operations meet; an old entry costs a round trip and never an answer, because every
 * bucket says which subtable it belongs to, or where that one's slots went. Doubles its arrays when a split goes deeper
 * than they do, which is the only allocation and rare. Owner thread of the engine only.
 */
final class TableDirectory
{
    private static final int FILL_ONE = 1 << 16;
    /** A subtable is split when this part of its slots is taken. */
    private static final int SPLIT_FILL = (int)(0.85 * FILL_ONE);
    private static final int FILL_SAMPLES = 32;

    private final int tableId;
    private int depth;
    private long[] groupsOffsets;
    /** Groups of the subtable that is split into this one, or 0. */
    private long[] predecessors;
    /** The link that leads from there to here, or 0. */
    private long[] splitLinks;
    private byte[] depths;
    /** Of each subtable, at its suffix: moving mean of the part of slots that are taken, in 65,536ths. */
    private int[] fills;

    TableDirectory(final TableDescriptor descriptor)
    {
        tableId = descriptor.tableId();
        depth = descriptor.depth();
        final int size = descriptor.subtableCount();
        groupsOffsets = new long[size];
        predecessors = new long[size];
        splitLinks = new long[size];
        depths = new byte[size];
        fills = new int[size];
        for (int i = 0; i < size; i++)
        {
            final long entry = descriptor.entry(i);
            DirectoryEntry.check(entry);
            groupsOffsets[i] = DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET;
            depths[i] = (byte)DirectoryEntry.depth(entry);
        }
    }

    /** @return the entries as a descriptor has them, of subtables at the node of an entry given. */
    long[] entries(final TableDescriptor base)
    {
        final long[] entries = new long[groupsOffsets.length];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = DirectoryEntry.stable(depths[i],
                DirectoryEntry.memoryNodeId(base.entry(i & base.subtableCount() - 1)),
                groupsOffsets[i] - SubtableDescriptor.GROUPS_OFFSET);
        }
        return entries;
    }

    /** Takes a subtable of whose split is heard. */
    interface Superseded
    {
        /** Takes its suffix and its groups. */
        void onSuperseded(int suffix, long groupsOffset);
    }

    /**
     * Takes over what a newer descriptor knows: splits that are complete, so that nobody asks for their old slots.
     *
     * @param newer      descriptor.
     * @param superseded takes each subtable that the directory does not name any more, once.
     * @return whether that was news.
     */
    boolean refresh(final TableDescriptor newer, final Superseded superseded)
    {
        boolean isNews = false;
        while (depth < newer.depth())
        {
            grow();
        }
        for (int entry = 0; entry < groupsOffsets.length; entry++)
        {
            final long stated = newer.entry(entry & newer.subtableCount() - 1);
            final long groups = DirectoryEntry.subtableOffset(stated) + SubtableDescriptor.GROUPS_OFFSET;
            if (DirectoryEntry.depth(stated) > depths[entry] && suffix(entry) == entry)
            {
                superseded.onSuperseded(entry, groupsOffsets[entry]);
            }
            if (DirectoryEntry.depth(stated) > depths[entry] ||
                DirectoryEntry.depth(stated) == depths[entry] && groups == groupsOffsets[entry])
            {
                final int before = depths[entry];
                groupsOffsets[entry] = groups;
                depths[entry] = (byte)DirectoryEntry.depth(stated);
                isNews |= depths[entry] != before || predecessors[entry] != 0;
                predecessors[entry] = 0;
                splitLinks[entry] = 0;
            }
        }
        return isNews;
    }

    /**
     * Takes a sample of how full a subtable is.
     *
     * @return whether that has become too much; then it is measured anew.
     */
    boolean noteFill(final int suffix, final int taken, final int of)
    {
        fills[suffix] += (taken * FILL_ONE / of - fills[suffix]) / FILL_SAMPLES;
        if (fills[suffix] < SPLIT_FILL)
        {
            return false;
        }
        fills[suffix] = 0;
        return true;
    }

    /** @return depth of the deepest subtable; entries are indexed by as many directory bits. */
    int depth()
    {
        return depth;
    }

    /** @return depth of the subtable of an entry. */
    int depth(final int entry)
    {
        return depths[entry];
    }

    /** @return suffix of the subtable of an entry. */
    int suffix(final int entry)
    {
        return entry & (1 << depths[entry]) - 1;
    }

    long groupsOffset(final int entry)
    {
        return groupsOffsets[entry];
    }

    long predecessor(final int entry)
    {
        return predecessors[entry];
    }

    long splitLink(final int entry)
    {
        return splitLinks[entry];
    }

    /** @return header of the buckets of an entry's subtable. */
    long bucketHeader(final int entry)
    {
        return BucketDescriptor.header(tableId, suffix(entry), depths[entry]);
    }

    /** @return header of the buckets of the subtable that is split into the one of another header. */
    static long parentHeader(final long header)
    {
        final int parentDepth = BucketDescriptor.depth(header) - 1;
        return BucketDescriptor.header(BucketDescriptor.tableId(header),
            BucketDescriptor.suffix(header) & (1 << parentDepth) - 1, parentDepth);
    }

    /**
     * Takes note of a split.
     *
     * @param suffix       of the subtable that is split.
     * @param ofDepth      its depth.
     * @param groupsOffset its groups.
     * @param link         to the two that take its place.
     * @return whether that was news.
     */
    boolean learn(final int suffix, final int ofDepth, final long groupsOffset, final long link)
    {
        if (depths[suffix] != ofDepth || groupsOffsets[suffix] != groupsOffset || ofDepth == BucketDescriptor.MAX_DEPTH)
        {
            return false;
        }
        if (ofDepth == depth)
        {
            grow();
        }
        for (int entry = suffix; entry < groupsOffsets.length; entry += 1 << ofDepth)
        {
            final long offset = SplitLink.offset(link, entry >>> ofDepth & 1);
            groupsOffsets[entry] = offset + SubtableDescriptor.GROUPS_OFFSET;
            predecessors[entry] = groupsOffset;
            splitLinks[entry] = SplitLink.underWay(link);
            depths[entry] = (byte)(ofDepth + 1);
            fills[entry] = 0;
        }
        return true;
    }

    private void grow()
    {
        groupsOffsets = twice(groupsOffsets);
        predecessors = twice(predecessors);
        splitLinks = twice(splitLinks);
        final byte[] deeper = Arrays.copyOf(depths, depths.length * 2);
        System.arraycopy(depths, 0, deeper, depths.length, depths.length);
        depths = deeper;
        fills = Arrays.copyOf(fills, fills.length * 2);
        depth++;
    }

    private static long[] twice(final long[] entries)
    {
        final long[] deeper = Arrays.copyOf(entries, entries.length * 2);
        System.arraycopy(entries, 0, deeper, entries.length, entries.length);
        return deeper;
    }

    @Override
    public String toString()
    {
        return "TableDirectory{depth=" + depth + " depths=" + Arrays.toString(depths) + '}';
    }
}
