package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayDeque;

/**
 * One connection of an initiator to a target. Its first request brings the connect along; the target's device then
 * holds a responder context for it until the disconnect arrives, or the retry time after the initiator died.
 */
final class SimDcSession implements SimRequest.Session, SimDcTarget.Session
{
    private static final long CONTEXT_RETRY_NS = 5_000;

    private final SimNetwork network;
    private final SimTimeline timeline;
    private final SimRequest.Requester initiator;
    private final SimRequest.Destination destination;
    /** Arrived, but there is no responder context yet. */
    private final ArrayDeque<SimRequest> waiting = new ArrayDeque<>();
    private SimDcTarget target;
    private SimResponder responder;
    private boolean isOver;
    private boolean isCut;

    SimDcSession(final SimNetwork network, final SimRequest first)
    {
        this.network = network;
        this.timeline = network.timeline();
        this.initiator = first.requester;
        this.destination = first.destination;
    }

    boolean leadsTo(final SimRequest.Destination other)
    {
        return destination.equals(other) && !isOver;
    }

    boolean isTo(final SimHost host)
    {
        return host.address().equals(destination.device());
    }

    @Override
    public boolean isCut()
    {
        return isCut;
    }

    void cut()
    {
        isCut = true;
    }

    /** Initiator: adds where this leads and what waits for it. */
    void describe(final StateWords words)
    {
        words.accept(destination.device());
        words.accept(destination.number());
        words.accept(destination.accessKey());
        words.accept((isOver ? 1 : 0) | (isCut ? 2 : 0) | (responder == null ? 4 : 0));
        words.accept(waiting.size());
        waiting.forEach(request -> request.describe(words));
    }

    @Override
    public void describeServed(final StateWords words)
    {
        words.accept((long)initiator.host().index() << 32 | initiator.number());
        words.accept(isCut);
        responder.describe(words);
    }

    @Override
    public void deliver(final SimRequest request)
    {
        if (isOver || isCut)
        {
            initiator.giveUp(request);
        }
        else if (responder != null)
        {
            offer(request);
        }
        else
        {
            waiting.add(request);
            if (waiting.size() == 1)
            {
                connect();
            }
        }
    }

    /** Initiator: the connection is not needed any more. */
    void disconnect()
    {
        final long delayNs = timeline.drawDelayNs(initiator.host(), initiator.number(), SimRequest.CONNECT);
        final Rnic rnic = network.rnic(initiator.host());
        after(rnic != null ? rnic.controlNs() : delayNs, this::release);
    }

    /** The initiator died: its context stays until the target's timer runs out. */
    void abandon()
    {
        after(timeline.options().retryTimeoutNs(), this::release);
    }

    /** Target: nothing comes through any more. */
    @Override
    public void release()
    {
        isOver = true;
        if (responder != null)
        {
            final SimResponder old = responder;
            responder = null;
            target.host().releaseDcContext();
            target.sessionOver(this);
            old.dropAll();
        }
        waiting.forEach(initiator::giveUp);
        waiting.clear();
    }

    private void connect()
    {
        final SimRequest first = waiting.peek();
        if (isOver || isCut || first == null)
        {
            release();
            return;
        }
        final SimHost host = network.find(destination.device());
        final SimDcTarget found =
            host == null || host.isKilled() ? null : network.dcTarget(host, destination.number());
        if (found == null)
        {
            release();
        }
        else if (!found.isKey(destination.accessKey()))
        {
            network.observer().onShown(host, found.accessKeyViolations());
            isOver = true;
            waiting.remove();
            initiator.respond(first, WorkCompletionStatus.REM_ACCESS_ERR);
            waiting.clear();
        }
        else if (host.takeDcContext())
        {
            target = found;
            responder = new SimResponder(network, found, status -> release());
            found.sessionOpen(this);
            waiting.forEach(this::offer);
            waiting.clear();
        }
        else if (isExpired(first))
        {
            release();
        }
        else
        {
            after(CONTEXT_RETRY_NS + initiator.decide(SimDecision.LINGER_NS, CONTEXT_RETRY_NS), this::connect);
        }
    }

    private boolean isExpired(final SimRequest request)
    {
        final long retryNs = initiator.retryTimeNs();
        return retryNs != RetryTimers.NEVER_NS && timeline.nowNs() - request.launch.timeNs() >= retryNs;
    }

    private void offer(final SimRequest request)
    {
        if (responder == null || !responder.offer(request))
        {
            initiator.giveUp(request);
        }
    }

    private void after(final long delayNs, final Runnable action)
    {
        timeline.schedule(
            timeline.nowNs() + delayNs, SimStep.Kind.DISCONNECT, initiator.host().index(), initiator.number(),
            choice(), action);
    }

    /** What has arrived may execute before the disconnect does, or not. */
    private SimChoice choice()
    {
        if (responder == null || responder.inbound().isEmpty())
        {
            return null;
        }
        return new SimMessage(
            "disconnect before", responder.inbound().get(0), initiator.host(), target.host(), false,
            () -> responder == null || responder.inbound().isEmpty());
    }
}
