package io.verbena.compute.catalog;

import io.verbena.table.format.TableDescriptor;

import java.util.List;

/**
 * The tables there are, for whoever judges memory by what they name: a list counts only until the cluster's version
 * changes. A table may be dropped then, or a subtable replaced, and what it names may be somebody else's. Owned by the
 * node's thread.
 */
public final class CurrentTables
{
    private final CatalogWatch catalog;
    private final TableLister lister;
    private long listedVersion;

    /**
     * Nothing is asked before {@link #start}.
     *
     * @param lister used by nobody else.
     */
    public CurrentTables(final CatalogWatch catalog, final TableLister lister)
    {
        this.catalog = catalog;
        this.lister = lister;
    }

    /** Lists them anew. */
    public void start()
    {
        listedVersion = catalog.version();
        lister.start();
    }

    /** Goes on; begins anew when the version changed while they were listed. */
    public void poll()
    {
        lister.poll();
        if (lister.isDone() && catalog.version() >= 0 && !isCurrent())
        {
            start();
        }
    }

    /** @return whether they are listed, and no newer version has been heard. */
    public boolean isDone()
    {
        return lister.isDone() && catalog.version() >= 0 && isCurrent();
    }

    /** @return whether a table is there whose descriptor cannot be read: there is no list until it begins anew. */
    public boolean isUnreadable()
    {
        return lister.isUnreadable();
    }

    /** @return whether no newer version has been heard since they were listed: asked when what they name was read. */
    public boolean isCurrent()
    {
        return catalog.version() == listedVersion;
    }

    /** @return those listed last; some made or dropped while they were listed may be among them. */
    public List<TableDescriptor> all()
    {
        return lister.tables();
    }
}
