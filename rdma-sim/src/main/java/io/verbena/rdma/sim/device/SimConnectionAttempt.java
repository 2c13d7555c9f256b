package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SplitMix;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.Arrays;

/** The connecting side; request and answer are steps of the fabric. */
final class SimConnectionAttempt implements ConnectionAttempt
{
    private static final byte[] NO_DATA = {};

    private final SimQueuePair queuePair;
    private final int accessFlags;
    private final SimFabric fabric;
    private final long deadlineNs;
    private State state = State.PENDING;
    private byte[] privateData = NO_DATA;

    SimConnectionAttempt(
        final SimQueuePair queuePair, final int accessFlags, final SimFabric fabric, final long deadlineNs)
    {
        this.queuePair = queuePair;
        this.accessFlags = accessFlags;
        this.fabric = fabric;
        this.deadlineNs = deadlineNs;
    }

    SimQueuePair queuePair()
    {
        return queuePair;
    }

    /** Of the outcome. */
    long stateHash()
    {
        return SplitMix.mix((long)state.ordinal() << 32 ^ Arrays.hashCode(privateData));
    }

    @Override
    public State poll()
    {
        if (state == State.PENDING && fabric.nowNs() - deadlineNs >= 0)
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

    void send(final DeviceAddress target, final int servicePort, final byte[] data)
    {
        schedule(SimStep.Kind.CONNECT, queuePair.device(), () ->
        {
            final SimDevice device = fabric.find(target);
            if (device != null && device.isKilled() || queuePair.device().isKilled())
            {
                return;
            }
            final SimConnectionListener listener = device == null ? null : device.listener(servicePort);
            if (listener == null)
            {
                schedule(SimStep.Kind.ANSWER, queuePair.device(), () -> fail(State.UNREACHABLE, NO_DATA));
            }
            else
            {
                listener.offer(new SimConnectionRequest(device, this, data));
            }
        });
    }

    /** Acceptor: sends its answer; no queue pair means rejected. */
    void answer(final SimDevice from, final SimQueuePair accepted, final byte[] data)
    {
        schedule(SimStep.Kind.ANSWER, from, () ->
        {
            if (queuePair.device().isKilled())
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
                fabric.observer().onShown(queuePair.device(), stateHash());
                queuePair.establish(accepted, accessFlags);
            }
            else
            {
                // Nobody takes the connection any more: the acceptor is told, as by a reject message.
                schedule(SimStep.Kind.ANSWER, queuePair.device(), accepted::moveToError);
            }
        });
    }

    /** The queue pair is being closed. */
    void cancel()
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
            fabric.observer().onShown(queuePair.device(), stateHash());
            queuePair.toReset(this);
        }
    }

    private void schedule(final SimStep.Kind kind, final SimDevice from, final Runnable action)
    {
        fabric.schedule(
            fabric.nowNs() + fabric.drawDelayNs(queuePair.device(), queuePair.number(), SimQueuePair.CONNECT),
            kind,
            from.index(),
            queuePair.number(),
            action);
    }
}
