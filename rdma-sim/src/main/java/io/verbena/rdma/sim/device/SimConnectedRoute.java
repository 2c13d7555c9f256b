package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.QueuePairType;

/** RC and UC: to the one peer. UC messages complete when they have left, and may be lost. */
final class SimConnectedRoute extends SimOrderedRoute
{
    private final boolean isReliable;

    SimConnectedRoute(final SimQueuePair queuePair)
    {
        super(queuePair);
        this.isReliable = queuePair.type() == QueuePairType.RC;
    }

    @Override
    public void send(final SimRequest request)
    {
        queuePair().peer();
        super.send(request);
        if (!isReliable && !queuePair().hasRnic())
        {
            queuePair().sends().left(request);
        }
    }

    @Override
    public void cut(final SimDevice peer)
    {
        final SimQueuePair other = queuePair().peer();
        if (other != null && other.device() == peer)
        {
            queuePair().link().cut();
            other.link().cut();
        }
    }

    @Override
    void deliver(final SimRequest request)
    {
        if (request.link == queuePair().link())
        {
            // It may not have been there when the request set out.
            queuePair().peer();
        }
        final SimQueuePair peer = request.link.peer();
        final boolean isLost = !isReliable &&
            SimLoss.isLost(queuePair(), peer, request);
        if (!isLost && (peer == null || !peer.responder().offer(request)))
        {
            queuePair().sends().giveUp(request);
        }
        else if (!isLost)
        {
            queuePair().sends().expireInInit(request, peer);
        }
    }
}
