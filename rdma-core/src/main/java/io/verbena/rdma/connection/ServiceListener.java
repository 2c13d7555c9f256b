package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Requests at a service port. */
final class ServiceListener implements ConnectionListener
{
    private static final int MAX_BACKLOG = 4096;

    private final Runnable onRequest;
    private final Consumer<ServiceListener> onClosed;
    private final ArrayDeque<ServiceRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    /**
     * @param onRequest called for each request, by the service's thread.
     * @param onClosed  called once.
     */
    ServiceListener(final Runnable onRequest, final Consumer<ServiceListener> onClosed)
    {
        this.onRequest = onRequest;
        this.onClosed = onClosed;
    }

    boolean offer(final ServiceRequest request)
    {
        synchronized (this)
        {
            if (isClosed || requests.size() == MAX_BACKLOG)
            {
                return false;
            }
            requests.add(request);
        }
        onRequest.run();
        return true;
    }

    @Override
    public synchronized ConnectionRequest poll()
    {
        ServiceRequest request = requests.poll();
        while (request != null && !request.isWanted())
        {
            request = requests.poll();
        }
        return request;
    }

    @Override
    public void close()
    {
        final List<ServiceRequest> left;
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
        left.forEach(ServiceRequest::rejectUnanswered);
    }
}
