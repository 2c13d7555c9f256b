package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.sim.schedule.SplitMix;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.Arrays;

/** The connecting side; request and answer are steps of the timeline. */
final class SimConnectionAttempt implements ConnectionAttempt, SimQueuePair.Attempt
{
    /** Listens at a service port. */
    interface Acceptor
    {
        void offer(SimConnectionAttempt attempt, byte[] data);
    }

    /** Who listens. */
    interface Acceptors
    {
        /** Null when nobody listens there. */
        Acceptor at(SimHost host, int servicePort);
    }

    private static final byte[] NO_DATA = {};

    private final SimQueuePair queuePair;
    private final int accessFlags;
    private final SimNetwork network;
    private final SimTimeline timeline;
    private final long deadlineNs;
    private State state = State.PENDING;
    private byte[] privateData = NO_DATA;

    SimConnectionAttempt(
        final SimQueuePair queuePair, final int accessFlags, final long deadlineNs)
    {
        this.queuePair = queuePair;
        this.accessFlags = accessFlags;
        this.network = queuePair.network();
        this.timeline = network.timeline();
        this.deadlineNs = deadlineNs;
    }

    SimQueuePair queuePair()
    {
        return queuePair;
    }

    @Override
    public long stateHash()
    {
        return SplitMix.mix((long)state.ordinal() << 32 ^ Arrays.hashCode(privateData));
    }

    @Override
    public State poll()
    {
        if (state == State.PENDING && timeline.nowNs() - deadlineNs >= 0)
        {
            fail(State.TIMED_OUT, NO_DATA);
        }
        return state;
    }

    @Override
    public byte[] privateData()
    {
        return privateData;
    }

    void send(final DeviceAddress target, final int servicePort, final Acceptors acceptors, final byte[] data)
    {
        schedule(SimStep.Kind.CONNECT, queuePair.host(), () ->
        {
            final SimHost host = network.find(target);
            if (host != null && host.isKilled() || queuePair.host().isKilled())
            {
                return;
            }
            final Acceptor listener = host == null ? null : acceptors.at(host, servicePort);
            if (listener == null)
            {
                schedule(SimStep.Kind.ANSWER, queuePair.host(), () -> fail(State.UNREACHABLE, NO_DATA));
            }
            else
            {
                listener.offer(this, data);
            }
        });
    }

    /** Acceptor: sends its answer; no queue pair means rejected. */
    void answer(final SimHost from, final SimQueuePair accepted, final byte[] data)
    {
        schedule(SimStep.Kind.ANSWER, from, () ->
        {
            if (queuePair.host().isKilled())
            {
                return;
            }
            if (accepted == null)
            {
                fail(State.REJECTED, data);
            }
            else if (state == State.PENDING)
            {
                privateData = data;
                state = State.ESTABLISHED;
                network.observer().onShown(queuePair.host(), stateHash());
                queuePair.establish(accepted, accessFlags);
            }
            else
            {
                // Nobody takes the connection any more: the acceptor learns it, as by a reject message.
                schedule(SimStep.Kind.ANSWER, queuePair.host(), accepted::moveToError);
            }
        });
    }

    @Override
    public void cancel()
    {
        if (state == State.PENDING)
        {
            state = State.TIMED_OUT;
        }
    }

    private void fail(final State outcome, final byte[] data)
    {
        if (state == State.PENDING)
        {
            state = outcome;
            privateData = data;
            network.observer().onShown(queuePair.host(), stateHash());
            queuePair.toReset(this);
        }
    }

    private void schedule(final SimStep.Kind kind, final SimHost from, final Runnable action)
    {
        timeline.schedule(
            timeline.nowNs() + timeline.drawDelayNs(queuePair.host(), queuePair.number(), SimRequest.CONNECT),
            kind,
            from.index(),
            queuePair.number(),
            action);
    }
}
