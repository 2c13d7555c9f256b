package io.verbena.meta.store;

import io.verbena.protocol.access.User;

import java.util.TreeMap;

/**
 * Keeps the state in this object only: for clusters that live and die with their process, and for simulations. Goes
 * through the same record bytes as the durable store, so that a state that cannot be written fails here as well. A meta
 * server started again on the same object finds what it knew.
 */
public final class InMemoryMetaStore implements MetaStore
{
    private final TreeMap<String, byte[]> records = new TreeMap<>();

    @Override
    public MetaState load()
    {
        final MetaStateReader reader = new MetaStateReader("memory");
        records.forEach(reader::accept);
        return reader.state();
    }

    @Override
    public void write(final MetaBatch batch)
    {
        if (null != batch.counters)
        {
            records.put(MetaRecordDescriptor.COUNTERS_KEY, MetaRecordDescriptor.encode(batch.counters));
        }

        if (null != batch.secret)
        {
            records.put(MetaRecordDescriptor.SECRET_KEY, MetaRecordDescriptor.encode(batch.secret));
        }

        for (final StoredNode node : batch.nodes)
        {
            records.put(MetaRecordDescriptor.nodeKey(node.nodeId()), MetaRecordDescriptor.encode(node));
        }

        for (final StoredTable table : batch.tables)
        {
            records.put(MetaRecordDescriptor.tableKey(table.name()), MetaRecordDescriptor.encode(table));
        }

        for (final User user : batch.users)
        {
            records.put(MetaRecordDescriptor.userKey(user.name()), MetaRecordDescriptor.encode(user));
        }

        batch.removedUsers.forEach((name) -> records.remove(MetaRecordDescriptor.userKey(name)));
        batch.removedNodeIds.forEach((id) -> records.remove(MetaRecordDescriptor.nodeKey(id)));
        batch.removedTables.forEach((name) -> records.remove(MetaRecordDescriptor.tableKey(name)));
    }

    @Override
    public void close()
    {
        // The state is meant to outlive the server that used it.
    }
}
