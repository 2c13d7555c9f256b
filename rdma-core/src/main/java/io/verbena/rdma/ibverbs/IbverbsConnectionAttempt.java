package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.Executor;

/** The requesting side. Decided once, under its monitor: by the service's thread, or by the owner when time is over. */
final class IbverbsConnectionAttempt implements ConnectionAttempt, ConnectionChannel.Requester, IbverbsQueuePair.Attempt
{
    private static final byte[] NO_DATA = {};

    private final IbverbsQueuePair queuePair;
    private final Executor service;
    private final int accessFlags;
    private final long deadlineNs;
    private final int psn = ConnectionMessage.newPsn();
    private State state = State.PENDING;
    private byte[] privateData = NO_DATA;
    private ConnectionChannel channel;

    /** @param service runs what has to be done on the thread of the connection service. */
    IbverbsConnectionAttempt(
        final IbverbsQueuePair queuePair, final Executor service, final int accessFlags, final long deadlineNs)
    {
        this.service = service;
        this.queuePair = queuePair;
        this.accessFlags = accessFlags;
        this.deadlineNs = deadlineNs;
    }

    ConnectionMessage request(final int servicePort, final byte[] data)
    {
        final DeviceContext device = queuePair.device();
        return new ConnectionMessage(
            ConnectionMessage.REQUEST, servicePort, queuePair.number(), psn, device.query().mtu(),
            queuePair.maxReadAtomic(), device.address(), data);
    }

    @Override
    public ConnectionMessage ready()
    {
        return new ConnectionMessage(
            ConnectionMessage.READY, 0, 0, 0, queuePair.device().query().mtu(), 0, new DeviceAddress(0, 0), NO_DATA);
    }

    /** Service: remembered so that giving up closes it; closed at once when that has happened. */
    void channel(final ConnectionChannel connection)
    {
        final boolean isOver;
        synchronized (this)
        {
            channel = connection;
            isOver = state != State.PENDING;
        }
        if (isOver)
        {
            service.execute(connection::close);
        }
    }

    @Override
    public synchronized boolean onAccepted(final ConnectionMessage answer)
    {
        if (state != State.PENDING)
        {
            return false;
        }
        try
        {
            queuePair.establish(answer, psn, accessFlags);
        }
        catch (final RdmaException ex)
        {
            // Closed meanwhile, or the device refuses the peer's address.
            state = State.UNREACHABLE;
            return false;
        }
        privateData = answer.privateData();
        state = State.ESTABLISHED;
        return true;
    }

    @Override
    public synchronized void fail(final State outcome, final byte[] data)
    {
        if (state == State.PENDING)
        {
            state = outcome;
            privateData = data;
        }
    }

    @Override
    public void cancel()
    {
        giveUp();
    }

    @Override
    public State poll()
    {
        final State now;
        synchronized (this)
        {
            now = state;
        }
        if (now == State.PENDING && SystemNanoClock.INSTANCE.nanoTime() - deadlineNs >= 0)
        {
            giveUp();
            return poll();
        }
        if (now != State.PENDING && now != State.ESTABLISHED)
        {
            queuePair.toReset(this);
        }
        return now;
    }

    @Override
    public synchronized byte[] privateData()
    {
        return privateData;
    }

    private void giveUp()
    {
        final ConnectionChannel open;
        synchronized (this)
        {
            if (state != State.PENDING)
            {
                return;
            }
            state = State.TIMED_OUT;
            open = channel;
        }
        if (open != null)
        {
            service.execute(open::close);
        }
    }
}
