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

    /** A dropped table makes room for one or a few: of thousands without room not all are tried. */
    private static final int MOST_REFUSED = 16;

    private final DirectoryView view;
    private final TableCatalog catalog;
    private boolean isFull;

    ShownTables(final DirectoryView view, final TableCatalog catalog)
    {
        this.view = view;
        this.catalog = catalog;
        catalog.tables().forEach((table) -> show(table));
    }

    /** A table is new, or has another descriptor; false when the view has no room for it. */
    boolean show(final StoredTable table)
    {
        final boolean hasRoom = view.publish(new NamedRecord(table.tableId(), table.name(), table.descriptor()));

        if (!hasRoom && !isFull)
        {
            LOGGER.warn("the view has no room for table '{}' beside {} bytes of others: nodes that join ask for it " +
                "by a call; raise --view-table-bytes", table.name(), view.namedBytes());
        }

        isFull = view.hasNamesOutside();
        return hasRoom;
    }

    /** A table was dropped: others that had no room may have some now. */
    void hide(final String name)
    {
        final boolean wasShown = view.remove(name);
        isFull = view.hasNamesOutside();

        if (!wasShown || !isFull)
        {
            return;
        }

        int refused = 0;

        for (final String outside : view.namesOutside())
        {
            if (!show(catalog.table(outside)) && ++refused == MOST_REFUSED)
            {
                return;
            }
        }
    }
}
