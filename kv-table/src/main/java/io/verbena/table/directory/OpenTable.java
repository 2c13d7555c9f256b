package io.verbena.table.directory;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.openhft.hashing.LongTupleHashFunction;

/**
 * A table that an engine works on: its descriptor, resolved, and what it learned since. Made by {@code
 * TableEngine.openTable()}; owner thread of the engine only.
 */
public final class OpenTable
{
    public final LongTupleHashFunction hashFunction;
    public final int tableId;
    public final int depth;
    public final int groupCount;
    private final TableDescriptor descriptor;
    private final NodeLinks nodes;
    private final GrowthSource growthSource;
    private final NodeLink[] links;
    private final int memoryNodes;
    public final TableDirectory directory;
    /** Blocks read that carried the fingerprint of another key, since the engine opened the table. */
    public long falseMatches;
    /** Pairs of buckets that operations of the engine moved because they needed them. */
    public long pairsHelped;
    private final Map<Subtable, Long> splits = new HashMap<>();
    private final TableDirectory.Superseded leaver = this::leave;
    private boolean isClosed;
    private boolean hasDeadlinesWritten;
    /** Groups of the subtable that this engine split last, and how many of them, from the first on, are all moved. */
    private long movedFrom;
    private int groupsMoved;

    public OpenTable(final NodeLinks nodes, final GrowthSource growthSource, final TableDescriptor descriptor)
    {
        this.nodes = nodes;
        this.growthSource = growthSource;
        this.descriptor = descriptor;
        hashFunction = KeyHash.function(descriptor.hashSeed());
        tableId = descriptor.tableId();
        depth = descriptor.depth();
        groupCount = descriptor.groupCount();
        directory = new TableDirectory(descriptor);
        links = new NodeLink[descriptor.subtableCount()];
        for (int i = 0; i < links.length; i++)
        {
            final long entry = descriptor.entry(i);
            DirectoryEntry.check(entry);
            links[i] = nodes.get(DirectoryEntry.memoryNodeId(entry));
        }
        memoryNodes = (int)Arrays.stream(links).distinct().count();
    }

    /** @return what the table is. */
    public TableDescriptor descriptor()
    {
        return descriptor;
    }

    /**
     * Whether a link can lead from a subtable at all: to two others, for which the node has memory. Any other word may
     * lead to requests that are refused.
     */
    public boolean mayLead(final long groups, final long splitLink, final long regionLengthBytes)
    {
        final long from = groups - SubtableDescriptor.GROUPS_OFFSET;
        final long to0 = SplitLink.offset(splitLink, 0);
        final long to1 = SplitLink.offset(splitLink, 1);
        final long length = SubtableDescriptor.lengthBytes(groupCount);
        return Math.min(to0, to1) > 0 && Math.max(to0, to1) <= regionLengthBytes - length &&
            Math.abs(to0 - to1) >= length && Math.abs(to0 - from) >= length && Math.abs(to1 - from) >= length;
    }

    /** Takes note of a split or a merge; see {@link TableDirectory#learn}. */
    public void learn(final int suffix, final int ofDepth, final long groups, final long newLink)
    {
        if (!directory.learn(suffix, ofDepth, groups, newLink, leaver))
        {
            return;
        }
        final Subtable subtable = new Subtable(link(suffix & descriptor.subtableCount() - 1).memoryNodeId, suffix,
            ofDepth, groups - SubtableDescriptor.GROUPS_OFFSET);
        if (MergeLink.isLink(newLink))
        {
            final Subtable sibling = subtable.sibling(newLink);
            splits.put(subtable, newLink);
            splits.put(sibling, MergeLink.of(MergeLink.merged(newLink), subtable.offset()));
            leave(sibling.suffix(), sibling.offset() + SubtableDescriptor.GROUPS_OFFSET);
            growthSource.onMergeMet(this, subtable.merged(newLink));
        }
        else
        {
            splits.put(subtable, SplitLink.underWay(newLink));
            growthSource.onSplitMet(this, subtable);
        }
    }

    /**
     * Takes over the subtables of a newer descriptor of the same table. To be called before the node passes the epoch
     * with which it heard of it: the memory of subtables that it does not name may be used for something else then.
     *
     * @param newer descriptor, not older than the one taken over last.
     */
    public void refresh(final TableDescriptor newer)
    {
        final Set<Subtable> present = new HashSet<>();
        directory.refresh(newer, (suffix, ofDepth, groups) ->
        {
            final Subtable subtable = new Subtable(link(suffix & descriptor.subtableCount() - 1).memoryNodeId, suffix,
                ofDepth, groups - SubtableDescriptor.GROUPS_OFFSET);
            present.add(subtable);
            return splitOf(subtable);
        }, leaver);
        // The memory of others may be a subtable of the same keys again, which goes another way. Also when there is no
        // news: what the descriptor leaves out may be a split, with something behind it that was known before.
        splits.keySet().retainAll(present);
    }

