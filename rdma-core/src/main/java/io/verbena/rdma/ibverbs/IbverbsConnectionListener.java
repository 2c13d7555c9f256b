package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Requests at a service port. */
final class IbverbsConnectionListener implements ConnectionListener
{
    private static final int MAX_BACKLOG = 4096;

    private final ConnectionService service;
    private final int servicePort;
    private final ArrayDeque<IbverbsConnectionRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    IbverbsConnectionListener(final ConnectionService service, final int servicePort)
    {
        this.service = service;
        this.servicePort = servicePort;
    }

    int servicePort()
    {
        return servicePort;
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
        service.listenerClosed(this);
        left.forEach(IbverbsConnectionRequest::rejectUnanswered);
    }
}
