package io.verbena.meta.store;

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
        batch.changes().forEach((change) -> change.applyTo(records));
    }

    @Override
    public void close()
    {
        // The state is meant to outlive the server that used it.
    }
}
