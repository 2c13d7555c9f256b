package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;

/** Answers to requests that no node has begun. */
final class Refusals
{
    private Refusals()
    {
    }

    /** Answers that another node may take it; a request that was withdrawn meanwhile stays as it is. */
    static void refuse(final NodeRequest request, final String detail)
    {
        if (NodeRequest.IDLE == request.state())
        {
            request.queue(); // it goes through the same steps as one that an endpoint has taken
        }
        if (request.start())
        {
            answer(request, OperationAnswer.NOT_SERVING, ControlRequest.Status.NOT_SERVING, detail);
        }
    }

    /** Answers a request that the caller owns. */
    static void answer(
        final NodeRequest request, final OperationAnswer forOperations, final ControlRequest.Status forControl,
        final String detail)
    {
        if (request instanceof final OperationRequest operation)
        {
            operation.answer(forOperations, null, 0, detail);
        }
        else
        {
            ((ControlRequest)request).answer(forControl, null, detail);
        }
        request.complete();
    }
}
