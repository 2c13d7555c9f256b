package io.verbena.client.routing;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationRequest;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A compute node that does with each request, at once and in the submitter's thread, what the test says. */
final class StubNode implements ComputeEndpoint
{
    private final int id;
    private final List<NodeRequest> seen = new CopyOnWriteArrayList<>();
    private volatile Consumer<OperationRequest> onOperation;
    private volatile Consumer<ControlRequest> onControl;
    private volatile int status = ACCEPTED;

    StubNode(final int id)
    {
        this.id = id;
    }

    StubNode onOperation(final Consumer<OperationRequest> onOperation)
    {
        this.onOperation = onOperation;
        return this;
    }

    StubNode onControl(final Consumer<ControlRequest> onControl)
    {
        this.onControl = onControl;
        return this;
    }

    StubNode refusing(final int status)
    {
        this.status = status;
        return this;
    }

    List<NodeRequest> seen()
    {
        return seen;
    }

    @Override
    public int id()
    {
        return id;
    }

    @Override
    public int submit(final NodeRequest request)
    {
        request.queue();
        if (ACCEPTED != status)
        {
            if (FULL == status || NESTED == status)
            {
                request.unqueue();
            }
            else
            {
                request.withdraw();
            }
            return status;
        }
        seen.add(request);
        if (request instanceof final OperationRequest operation)
        {
            onOperation.accept(operation);
        }
        else
        {
            onControl.accept((ControlRequest)request);
        }
        return ACCEPTED;
    }
}
