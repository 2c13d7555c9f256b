package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.QueuePairType;

/** RC and UC: to the one peer. UC messages complete when they have left, and may be lost. */
final class SimConnectedRoute extends SimOrderedRoute
{
    private final boolean isReliable;

    SimConnectedRoute(final Owner queuePair)
    {
        super(queuePair);
        this.isReliable = queuePair.type() == QueuePairType.RC;
    }

    @Override
    public void send(final SimRequest request)
    {
        queuePair().peer();
        super.send(request);
        if (!isReliable && !hasRnic())
        {
            queuePair().left(request);
        }
    }

    @Override
    public void cut(final SimHost peer)
    {
        final SimLink.Peer other = queuePair().peer();
        if (other != null && other.host() == peer)
        {
            queuePair().link().cut();
            other.link().cut();
        }
    }

    @Override
    void deliver(final SimRequest request)
    {
        if (request.connection == queuePair().link())
        {
            // It may not have been there when the request set out.
            queuePair().peer();
        }
        final SimRequest.Executor peer = request.connection.executor();
        final boolean isLost = !isReliable && SimLoss.isLost(queuePair(), queuePair().pathMtuBytes(), request);
        if (!isLost && (peer == null || !peer.offer(request)))
        {
            queuePair().giveUp(request);
        }
        else if (!isLost)
        {
            queuePair().expireInInit(request);
        }
    }
}
