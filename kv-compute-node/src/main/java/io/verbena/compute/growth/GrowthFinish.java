package io.verbena.compute.growth;

import io.verbena.compute.catalog.TableInquiry;
import io.verbena.compute.catalog.TableLister;
import io.verbena.compute.catalog.TableRegistry;
import io.verbena.compute.session.SessionParts;
import io.verbena.protocol.message.TableEntry;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.TableDescriptor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Ends the splits of all tables that nobody goes on with: opens each table, and has the scheduler examine all of its
 * subtables. Not done before each table that is not dropped meanwhile was examined. Owned by the node's thread.
 */
final class GrowthFinish
{
    private final TableRegistry tables;
    private final Consumer<OpenTable> finish;
    private final BooleanSupplier isBusy;
    private final TableLister lister;
    private final TableInquiry<TableDescriptor> inquiry;
    private boolean isListed;

    /**
     * @param finish takes each table whose splits and merges are to be completed.
     * @param isBusy whether there are tables, or subtables of them, that were taken and are not complete.
     */
    GrowthFinish(
        final SessionParts session,
        final TableRegistry tables,
        final Consumer<OpenTable> finish,
        final BooleanSupplier isBusy)
    {
        this.tables = tables;
        this.finish = finish;
        this.isBusy = isBusy;
        inquiry = new TableInquiry<>(session.metaLink(), tables, session.timeoutNs(), this::open);
        lister = new TableLister(session.metaLink(), session.timeoutNs(), session.raas().clock());
        lister.start();
    }

    /** @return whether every split is complete that had begun before it was made, and published. */
    boolean isDone()
    {
        return isListed && inquiry.isDone() && !isBusy.getAsBoolean();
    }

    /** @return why a table could not be opened last, one line for people; empty when none failed. */
    String failure()
    {
        return inquiry.failure();
    }

    void poll(final long nowNs)
    {
        if (isListed)
        {
            inquiry.poll(nowNs);
            return;
        }
        lister.poll();
        if (lister.isDone())
        {
            isListed = true;
            lister.tables().forEach((table) -> inquiry.add(table, table.name()));
        }
    }

    /** @return false when the answer is too old by now: the table is not open then. */
    private boolean open(final TableDescriptor table, final TableEntry entry, final long askedNews)
    {
        if (null == entry || entry.tableId() != table.tableId())
        {
            return true;
        }
        tables.openIfFresh(entry, askedNews);
        final OpenTable open = tables.find(table.tableId());
        if (null != open)
        {
            finish.accept(open);
        }
        return null != open;
    }
}
