package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import net.openhft.hashing.LongTupleHashFunction;

/** A table that an engine works on: its descriptor, resolved. Made by {@link TableEngine#openTable}; immutable. */
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

    OpenTable(final TableEngine engine, final TableDescriptor descriptor)
    {
        this.engine = engine;
        this.descriptor = descriptor;
        hashFunction = KeyHash.function(descriptor.hashSeed());
        tableId = descriptor.tableId();
        depth = descriptor.depth();
        groupCount = descriptor.groupCount();
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
