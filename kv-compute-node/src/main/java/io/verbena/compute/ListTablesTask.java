package io.verbena.compute;

import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.TablePage;
import io.verbena.request.ControlRequest.Status;
import io.verbena.request.ControlRequest;

import java.util.ArrayList;
import java.util.List;

/** Lists the tables, page by page. */
final class ListTablesTask extends ControlTask
{
    private final MetaLink metaLink;
    private final List<String> names = new ArrayList<>();
    private ControlCall<TablePage> call;

    ListTablesTask(final ControlRequest request, final MetaLink metaLink, final long nowNs)
    {
        super(request);
        this.metaLink = metaLink;
        call = metaLink.client().tables("", remainingNs(nowNs));
    }

    @Override
    int poll(final long nowNs)
    {
        if (!call.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK != call.status())
        {
            endAs(call);
            return 1;
        }
        final TablePage page = call.result();
        names.addAll(page.names());
        if (page.hasMore())
        {
            call = metaLink.client().tables(names.getLast(), remainingNs(nowNs));
        }
        else
        {
            end(Status.OK, List.copyOf(names), null);
        }
        return 1;
    }

    @Override
    void stop()
    {
        end(Status.NOT_SERVING, null, "node stops");
    }
}
