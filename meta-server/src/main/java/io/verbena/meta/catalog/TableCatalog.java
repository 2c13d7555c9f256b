package io.verbena.meta.catalog;

import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredTable;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** Tables by name; what it says is on disk. One thread. */
public final class TableCatalog
{
    /** Longest name, in characters, all of them ASCII. */
    public static final int MAX_NAME_LENGTH = 128;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0," + (MAX_NAME_LENGTH - 1) + "}");

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
     * Says what is wrong with a name.
     *
     * @param name to be checked.
     * @return one line, or null when the name is good.
     */
    public static String nameProblem(final String name)
    {
        if (NAME.matcher(name).matches())
        {
            return null;
        }

        final String shown = name.length() > MAX_NAME_LENGTH ? name.substring(0, MAX_NAME_LENGTH) + "..." : name;
        return "table name '" + shown + "' is not allowed: use 1 to " + MAX_NAME_LENGTH +
            " letters, digits, '_', '-' or '.', not beginning with '-' or '.'";
    }

    /**
     * Adds a table unless the name is taken; of two racing creators exactly one is told that it created it.
     *
     * @param table its name allowed by {@link #nameProblem}; its descriptor is kept as it is, so not to be changed.
     * @return null when created, else the table that has the name.
     */
    public StoredTable createIfAbsent(final StoredTable table)
    {
        if (null != nameProblem(table.name()))
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
     * @param writer makes the change durable, together with the change of the cluster's version that tells of it.
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
     * @param writer makes the removal durable, together with the change of the cluster's version that tells of it.
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
