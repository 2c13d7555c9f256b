package io.verbena.meta.membership;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaStore;

/**
 * The durable counters as last written, and the one way to change them: what a caller sees here is on disk, or will be
 * when {@link #together} has returned. Only the membership version may be ahead of the disk, see {@link #move}. One
 * thread.
 */
public final class MetaLedger
{
    private final MetaStore store;
    private MetaCounters counters;
    /** What is to be written together; null outside of {@link #together}. */
    private MetaBatch group;

    /**
     * @param store    where changes go.
     * @param counters as loaded from it or just written to it.
     */
    public MetaLedger(final MetaStore store, final MetaCounters counters)
    {
        this.store = store;
        this.counters = counters;
    }

    /** @return the counters; on disk but for what {@link #move} and {@link #together} say. */
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
        commit(batch.counters(newCounters));
        counters = newCounters;
    }

    /**
     * Moves counters of which nothing has to be on disk yet; they go there with the next ones.
     *
     * @param newCounters as they are from now on.
     */
    void move(final MetaCounters newCounters)
    {
        counters = newCounters;
    }

    /**
     * Writes a batch that changes no counter.
     *
     * @param batch the atomic write.
     */
    public void commit(final MetaBatch batch)
    {
        if (null == group)
        {
            store.write(batch);
        }
        else
        {
            group.add(batch);
        }
    }

    /**
     * Makes one atomic write of all changes that are committed meanwhile. They are durable when this returns, and no
     * sooner: until then nobody outside may see what they led to.
     *
     * @param changes commit what they have to; not nested.
     */
    void together(final Runnable changes)
    {
        group = new MetaBatch();
        final MetaBatch all = group;
        try
        {
            changes.run();
        }
        finally
        {
            // Whatever happened: what was committed is in memory, and the counters have moved.
            group = null;
            if (!all.isEmpty())
            {
                store.write(all);
            }
        }
    }
}
