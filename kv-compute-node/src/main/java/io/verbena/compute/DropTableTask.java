package io.verbena.compute;

import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.TableEntry;
import io.verbena.request.ControlRequest.Status;
import io.verbena.request.ControlRequest;

/**
 * Drops a table at the meta server, and forgets it here. Its memory stays leased: other nodes may still write there.
 */
final class DropTableTask extends ControlTask
{
    private final TableRegistry tables;
    private final ControlCall<TableEntry> call;

    DropTableTask(
        final ControlRequest request, final MetaLink metaLink, final TableRegistry tables, final long nowNs)
    {
        super(request);
        this.tables = tables;
        call = metaLink.client().dropTable(request.tableName(), remainingNs(nowNs));
    }

    @Override
    int poll(final long nowNs)
    {
        if (!call.isDone())
        {
            return 0;
        }
        if (ControlStatus.OK == call.status())
        {
            tables.forget(request().tableName());
            end(Status.OK, null, null);
        }
        else
        {
            endAsChanging(call);
        }
        return 1;
    }

    @Override
    void stop()
    {
        end(Status.OUTCOME_UNKNOWN, null, "node stops");
    }
}
