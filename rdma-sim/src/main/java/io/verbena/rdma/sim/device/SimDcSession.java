package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimChoice;
import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayDeque;

/**
 * One connection of an initiator to a target. Its first request brings the connect along; the target's device then
 * holds a responder context for it until the disconnect arrives, or the retry time after the initiator died.
 */
final class SimDcSession
{
    private static final long CONTEXT_RETRY_NS = 5_000;

    private final SimQueuePair initiator;
    private final SimFabric fabric;
    private final DeviceAddress destination;
    private final int number;
    private final long accessKey;
    /** Arrived, but there is no responder context yet. */
    private final ArrayDeque<SimRequest> waiting = new ArrayDeque<>();
    private SimDcTarget target;
    private SimResponder responder;
    private boolean isOver;
    private boolean isCut;

    SimDcSession(final SimQueuePair initiator, final SimRequest first)
    {
        this.initiator = initiator;
        this.fabric = initiator.device().fabric();
        this.destination = first.destination;
        this.number = first.destinationNumber;
        this.accessKey = first.destinationKey;
    }

    boolean leadsTo(final DeviceAddress otherDestination, final int otherNumber, final long otherKey)
    {
        return number == otherNumber && accessKey == otherKey && destination.equals(otherDestination) && !isOver;
    }

    boolean isTo(final SimDevice device)
    {
        return device.address().equals(destination);
    }

    boolean isCut()
    {
        return isCut;
    }

    void cut()
    {
        isCut = true;
    }

    SimResponder responder()
    {
        return responder;
    }

    /** Initiator: adds where this leads and what waits for it. */
    void describe(final StateWords words)
    {
        words.accept(destination);
        words.accept(number);
        words.accept(accessKey);
        words.accept((isOver ? 1 : 0) | (isCut ? 2 : 0) | (responder == null ? 4 : 0));
        words.accept(waiting.size());
        waiting.forEach(request -> request.describe(words));
    }

    /** Target: adds whom this serves and what has arrived. */
    void describeServed(final StateWords words)
    {
        words.accept((long)initiator.device().index() << 32 | initiator.number());
        words.accept(isCut);
        responder.describe(words);
    }

    /** A request has come to the target's device. */
    void deliver(final SimRequest request)
    {
        if (isOver || isCut)
        {
            initiator.sends().giveUp(request);
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
        final long delayNs = fabric.drawDelayNs(initiator.device(), initiator.number(), SimQueuePair.CONNECT);
        after(initiator.hasRnic() ? initiator.device().rnic().controlNs() : delayNs, this::release);
    }

    /** The initiator died: its context stays until the target's timer runs out. */
    void abandon()
    {
        after(fabric.options().retryTimeoutNs(), this::release);
    }

    /** Target: nothing comes through any more. */
    void release()
    {
        isOver = true;
        if (responder != null)
        {
            final SimResponder old = responder;
            responder = null;
            target.device().releaseDcContext();
            target.sessionOver(this);
            old.dropAll();
        }
        waiting.forEach(initiator.sends()::giveUp);
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
        final SimDevice device = fabric.find(destination);
        final SimDcTarget found = device == null || device.isKilled() ? null : device.findDcTarget(number);
        if (found == null)
        {
            release();
        }
        else if (!found.isKey(accessKey))
        {
            isOver = true;
            waiting.remove();
            initiator.sends().respond(first, WorkCompletionStatus.REM_ACCESS_ERR);
            waiting.clear();
        }
        else if (device.takeDcContext())
        {
            target = found;
            responder = new SimResponder(found);
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
        return retryNs != RetryTimers.NEVER_NS && fabric.nowNs() - request.launchedNs >= retryNs;
    }

    private void offer(final SimRequest request)
    {
        if (responder == null || !responder.offer(request))
        {
            initiator.sends().giveUp(request);
        }
    }

    private void after(final long delayNs, final Runnable action)
    {
        fabric.schedule(
            fabric.nowNs() + delayNs, SimStep.Kind.DISCONNECT, initiator.device().index(), initiator.number(),
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
            "disconnect before", responder.inbound().get(0), initiator.device(), target.device(), false,
            () -> responder == null || responder.inbound().isEmpty());
    }
}
