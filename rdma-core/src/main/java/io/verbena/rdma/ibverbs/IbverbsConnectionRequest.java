package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.Executor;

/** The answering side. Until the peer says that it is ready, its silence takes the accepted queue pair to ERR. */
final class IbverbsConnectionRequest implements ConnectionRequest, ConnectionChannel.Responder
{
    private final DeviceContext device;
    private final Executor service;
    private final ConnectionChannel channel;
    private final ConnectionMessage message;
    private boolean isAnswered;
    private boolean isPeerGone;
    private boolean isReady;
    private IbverbsQueuePair accepted;

    IbverbsConnectionRequest(
        final DeviceContext device,
        final Executor service,
        final ConnectionChannel channel,
        final ConnectionMessage message)
    {
        this.device = device;
        this.service = service;
        this.channel = channel;
        this.message = message;
    }

    synchronized boolean isWanted()
    {
        return !isPeerGone;
    }

    @Override
    public byte[] privateData()
    {
        return message.privateData().clone();
    }

    @Override
    public DeviceAddress source()
    {
        return message.source();
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        own(queuePair).openForConnection(0);
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] privateData)
    {
        DeviceContext.checkRange("privateData", privateData.length, 0, MAX_PRIVATE_DATA_BYTES);
        DeviceContext.checkAccessFlags(accessFlags);
        final IbverbsQueuePair own = own(queuePair);
        synchronized (this)
        {
            answered();
            if (own.state() == QueuePairState.RESET)
            {
                own.openForConnection(accessFlags);
            }
            if (isPeerGone)
            {
                own.moveToError();
                return;
            }
            final int psn = ConnectionMessage.newPsn();
            own.establish(message, psn, accessFlags);
            accepted = own;
            final ConnectionMessage answer = answer(
                ConnectionMessage.ACCEPT, own.number(), psn, own.maxReadAtomic(), privateData.clone());
            service.execute(() -> channel.send(answer, false));
        }
    }

    @Override
    public void reject(final byte[] privateData)
    {
        DeviceContext.checkRange("privateData", privateData.length, 0, MAX_PRIVATE_DATA_BYTES);
        synchronized (this)
        {
            answered();
        }
        final ConnectionMessage answer = answer(ConnectionMessage.REJECT, 0, 0, 0, privateData.clone());
        service.execute(() -> channel.send(answer, true));
    }

    /** The listener closes: rejects, unless it was answered. */
    void rejectUnanswered()
    {
        synchronized (this)
        {
            if (isAnswered)
            {
                return;
            }
        }
        reject(new byte[0]);
    }

    ConnectionMessage answer(
        final int kind, final int number, final int psn, final int maxReadAtomic, final byte[] data)
    {
        return new ConnectionMessage(
            kind, message.servicePort(), number, psn, device.query().mtu(), maxReadAtomic, device.address(), data);
    }

    @Override
    public synchronized void onReady()
    {
        isReady = true;
    }

    @Override
    public void onPeerGone()
    {
        final IbverbsQueuePair left;
        synchronized (this)
        {
            isPeerGone = true;
            left = isReady ? null : accepted;
        }
        if (left != null)
        {
            left.moveToError();
        }
    }

    private void answered()
    {
        if (isAnswered)
        {
            throw new RdmaException("the connection request was answered before: source=" + source());
        }
        isAnswered = true;
    }

    private IbverbsQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof final IbverbsQueuePair own && own.device() == device)
        {
            return own;
        }
        throw new RdmaException("the queue pair is not of the device that listens: " + queuePair);
    }
}
