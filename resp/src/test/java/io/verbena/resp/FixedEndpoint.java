package io.verbena.resp;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;

/** A node that finds the same value everywhere, stores nothing, and allocates nothing. By the submitter's thread. */
final class FixedEndpoint implements ComputeEndpoint
{
    static final int VALUE_BYTES = 100;

    @Override
    public int id()
    {
        return 1;
    }

    @Override
    public int submit(final NodeRequest request)
    {
        request.queue();
        request.start();
        if (request instanceof final ControlRequest control)
        {
            control.answer(ControlRequest.Status.OK, new TableReference(control.tableName(), 1), null);
        }
        else
        {
            answer((OperationRequest)request);
        }
        request.complete();
        return ACCEPTED;
    }

    private static void answer(final OperationRequest request)
    {
        if (RequestKind.GET == request.kind())
        {
            request.answer(OperationAnswer.FOUND, request.arrayFor(VALUE_BYTES), VALUE_BYTES, 1, null);
        }
        else
        {
            request.answer(OperationAnswer.STORED, null, 0, 2, null);
        }
    }
}
