package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;

/** Queue of connection requests at a service port. Not on any hot path, so a monitor guards it. */
final class SoftConnectionListener implements ConnectionListener
{
    private static final byte[] NO_DATA = {};
    /** Requests not handed out; more are turned away, as a full backlog does. */
    private static final int MAX_BACKLOG = 4096;

    private final SoftDevice device;
    private final int servicePort;
    private final ArrayDeque<SoftConnectionRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    SoftConnectionListener(final SoftDevice device, final int servicePort)
    {
        this.device = device;
        this.servicePort = servicePort;
    }

    int servicePort()
    {
        return servicePort;
    }

    synchronized boolean offer(final SoftConnectionRequest request)
    {
        if (isClosed || requests.size() == MAX_BACKLOG)
        {
            return false;
        }
        requests.add(request);
        return true;
    }

    @Override
    public synchronized ConnectionRequest poll()
    {
        SoftConnectionRequest request = requests.poll();
        while (request != null && !request.isWanted())
        {
            request = requests.poll();
        }
        return request;
    }

    @Override
    public void close()
    {
        synchronized (this)
        {
            if (isClosed)
            {
                return;
            }
            isClosed = true;
        }
        device.listenerClosed(this);
        for (final SoftConnectionRequest request : requests)
        {
            request.reject(NO_DATA);
        }
    }
}
