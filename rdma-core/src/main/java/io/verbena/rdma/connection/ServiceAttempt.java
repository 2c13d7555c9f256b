package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The requesting side. Decided once, under its monitor: by the service's thread, or by the owner when time is over. */
final class ServiceAttempt implements ConnectionAttempt, ConnectionChannel.Requester, ConnectableQueuePair.Attempt
{
    /** How long packets are sent to a peer that has accepted, until its UDP port counts as closed. */
    private static final long CHECK_PATIENCE_NS = TimeUnit.SECONDS.toNanos(3);
    /** When time is over the owner gives up; this long afterwards an owner that does not ask any more. */
    private static final long ABANDONED_NS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] NO_DATA = {};

    private final ConnectionDevice device;
    private final ConnectableQueuePair queuePair;
    private final DeviceAddress target;
    private final Executor service;
    private final int accessFlags;
    private final int psn;
    private final int mtu;
    private final long begunNs = SystemNanoClock.INSTANCE.nanoTime();
    private final long deadlineNs;
    private State state = State.PENDING;
    private byte[] privateData = NO_DATA;
    private String problem = "";
    private ConnectionChannel channel;
    private boolean isConnected;
    private ConnectionMessage accepted;
    private long acceptedNs;
    private PathCheck check;
    /** Null in clear; since the request. */
    private ConnectionProof proof;

    /** @param service runs what has to be done on the thread of the connection service. */
    ServiceAttempt(
        final ConnectionDevice device,
        final ConnectableQueuePair queuePair,
        final DeviceAddress target,
        final Executor service,
        final int accessFlags,
        final long timeoutNs)
    {
        this.device = device;
        this.queuePair = queuePair;
        this.target = target;
        this.service = service;
        this.accessFlags = accessFlags;
        psn = ConnectionRules.newPsn(device);
        mtu = device.mtu(target);
        deadlineNs = begunNs + timeoutNs;
    }

    ConnectionMessage request(final int servicePort, final byte[] data)
    {
        final ConnectionMessage request = new ConnectionMessage(ConnectionMessage.REQUEST, servicePort,
            queuePair.number(), psn, mtu, queuePair.maxReadAtomic(), device.address(queuePair), data);
        if (device.secret() == null)
        {
            return request;
        }
        final ConnectionMessage sealed = ConnectionProof.request(device.secret(), device, request);
        proof = ConnectionProof.of(device.secret(), sealed);
        return sealed;
    }

    @Override
    public boolean takes(final ConnectionMessage answer)
    {
        final boolean isTaken = proof == null ? !answer.isProved() : proof.isAuthentic(answer);
        if (!isTaken)
        {
            onRefused("an answer that does not prove the key of this end");
        }
        return isTaken;
    }

    private void onRefused(final String problem)
    {
        device.onRefused(ServiceLocator.inetAddress(target.gidHigh(), target.gidLow()), problem);
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
    public synchronized void onConnected()
    {
        isConnected = true;
    }

    @Override
    public void onAccepted(final ConnectionMessage answer)
    {
        synchronized (this)
        {
            if (state == State.PENDING && accepted == null)
            {
                accept(answer);
            }
        }
        conclude(false);
    }

    private void accept(final ConnectionMessage answer)
    {
        if (proof != null && !isOfTarget(answer.source()))
        {
            // Whoever has the key could have been put in the place of the one that was asked.
            onRefused("an answer of another device");
            decide(State.UNREACHABLE, NO_DATA, name(target) + ": the answer is of another device");
            return;
        }
        final int agreedMtu = Math.min(mtu, answer.mtu());
        try
        {
            if (proof != null)
            {
                queuePair.seal(proof.keys(answer, true));
            }
            queuePair.establish(answer, psn, agreedMtu, accessFlags);
            accepted = answer;
            acceptedNs = SystemNanoClock.INSTANCE.nanoTime();
            check = device.checkPath(
                queuePair, answer, psn, agreedMtu, () -> service.execute(() -> conclude(true)));
        }
        catch (final RdmaException ex)
        {
            // Closed meanwhile, or the device refuses the peer's address.
            decide(State.UNREACHABLE, NO_DATA, ex.getMessage());
        }
    }

    /** Of its ports, which the lanes of a device have of their own, another one may answer. */
    private boolean isOfTarget(final DeviceAddress source)
    {
        return source.gidHigh() == target.gidHigh() && source.gidLow() == target.gidLow();
    }

    /** Service: says that this side is ready when nothing is left to be waited for, or that it has given up. */
    private void conclude(final boolean isAnswered)
    {
        final boolean isEstablished;
        synchronized (this)
        {
            if (state == State.PENDING && accepted != null && (check == null || isAnswered))
            {
                decide(State.ESTABLISHED, accepted.privateData(), "");
            }
            if (state == State.PENDING)
            {
                return;
            }
            isEstablished = state == State.ESTABLISHED;
        }
        if (isEstablished)
        {
            final ConnectionMessage ready = new ConnectionMessage(
                ConnectionMessage.READY, 0, 0, 0, mtu, 0, new DeviceAddress(0, 0), NO_DATA);
            channel.send(proof == null ? ready : proof.after(accepted).sealed(device, ready), true);
        }
        else
        {
            channel.close();
        }
    }

    @Override
    public void onLook(final long nowNs)
    {
        if (nowNs - deadlineNs >= ABANDONED_NS)
        {
            giveUp();
            return;
        }
        final boolean isOver;
        synchronized (this)
        {
            if (state == State.PENDING && check != null)
            {
                check.ask();
                if (nowNs - acceptedNs > CHECK_PATIENCE_NS)
                {
                    decide(State.UNREACHABLE, NO_DATA, check.problem());
                }
            }
            else if (state == State.PENDING && !isConnected && nowNs - begunNs > device.silencePatienceNs())
            {
                decide(State.UNREACHABLE, NO_DATA, silence());
            }
            isOver = state != State.PENDING;
        }
        if (isOver)
        {
            channel.close();
        }
    }

    @Override
    public synchronized void fail(final State outcome, final byte[] data, final String cause)
    {
        if (state == State.PENDING)
        {
            final String why = check == null ? name(target) + ": " + cause : check.problem();
            decide(outcome, data, outcome == State.REJECTED ? "" : why);
        }
    }

    /** Under the monitor, once. */
    private void decide(final State outcome, final byte[] data, final String why)
    {
        state = outcome;
        privateData = data;
        problem = why;
        if (check != null)
        {
            check.close();
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

    /** Without a proof of the answer there are no keys, and with one there is no way to clear. */
    @Override
    public synchronized ConnectionRequest.PacketSeal packetSeal()
    {
        return state == State.ESTABLISHED && proof != null ? device.secret().seal() : null;
    }

    @Override
    public synchronized String problem()
    {
        return problem;
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
            decide(State.TIMED_OUT, NO_DATA, silence());
            open = channel;
        }
        if (open != null)
        {
            service.execute(open::close);
        }
    }

    /** What has not come. */
    private String silence()
    {
        if (check != null)
        {
            return check.problem();
        }
        return isConnected ? name(target) + " has taken the request and not answered it: is the peer busy or stopped?" :
            "no answer from " + name(target) + ": is it open?";
    }

    private static String name(final DeviceAddress device)
    {
        final InetSocketAddress address = ServiceLocator.socketAddress(device);
        return address == null ? device.toString() :
            address.getAddress().getHostAddress() + " port " + address.getPort() + "/tcp";
    }
}
