package io.verbena.meta.catalog;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.TableName;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Tables by name; what it says is on disk. One thread. */
public final class TableCatalog
{
    private final MetaStore store;
    private final TreeMap<String, StoredTable> tables = new TreeMap<>();

    /**
     * @param store    where changes go.
     * @param restored what it held at start.
     */
    public TableCatalog(final MetaStore store, final List<StoredTable> restored)
    {
        this.store = store;
        restored.forEach((table) -> tables.put(table.name(), table));
    }

    /**
     * Adds a table unless the name is taken; of two racing creators exactly one gets the answer that it created it.
     *
     * @param table its name allowed by {@link TableName#problem}; its descriptor is kept as it is, so not to be
     *              changed.
     * @return null when created, else the table that has the name.
     */
    public StoredTable createIfAbsent(final StoredTable table)
    {
        if (null != TableName.problem(table.name()))
        {
            throw new IllegalArgumentException("name not checked by the caller: " + table.name());
        }

        final StoredTable present = tables.get(table.name());
        if (null != present)
        {
            return present;
        }

        store.write(new MetaBatch().table(table));
        tables.put(table.name(), table);
        return null;
    }

    /**
     * @param name to look for.
     * @return the table, or null.
     */
    public StoredTable table(final String name)
    {
        return tables.get(name);
    }

    /** @return all tables by name; read-only. */
    public Collection<StoredTable> tables()
    {
        return Collections.unmodifiableCollection(tables.values());
    }

    /**
     * Replaces a table's descriptor.
     *
     * @param table  of a name and number that there are.
     * @param writer makes the change durable, together with the change of the cluster's version that announces it.
     */
    public void replace(final StoredTable table, final Consumer<MetaBatch> writer)
    {
        writer.accept(new MetaBatch().table(table));
        tables.put(table.name(), table);
    }

    /**
     * Removes a table's name; its memory is for its user to return.
     *
     * @param name   to remove.
     * @param writer makes the removal durable, together with the change of the cluster's version that announces it.
     * @return the table removed, or null when there was none.
     */
    public StoredTable drop(final String name, final Consumer<MetaBatch> writer)
    {
        final StoredTable present = tables.get(name);

        if (null != present)
        {
            writer.accept(new MetaBatch().removeTable(name));
            tables.remove(name);
        }

        return present;
    }
}
