package io.verbena.meta;

import io.verbena.meta.catalog.TableCatalog;
import io.verbena.meta.store.StoredTable;
import io.verbena.raas.directory.DirectoryView;
import io.verbena.raas.directory.NamedRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the tables that the published view shows in step with the catalog. One thread. */
final class ShownTables
{
    private static final Logger LOGGER = LoggerFactory.getLogger(ShownTables.class);

    private final DirectoryView view;
    private final TableCatalog catalog;
    private boolean isFull;

    ShownTables(final DirectoryView view, final TableCatalog catalog)
    {
        this.view = view;
        this.catalog = catalog;
        catalog.tables().forEach(this::show);
    }

    /** A table is new, or has another descriptor. */
    void show(final StoredTable table)
    {
        final boolean hasRoom = view.publish(new NamedRecord(table.tableId(), table.name(), table.descriptor()));

        if (!hasRoom && !isFull)
        {
            LOGGER.warn("the view has no room for table '{}' beside {} bytes of others: nodes that join ask for it " +
                "by a call; raise --view-table-bytes", table.name(), view.namedBytes());
        }

        isFull = !view.namesOutside().isEmpty();
    }

    /** A table was dropped: others that had no room may have some now. */
    void hide(final String name)
    {
        view.remove(name);
        view.namesOutside().forEach((outside) -> show(catalog.table(outside)));
    }
}
