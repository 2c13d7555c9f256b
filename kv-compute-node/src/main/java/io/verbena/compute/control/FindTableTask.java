package io.verbena.compute.control;

import io.verbena.compute.catalog.TableRegistry;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.session.MetaLink;
import io.verbena.table.format.FormatException;

/** Finds a table at the meta server, and opens it here. */
final class FindTableTask extends ControlTask
{
    private final TableRegistry tables;
    private final MetaRead<TableEntry> found;
    private final long askedNews;

    FindTableTask(
        final ControlRequest request, final MetaLink metaLink, final TableRegistry tables, final long nowNs)
    {
        super(request);
        this.tables = tables;
        askedNews = tables.news();
        found = new MetaRead<>(metaLink, (client, timeoutNs) -> client.table(request.tableName(), timeoutNs),
            request.deadlineNs(), nowNs);
    }

    @Override
    int poll(final long nowNs)
    {
        if (!found.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != found.call().status())
        {
            endAs(found.call());
            return 1;
        }
        final TableEntry entry = found.call().result();
        try
        {
            tables.openIfFresh(entry, askedNews);
            end(Status.OK, new TableReference(entry.name(), entry.tableId()), null);
        }
        catch (final FormatException ex)
        {
            end(Status.REFUSED, null, ex.getMessage());
        }
        return 1;
    }
}
