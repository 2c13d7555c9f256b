package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;

/** Queue of connection requests that have arrived at a service port. */
final class SimConnectionListener implements ConnectionListener, SimStateful
{
    private static final byte[] NO_DATA = {};

    private final SimDevice device;
    private final int servicePort;
    private final ArrayDeque<SimConnectionRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    SimConnectionListener(final SimDevice device, final int servicePort)
    {
        this.device = device;
        this.servicePort = servicePort;
    }

    int servicePort()
    {
        return servicePort;
    }

    void offer(final SimConnectionRequest request)
    {
        requests.add(request);
        device.fabric().observer().onShown(device, request.stateHash());
    }

    @Override
    public void describe(final StateWords words)
    {
        words.in(StatePart.CONNECTIONS).accept(servicePort);
        words.accept(requests.size());
        requests.forEach(request -> words.accept(request.stateHash()));
    }

    @Override
    public ConnectionRequest poll()
    {
        return requests.poll();
    }

    @Override
    public void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            device.listenerClosed(this);
            requests.forEach(request -> request.reject(NO_DATA));
            requests.clear();
        }
    }
}
