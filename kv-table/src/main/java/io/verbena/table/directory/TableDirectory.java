package io.verbena.table.directory;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.Arrays;

/**
 * Where an engine believes the subtables of a table to be. Begins with the table's descriptor and follows newer ones,
 * and the links of splits and merges that operations meet. An old entry costs a round trip and never an answer, because
 * every bucket says which subtable it belongs to, or where that one's slots went. Doubles its arrays when a split goes
 * deeper than they do, which is the only allocation and rare. Owner thread of the engine only.
 */
public final class TableDirectory
{
    private static final int FILL_ONE = 1 << 16;
    /** A subtable is split when this part of its slots is taken. */
    private static final int SPLIT_FILL = (int)(0.85 * FILL_ONE);
    private static final int FILL_SAMPLES = 32;
    /** Words of an entry, side by side: an operation needs all of them. */
    private static final int WORDS = 4;
    private static final int GROUPS = 0;
    /** Groups of the subtable that is split into this one, or, for its keys, merged into it; or 0. */
    private static final int PREDECESSOR = 1;
    /** The link that leads from there to here, or 0: a split link, or a merge link. */
    private static final int LINK = 2;
    /** Header of its buckets, which has its suffix and depth. */
    private static final int HEADER = 3;

    private final int tableId;
    private int depth;
    private long[] words;
    private int changes;
    /** Of each subtable, at its suffix: moving mean of the part of slots that are taken, in 65,536ths. */
    private int[] fills;

    public TableDirectory(final TableDescriptor descriptor)
    {
        tableId = descriptor.tableId();
        depth = descriptor.depth();
        final int size = descriptor.subtableCount();
        words = new long[size * WORDS];
        fills = new int[size];
        for (int i = 0; i < size; i++)
        {
            final long entry = descriptor.entry(i);
            DirectoryEntry.check(entry);
            put(i, DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET, 0, SplitLink.NONE,
                DirectoryEntry.depth(entry));
        }
    }

    private void put(
        final int entry, final long groupsOffset, final long predecessor, final long link, final int entryDepth)
    {
        final int at = entry * WORDS;
        words[at + GROUPS] = groupsOffset;
        words[at + PREDECESSOR] = predecessor;
        words[at + LINK] = link;
        words[at + HEADER] = BucketDescriptor.header(tableId, entry & (1 << entryDepth) - 1, entryDepth);
        changes++;
    }

    /** @return another number whenever an entry has changed. */
    public int changes()
    {
        return changes;
    }

