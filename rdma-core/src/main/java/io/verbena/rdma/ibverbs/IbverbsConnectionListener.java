package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Requests at a service port. */
final class IbverbsConnectionListener implements ConnectionListener
{
    private static final int MAX_BACKLOG = 4096;

    private final Consumer<IbverbsConnectionListener> onClosed;
    private final ArrayDeque<IbverbsConnectionRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    /** @param onClosed called once. */
    IbverbsConnectionListener(final Consumer<IbverbsConnectionListener> onClosed)
    {
        this.onClosed = onClosed;
    }

    synchronized boolean offer(final IbverbsConnectionRequest request)
    {
        return !isClosed && requests.size() < MAX_BACKLOG && requests.add(request);
    }

    @Override
    public synchronized ConnectionRequest poll()
    {
        IbverbsConnectionRequest request = requests.poll();
        while (request != null && !request.isWanted())
        {
            request = requests.poll();
        }
        return request;
    }

    @Override
    public void close()
    {
        final List<IbverbsConnectionRequest> left;
        synchronized (this)
        {
            if (isClosed)
            {
                return;
            }
            isClosed = true;
            left = new ArrayList<>(requests);
            requests.clear();
        }
        onClosed.accept(this);
        left.forEach(IbverbsConnectionRequest::rejectUnanswered);
    }
}
