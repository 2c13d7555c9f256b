package io.verbena.meta.membership;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStore;

/**
 * The durable counters as last written, and the one way to change them: what a caller sees here is on disk. One thread.
 */
public final class MetaLedger
{
    private final MetaStore store;
    private MetaCounters counters;

    /**
     * @param store    where changes go.
     * @param counters as loaded from it or just written to it.
     */
    public MetaLedger(final MetaStore store, final MetaCounters counters)
    {
        this.store = store;
        this.counters = counters;
    }

    /** @return the counters as they are on disk. */
    public MetaCounters counters()
    {
        return counters;
    }

    /**
     * Writes a batch together with new counters; the counters here change only when that succeeded.
     *
     * @param newCounters to be written along.
     * @param batch       other changes of the same atomic write.
     */
    public void commit(final MetaCounters newCounters, final MetaBatch batch)
    {
        store.write(batch.counters(newCounters));
        counters = newCounters;
    }

    /**
     * Writes a batch that changes no counter.
     *
     * @param batch the atomic write.
     */
    public void commit(final MetaBatch batch)
    {
        store.write(batch);
    }
}
