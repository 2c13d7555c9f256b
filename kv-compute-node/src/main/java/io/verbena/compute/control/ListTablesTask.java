package io.verbena.compute.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.session.MetaLink;

import java.util.ArrayList;
import java.util.List;

/** Lists the tables, page by page. */
final class ListTablesTask extends ControlTask
{
    private final MetaLink metaLink;
    private final List<String> names = new ArrayList<>();
    private MetaRead<TablePage> page;

    ListTablesTask(final ControlRequest request, final MetaLink metaLink, final long nowNs)
    {
        super(request);
        this.metaLink = metaLink;
        page = namesAfter("", nowNs);
    }

    private MetaRead<TablePage> namesAfter(final String name, final long nowNs)
    {
        return new MetaRead<>(
            metaLink, (client, timeoutNs) -> client.tables(name, timeoutNs), request().deadlineNs(), nowNs);
    }

    @Override
    int poll(final long nowNs)
    {
        if (!page.poll(nowNs))
        {
            return 0;
        }
        if (ControlStatus.OK != page.call().status())
        {
            endAs(page.call());
            return 1;
        }
        final TablePage result = page.call().result();
        names.addAll(result.names());
        if (result.hasMore())
        {
            page = namesAfter(names.getLast(), nowNs);
        }
        else
        {
            end(Status.OK, names.stream().filter(request()::mayName).toList(), null);
        }
        return 1;
    }
}
