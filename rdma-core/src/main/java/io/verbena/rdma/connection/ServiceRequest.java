package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;

/** The answering side. Until the peer says that it is ready, its silence takes the accepted queue pair to ERR. */
final class ServiceRequest implements ConnectionRequest, ConnectionChannel.Responder
{
    private final ConnectionDevice device;
    private final Executor service;
    private final ConnectionChannel channel;
    private final ConnectionMessage message;
    /** Null of a request in clear. */
    private final ConnectionProof proof;
    /** Of what the peer says when it is ready; null until it was accepted, and in clear. Guarded by this. */
    private ConnectionProof ofReady;
    private boolean isAnswered;
    private boolean isPeerGone;
    private boolean isReady;
    private ConnectableQueuePair accepted;

    ServiceRequest(
        final ConnectionDevice device,
        final Executor service,
        final ConnectionChannel channel,
        final ConnectionMessage message)
    {
        this.device = device;
        this.service = service;
        this.channel = channel;
        this.message = message;
        proof = message.isProved() && device.secret() != null ? ConnectionProof.of(device.secret(), message) : null;
    }

    /** Why a peer gets no connection, because of the secret of this device; null where it may get one. */
    String refusal()
    {
        final ConnectionSecret secret = device.secret();
        if (secret == null)
        {
            return message.isProved() ?
                "packets are in clear there, and sealed here: give both ends encrypt=KEYFILE, or neither" : null;
        }
        if (!message.isProved())
        {
            return device.isClearAccepted() ? null :
                "only sealed packets are taken there: give encrypt=KEYFILE with the key of that end";
        }
        return ConnectionProof.isProved(secret, message) ? null :
            "the key of that end is another one: give both ends the same encrypt=KEYFILE";
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
    public int queuePairNumber()
    {
        return message.queuePairNumber();
    }

    /** A request with a proof was refused before anybody saw it, unless it is one of the secret. */
    @Override
    public ConnectionRequest.PacketSeal packetSeal()
    {
        return proof == null ? null : device.secret().seal();
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        device.own(queuePair).openForConnection(0);
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] privateData)
    {
        ConnectionRules.checkPrivateData(privateData);
        ConnectionRules.checkAccessFlags(accessFlags);
        final ConnectableQueuePair own = device.own(queuePair);
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
            final int psn = ConnectionRules.newPsn(device);
            final int mtu = device.mtu(source());
            final ConnectionMessage answer = sealed(new ConnectionMessage(ConnectionMessage.ACCEPT,
                message.servicePort(), own.number(), psn, mtu, own.maxReadAtomic(), device.address(own),
                privateData.clone()));
            if (device.secret() != null)
            {
                own.seal(proof == null ? null : proof.keys(answer, false));
            }
            ofReady = proof == null ? null : proof.after(answer);
            own.establish(message, psn, Math.min(mtu, message.mtu()), accessFlags);
            accepted = own;
            service.execute(() -> channel.send(answer, false));
        }
    }

    @Override
    public void reject(final byte[] privateData)
    {
        ConnectionRules.checkPrivateData(privateData);
        synchronized (this)
        {
            answered();
        }
        refuse(ConnectionMessage.REJECT, privateData.clone());
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

    /** Answers with what ends the connection. */
    void refuse(final int kind, final byte[] data)
    {
        final ConnectionMessage answer = new ConnectionMessage(
            kind, message.servicePort(), 0, 0, device.mtu(source()), 0, device.address(), data);
        service.execute(() -> channel.send(sealed(answer), true));
    }

    /** Answers a peer that cannot know what this end would prove. */
    void refuseInClear(final String reason)
    {
        final ConnectionMessage answer = new ConnectionMessage(ConnectionMessage.UNREACHABLE, message.servicePort(),
            0, 0, device.mtu(source()), 0, device.address(), reason.getBytes(StandardCharsets.US_ASCII));
        service.execute(() -> channel.send(answer, true));
    }

    private ConnectionMessage sealed(final ConnectionMessage answer)
    {
        return proof == null ? answer : proof.sealed(device, answer);
    }

    /** What the peer says next is of this exchange: it has the answer. */
    @Override
    public synchronized boolean takes(final ConnectionMessage next)
    {
        return proof == null || ofReady != null && ofReady.isAuthentic(next);
    }

    @Override
    public synchronized void onReady()
    {
        isReady = true;
    }

    @Override
    public void onPeerGone()
    {
        final ConnectableQueuePair left;
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
}
