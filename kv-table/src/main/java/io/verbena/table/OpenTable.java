package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import net.openhft.hashing.LongTupleHashFunction;

/**
 * A table that an engine works on: its descriptor, resolved, and what it learned since. Made by {@link
 * TableEngine#openTable}; owner thread of the engine only.
 */
public final class OpenTable
{
    final LongTupleHashFunction hashFunction;
    final int tableId;
    final int depth;
    final int groupCount;
    private final TableDescriptor descriptor;
    private final TableEngine engine;
    private final NodeLink[] links;
    private final long[] groupsOffsets;
    final TableDirectory directory;

    OpenTable(final TableEngine engine, final TableDescriptor descriptor)
    {
        this.engine = engine;
        this.descriptor = descriptor;
        hashFunction = KeyHash.function(descriptor.hashSeed());
        tableId = descriptor.tableId();
        depth = descriptor.depth();
        groupCount = descriptor.groupCount();
        directory = new TableDirectory(descriptor);
        links = new NodeLink[descriptor.subtableCount()];
        groupsOffsets = new long[links.length];
        for (int i = 0; i < links.length; i++)
        {
            final long entry = descriptor.entry(i);
            DirectoryEntry.check(entry);
            links[i] = engine.link(DirectoryEntry.memoryNodeId(entry));
            groupsOffsets[i] = DirectoryEntry.subtableOffset(entry) + SubtableDescriptor.GROUPS_OFFSET;
        }
    }

    /** @return what the table is. */
    public TableDescriptor descriptor()
    {
        return descriptor;
    }

    /** Takes note of a split; see {@link TableDirectory#learn}. */
    void learn(final int suffix, final int ofDepth, final long groups, final long splitLink)
    {
        if (directory.learn(suffix, ofDepth, groups, splitLink))
        {
            link(suffix & descriptor.subtableCount() - 1).tombstones.leave();
        }
    }

    /**
     * Takes over the subtables of a newer descriptor of the same table. To be called before the node passes the epoch
     * with which it heard of it: the memory of subtables that it does not name may be used for something else then.
     */
    void refresh(final TableDescriptor newer)
    {
        directory.refresh(newer);
        for (final NodeLink node : links)
        {
            node.tombstones.leave();
        }
    }

    /** @return the descriptor of the table with the subtables that are known by now. */
    TableDescriptor presentDescriptor()
    {
        return new TableDescriptor(descriptor.name(), tableId, directory.depth(), groupCount, descriptor.hashSeed(),
            directory.entries(descriptor));
    }

    boolean belongsTo(final TableEngine other)
    {
        return engine == other;
    }

    NodeLink link(final int suffix)
    {
        return links[suffix];
    }

    long groupsOffset(final int suffix)
    {
        return groupsOffsets[suffix];
    }

    long bucketHeader(final int suffix)
    {
        return BucketDescriptor.header(tableId, suffix, depth);
    }
}