    /** @return the entries as a descriptor has them, of subtables at the node of an entry given. */
    public long[] entries(final TableDescriptor base)
    {
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = DirectoryEntry.stable(depth(i),
                DirectoryEntry.memoryNodeId(base.entry(i & base.subtableCount() - 1)),
                groupsOffset(i) - SubtableDescriptor.GROUPS_OFFSET);
        }
        return entries;
    }

    /** @return number of subtables. */
    int subtables()
    {
        int count = 0;
        for (int entry = 0; entry < 1 << depth; entry++)
        {
            count += suffix(entry) == entry ? 1 : 0;
        }
        return count;
    }

    /**
     * @param nameBytes   length of the table's name.
     * @param memoryNodes of the table, at most.
     * @param regionBytes of the largest of them.
     * @return bytes of a descriptor that names one subtable more than there are, at most.
     */
    int descriptorBytes(final int nameBytes, final int memoryNodes, final long regionBytes)
    {
        long distances = 0;
        for (int entry = 1; entry < 1 << depth; entry++)
        {
            distances |= groupsOffset(entry) ^ groupsOffset(0);
        }
        // A single one says nothing of the distances to come, and has room.
        final int shift = Math.min(Long.numberOfTrailingZeros(distances), SlotWord.OFFSET_BITS);
        return TableDescriptor.lengthBytes(nameBytes, subtables() + 1, memoryNodes,
            Long.SIZE - Long.numberOfLeadingZeros(regionBytes >>> shift));
    }

    /** Takes a subtable of whose split is heard. */
    public interface Superseded
    {
        /** Has no interest. */
        Superseded NONE = (suffix, groupsOffset) -> { };

        /** Takes its suffix and its groups. */
        void onSuperseded(int suffix, long groupsOffset);
    }

    /** What an engine has learned of the subtables that a descriptor names. */
    interface Learned
    {
        /** @return the link by which a subtable was split or merged, as far as is known, or 0. */
        long link(int suffix, int depth, long groupsOffset);
    }

    /**
     * Takes over what a newer descriptor knows. Where what the engine has learned goes on from there, that stays: the
     * descriptor is behind it.
     *
     * @param newer      descriptor.
     * @param learned    links that were met; asked for those that lead on from subtables of the descriptor.
     * @param superseded takes each subtable that the directory does not name any more, once.
     */
    void refresh(final TableDescriptor newer, final Learned learned, final Superseded superseded)
    {
        while (depth < newer.depth())
        {
            grow();
        }
        for (int entry = 0; entry < 1 << depth; entry++)
        {
            final long stated = newer.entry(entry & newer.subtableCount() - 1);
            int statedDepth = DirectoryEntry.depth(stated);
            long groups = DirectoryEntry.subtableOffset(stated) + SubtableDescriptor.GROUPS_OFFSET;
            long from = 0;
            long lastLink = SplitLink.NONE;
            for (long link = learned.link(entry & (1 << statedDepth) - 1, statedDepth, groups);
                link != SplitLink.NONE; link = learned.link(entry & (1 << statedDepth) - 1, statedDepth, groups))
            {
                from = groups;
                lastLink = link;
                groups = (MergeLink.isLink(link) ? MergeLink.merged(link) :
                    SplitLink.offset(link, entry >>> statedDepth & 1)) + SubtableDescriptor.GROUPS_OFFSET;
                statedDepth += MergeLink.isLink(link) ? -1 : 1;
            }
            final boolean isSame = depth(entry) == statedDepth && groupsOffset(entry) == groups;
            if (!isSame && suffix(entry) == entry)
            {
                superseded.onSuperseded(entry, groupsOffset(entry));
            }
            if (!isSame || from == 0 && predecessor(entry) != 0)
            {
                put(entry, groups, from, lastLink, statedDepth);
            }
        }
    }

    /**
     * Takes a sample of how full a subtable is.
     *
     * @return whether that has become too much; then it is measured anew.
     */
    public boolean noteFill(final int suffix, final int taken, final int of)
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
    public int depth()
    {
        return depth;
    }

    /** @return depth of the subtable of an entry. */
    public int depth(final int entry)
    {
        return BucketDescriptor.depth(bucketHeader(entry));
    }

    /** @return suffix of the subtable of an entry. */
    public int suffix(final int entry)
    {
        return BucketDescriptor.suffix(bucketHeader(entry));
    }

    public long groupsOffset(final int entry)
    {
        return words[entry * WORDS + GROUPS];
    }

    public long predecessor(final int entry)
    {
        return words[entry * WORDS + PREDECESSOR];
    }

    public long splitLink(final int entry)
    {
        return words[entry * WORDS + LINK];
    }

    /** @return header of the buckets of an entry's subtable. */
    public long bucketHeader(final int entry)
    {
        return words[entry * WORDS + HEADER];
    }

    /** @return header of the buckets of the subtable that is split into the one of another header. */
    public static long parentHeader(final long header)
    {
        final int parentDepth = BucketDescriptor.depth(header) - 1;
        return BucketDescriptor.header(BucketDescriptor.tableId(header),
            BucketDescriptor.suffix(header) & (1 << parentDepth) - 1, parentDepth);
    }

    /**
     * Takes note of a split, or of a merge with the sibling.
     *
     * @param suffix       of the subtable that is split or merged.
     * @param ofDepth      its depth.
     * @param groupsOffset its groups.
     * @param link         to those that take its place.
     * @param superseded   takes each subtable that the directory does not name any more, once.
     * @return whether that was news.
     */
    public boolean learn(
        final int suffix, final int ofDepth, final long groupsOffset, final long link, final Superseded superseded)
    {
        if (depth(suffix) != ofDepth || groupsOffset(suffix) != groupsOffset || ofDepth == BucketDescriptor.MAX_DEPTH)
        {
            return false;
        }
        if (MergeLink.isLink(link))
        {
            return learnMerge(suffix, ofDepth, groupsOffset, link, superseded);
        }
        superseded.onSuperseded(suffix, groupsOffset);
        if (ofDepth == depth)
        {
            grow();
        }
        for (int entry = suffix; entry < 1 << depth; entry += 1 << ofDepth)
        {
            final long offset = SplitLink.offset(link, entry >>> ofDepth & 1);
            put(entry, offset + SubtableDescriptor.GROUPS_OFFSET, groupsOffset, SplitLink.underWay(link), ofDepth + 1);
            fills[entry] = 0;
        }
        return true;
    }

    /**
     * Whatever is known of the sibling, and of what it was split into, is older than the merge: it is the subtable that
     * the link names.
     */
    private boolean learnMerge(
        final int suffix, final int ofDepth, final long groupsOffset, final long link, final Superseded superseded)
    {
        if (ofDepth == 0)
        {
            return false;
        }
        final int newDepth = ofDepth - 1;
        final long siblingLink = MergeLink.of(MergeLink.merged(link), groupsOffset - SubtableDescriptor.GROUPS_OFFSET);
        for (int entry = suffix & (1 << newDepth) - 1; entry < 1 << depth; entry += 1 << newDepth)
        {
            final boolean isOwn = (entry >>> newDepth & 1) == suffix >>> newDepth;
            if (suffix(entry) == entry)
            {
                superseded.onSuperseded(entry, groupsOffset(entry));
            }
            put(entry, MergeLink.merged(link) + SubtableDescriptor.GROUPS_OFFSET,
                isOwn ? groupsOffset : MergeLink.sibling(link) + SubtableDescriptor.GROUPS_OFFSET,
                isOwn ? link : siblingLink, newDepth);
            fills[entry] = 0;
        }
        return true;
    }

    private void grow()
    {
        final long[] deeper = Arrays.copyOf(words, words.length * 2);
        System.arraycopy(words, 0, deeper, words.length, words.length);
        words = deeper;
        fills = Arrays.copyOf(fills, fills.length * 2);
        depth++;
        changes++;
    }

    @Override
    public String toString()
    {
        return "TableDirectory{depth=" + depth + " changes=" + changes + '}';
    }
}
