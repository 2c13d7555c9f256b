package io.verbena.memory;

import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.MetaStoreException;

/** A store whose disk is full while a test says so. */
final class FailingMetaStore implements MetaStore
{
    boolean fails;
    private final InMemoryMetaStore store = new InMemoryMetaStore();

    @Override
    public MetaState load()
    {
        return store.load();
    }

    @Override
    public void write(final MetaBatch batch)
    {
        if (fails)
        {
            throw new MetaStoreException(MetaStoreException.Category.WRITE_FAILED, "disk full", null);
        }

        store.write(batch);
    }

    @Override
    public void close()
    {
        store.close();
    }
}