    /**
     * Closes a table that was dropped: its memory goes back when this node has passed some epochs. Operations under way
     * end as they are; those that wait in their first step, in which they delay no epoch, end as of a table that has
     * changed, and nothing that operations have left behind is cleared. To be called before the node passes the epoch
     * in which it learned of the drop.
     */
    public void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            Arrays.stream(links).distinct().forEach((link) -> link.tombstones.leave(tableId));
        }
    }

    /** @return whether nothing may be begun on the table any more. */
    public boolean isClosed()
    {
        return isClosed;
    }

    /** Nobody clears slots of a subtable that may be gone; those of others are cleared still. */
    private void leave(final int suffix, final long groups)
    {
        link(suffix & descriptor.subtableCount() - 1).tombstones
            .leave(groups, groups + (long)groupCount * BucketDescriptor.GROUP_BYTES);
    }

    /** A write of this engine has named a deadline. */
    public void noteDeadline()
    {
        // Stored only where it changes: see NodeLink for what that saves.
        if (!hasDeadlinesWritten)
        {
            hasDeadlinesWritten = true;
        }
    }

    /** @return whether writes of this engine have named deadlines since this was asked last. */
    public boolean takeDeadlinesWritten()
    {
        final boolean have = hasDeadlinesWritten;
        hasDeadlinesWritten = false;
        return have;
    }

    /** @return the link by which a subtable was split or merged, as far as this engine has met it, or 0. */
    public long splitOf(final Subtable subtable)
    {
        return splits.getOrDefault(subtable, SplitLink.NONE);
    }

    /**
     * @param suffix directory bits of a key, as many as are known or more.
     * @return the subtable in which it is, as far as the engine knows.
     */
    public Subtable subtable(final int suffix)
    {
        final int entry = suffix & (1 << directory.depth()) - 1;
        return new Subtable(link(entry & descriptor.subtableCount() - 1).memoryNodeId, directory.suffix(entry),
            directory.depth(entry), directory.groupsOffset(entry) - SubtableDescriptor.GROUPS_OFFSET);
    }

    /** @return whether it is known of a subtable that it was made by a split, but not that all its words have come. */
    public boolean mayWaitForWords(final Subtable subtable)
    {
        return directory.predecessor(subtable.suffix()) != 0;
    }

    /**
     * @param subtable            as this engine knows it.
     * @param mostDescriptorBytes that may be published.
     * @return whether a descriptor can name the two that take its place, wherever their node has memory for them.
     */
    public boolean mayBeSplit(final Subtable subtable, final int mostDescriptorBytes)
    {
        long mostBytes = 0;
        for (final NodeLink node : links)
        {
            mostBytes = Math.max(mostBytes, node.port == null ? 0 : node.port.regionLengthBytes());
        }
        return subtable.depth() < BucketDescriptor.MAX_DEPTH && directory.descriptorBytes(
            descriptor.name().getBytes(StandardCharsets.UTF_8).length, memoryNodes, mostBytes) <= mostDescriptorBytes;
    }

    /**
     * @param subtable as this engine knows it.
     * @return whether it and its sibling could be one subtable: they are as deep, whole, at one memory node, and deeper
     *     than the table was made.
     */
    public boolean mayBeMerged(final Subtable subtable)
    {
        final int siblingSuffix = subtable.suffix() ^ 1 << subtable.depth() - 1;
        return subtable.depth() > descriptor.leastDepth() && directory.depth(siblingSuffix) == subtable.depth() &&
            directory.predecessor(subtable.suffix()) == 0 && directory.predecessor(siblingSuffix) == 0 &&
            link(siblingSuffix & descriptor.subtableCount() - 1).memoryNodeId == subtable.memoryNodeId();
    }

    /** @return blocks that this engine read in vain, because they carried the fingerprint of another key. */
    public long falseMatches()
    {
        return falseMatches;
    }

    /** @return pairs of buckets that operations of this engine moved because they needed them. */
    public long pairsHelped()
    {
        return pairsHelped;
    }

    /** @return depth of the deepest subtable that the engine knows. */
    public int deepest()
    {
        return directory.depth();
    }

    /** @return the subtables that the engine knows, each once; a new list. */
    public List<Subtable> subtables()
    {
        final List<Subtable> subtables = new ArrayList<>();
        for (int entry = 0; entry < 1 << directory.depth(); entry++)
        {
            if (directory.suffix(entry) == entry)
            {
                subtables.add(subtable(entry));
            }
        }
        return subtables;
    }

    /** @return how many subtables the engine knows. */
    public int subtableCount()
    {
        return directory.subtables();
    }

    /** @return slots of all subtables that the engine knows. */
    public long slotCount()
    {
        return (long)subtableCount() * groupCount * BucketDescriptor.SLOTS_PER_GROUP;
    }

    public void noteMoved(final long fromGroupsOffset, final int groups)
    {
        movedFrom = fromGroupsOffset;
        groupsMoved = groups;
    }

    /** @return whether a look may do without the old words of two groups; if it finds them missing, it must peek. */
    public boolean isMoved(final long fromGroupsOffset, final int group, final int otherGroup)
    {
        return fromGroupsOffset == movedFrom && Math.max(group, otherGroup) < groupsMoved;
    }

    public boolean belongsTo(final NodeLinks other)
    {
        return nodes == other;
    }

    public NodeLink link(final int suffix)
    {
        return links[suffix];
    }
}
