package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.WorkRequest;

/**
 * DC: one connection at a time. A request for another target waits until all before have completed; then the old
 * connection is closed and the new one opened, with the data right behind (half handshake). A connection that is idle
 * for a while is closed too, so that its responder context is free for others.
 */
final class SimDcRoute extends SimOrderedRoute
{
    private static final long IDLE_NS = 10_000;

    private SimDcSession session;
    private long launchCount;

    SimDcRoute(final Owner queuePair)
    {
        super(queuePair);
    }

    @Override
    public boolean mustWait(final WorkRequest posted, final boolean isIdle)
    {
        return !isIdle && session != null &&
            !session.leadsTo(new SimRequest.Destination(
                posted.destination.target(), posted.destinationNumber, posted.destinationKey));
    }

    @Override
    public void send(final SimRequest request)
    {
        launchCount++;
        if (session == null || !session.leadsTo(request.destination))
        {
            end();
            session = new SimDcSession(queuePair().network(), request);
            request.connects = true;
        }
        request.session = session;
        super.send(request);
    }

    @Override
    public void idle()
    {
        if (session != null)
        {
            final long count = launchCount;
            timeline().schedule(
                timeline().nowNs() + IDLE_NS, SimStep.Kind.DISCONNECT, queuePair().host().index(),
                queuePair().number(), choice(count), () ->
                {
                    if (launchCount == count)
                    {
                        end();
                    }
                });
        }
    }

    /** Keeping an idle connection takes a context from others and does nothing else. */
    private SimChoice choice(final long count)
    {
        final SimHost host = queuePair().host();
        return new SimMessage("idle connection", null, host, host, true, () -> launchCount != count);
    }

    @Override
    public void end()
    {
        if (session != null && !queuePair().host().isKilled())
        {
            session.disconnect();
            session = null;
        }
    }

    @Override
    public void killed()
    {
        if (session != null)
        {
            session.abandon();
        }
    }

    @Override
    public void cut(final SimHost peer)
    {
        if (session != null && session.isTo(peer))
        {
            session.cut();
        }
    }

    @Override
    public void describe(final StateWords words)
    {
        super.describe(words);
        words.in(StatePart.DC_CONNECTIONS).accept(session != null);
        if (session != null)
        {
            session.describe(words);
        }
    }

    @Override
    void deliver(final SimRequest request)
    {
        request.session.deliver(request);
    }
}
