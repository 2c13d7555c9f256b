package io.verbena.compute;

import io.verbena.request.TableReference;
import io.verbena.table.OpenTable;
import io.verbena.table.format.TableDescriptor;

import java.util.ArrayList;
import java.util.List;

/**
 * Ends the splits of all tables that nobody goes on with: opens each table, has the desk look at all of its subtables.
 * Owned by the node's thread.
 */
final class SplitFinish
{
    private final TableRegistry tables;
    private final SplitDesk splits;
    private final TableLister lister;
    private List<TableDescriptor> listed;

    SplitFinish(final SessionParts session, final TableRegistry tables, final SplitDesk splits)
    {
        this.tables = tables;
        this.splits = splits;
        lister = new TableLister(session.metaLink(), session.timeoutNs());
        lister.start();
    }

    /** @return whether every split is complete that had begun before it was made, and published. */
    boolean isDone()
    {
        return null != listed && listed.isEmpty() && !splits.isBusy();
    }

    void poll()
    {
        if (null == listed)
        {
            lister.poll();
            if (lister.isDone())
            {
                listed = new ArrayList<>(lister.tables());
                listed.forEach((table) -> tables.fetch(new TableReference(table.name(), table.tableId())));
            }
        }
        else if (!tables.isWaiting())
        {
            listed.removeIf(this::begin);
        }
    }

    /** @return true: what cannot be opened was dropped meanwhile, or is asked for again. */
    private boolean begin(final TableDescriptor table)
    {
        final OpenTable open = tables.find(table.tableId());
        if (null != open)
        {
            splits.finish(open);
        }
        return true;
    }
}
