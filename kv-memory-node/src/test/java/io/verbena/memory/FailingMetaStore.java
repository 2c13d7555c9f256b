package io.verbena.memory;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;

/** A store whose disk fails while a test says so; what it was to write is there all the same, or not. */
final class FailingMetaStore implements MetaStore
{
    boolean fails;
    boolean keepsWhatFailed;
    private final InMemoryMetaStore store = new InMemoryMetaStore();

    @Override
    public MetaState load()
    {
        return store.load();
    }

    @Override
    public void write(final MetaBatch batch)
    {
        if (!fails || keepsWhatFailed)
        {
            store.write(batch);
        }

        if (fails)
        {
            throw new DurableWriteError("disk full", null);
        }
    }

    @Override
    public void close()
    {
        store.close();
    }
}
