package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStateful;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;

import java.util.ArrayDeque;

/** Queue of connection requests that have arrived at a service port. */
final class SimConnectionListener implements ConnectionListener, SimConnectionAttempt.Acceptor, SimStateful
{
    private static final byte[] NO_DATA = {};

    private final SimNetwork network;
    private final SimHost host;
    private final int servicePort;
    private final Runnable onClosed;
    private final ArrayDeque<SimConnectionRequest> requests = new ArrayDeque<>();
    private boolean isClosed;

    /** @param onClosed called once. */
    SimConnectionListener(
        final SimNetwork network, final SimHost host, final int servicePort, final Runnable onClosed)
    {
        this.network = network;
        this.host = host;
        this.servicePort = servicePort;
        this.onClosed = onClosed;
        host.childOpened();
        host.addObject(this);
    }

    @Override
    public void offer(final SimConnectionAttempt attempt, final byte[] data)
    {
        final SimConnectionRequest request = new SimConnectionRequest(host, attempt, data);
        requests.add(request);
        network.observer().onShown(host, request.stateHash());
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
            onClosed.run();
            host.removeObject(this);
            host.childClosed();
            requests.forEach(request -> request.reject(NO_DATA));
            requests.clear();
        }
    }
}
