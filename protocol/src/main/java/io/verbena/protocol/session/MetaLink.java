package io.verbena.protocol.session;

import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerDirectory;
import io.verbena.raas.failure.Backoff;

/**
 * The connection to the meta server: calls, and one-sided lookups of its view. Connected at the first use, and made
 * anew, to wherever the meta server is by then, when it has failed: by {@link #poll} after a pause, or at once by
 * {@link #freshClient()}, for callers that pause themselves. Calls under way on a connection that fails end by
 * themselves, with PEER_FAILED. Belongs to the owner thread of its {@link RaasContext}.
 */
public final class MetaLink implements AutoCloseable
{
    /** Longest pause before a connection that failed is made anew the first time: 5 ms. */
    private static final long RECONNECT_PAUSE_NS = 5_000_000;
    /** Later pauses are up to this part of the timeout of a connection. */
    private static final int PAUSES_PER_TIMEOUT = 8;
    /** Longest pause before a call that failed is made again the first time: 5 ms. */
    private static final long RETRY_PAUSE_NS = 5_000_000;
    /** Longest pause between two such calls: 160 ms. */
    private static final long MAX_RETRY_PAUSE_NS = 160_000_000;

    private final RaasContext raas;
    private final MetaServerLocator metaServer;
    private final long timeoutNs;
    private final Backoff backoff;
    private Credentials credentials;
    private PeerAddress address;
    private VirtualQp vqp;
    private MetaClient client;
    private PeerDirectory directory;
    private boolean isPausing;
    private long reconnectAtNs;

    /**
     * Connects to nothing yet.
     *
     * @param raas       over which to connect; not closed here.
     * @param metaServer where the meta server is.
     * @param timeoutNs  of a connection.
     */
    public MetaLink(final RaasContext raas, final MetaServerLocator metaServer, final long timeoutNs)
    {
        this.raas = raas;
        this.metaServer = metaServer;
        this.timeoutNs = timeoutNs;
        backoff = new Backoff(RECONNECT_PAUSE_NS, Math.max(RECONNECT_PAUSE_NS, timeoutNs / PAUSES_PER_TIMEOUT),
            raas.device().random());
    }

    /** @return proxy for calls; good until the connection is made anew. While it has failed, calls fail at once. */
    public MetaClient client()
    {
        metaServer.onCall();
        if (null == vqp)
        {
            connect();
        }
        return client;
    }

    /**
     * As {@link #client()}, over a new connection if the present one has failed.
     *
     * @return proxy for calls.
     * @throws io.verbena.rdma.verbs.RdmaException when no connection can be begun; the next call tries again.
     */
    public MetaClient freshClient()
    {
        if (!isUsable())
        {
            metaServer.onUnreachable();
            reconnect();
        }
        else if (hasMoved())
        {
            reconnect();
        }
        return client();
    }

    /**
     * A call was not answered in time, or refused for now, over a connection that may be there all the same: of a group
     * another one may be the leader by now. Looks for it, and {@link #poll} connects to where it is found.
     */
    public void onUnanswered()
    {
        metaServer.onUnreachable();
    }

    /** A call takes long, and may still be answered: where there are several, looks for the leader, as above. */
    public void onLate()
    {
        metaServer.onLate();
    }

    private boolean hasMoved()
    {
        return null != vqp && !metaServer.address().equals(address);
    }

    /**
     * From now on connections of the context are made as this registration, and the present one acts for it.
     *
     * @param registration just got over this link.
     * @return with what it proves that.
     */
    public Credentials actAs(final Registration registration)
    {
        final AccessTicket ticket = metaServer.nodeTicket();
        credentials = new Credentials(registration, null == ticket ? null : ticket.secret());
        raas.identity(credentials.identity(), 1, credentials::towards);
        return credentials;
    }

    /**
     * From now on connections of the context are made as a node that has not registered.
     *
     * @return this.
     */
    public MetaLink actAsNode()
    {
        final AccessTicket ticket = metaServer.joiningTicket();
        if (null == ticket)
        {
            raas.identity(PeerIdentity.UNREGISTERED);
        }
        else
        {
            ticket.use(raas);
        }
        return this;
    }

    /** A registration is over: from now on connections are made as a node without one; also the one to here. */
    public void actAsNobody()
    {
        actAsNode();
        close();
        vqp = null;
        directory = null;
    }

    /** @return of the latest registration, over or not; null before the first. */
    public Credentials credentials()
    {
        return credentials;
    }

    /** @return lookups of the meta server's view; good until the connection is made anew. */
    public PeerDirectory directory()
    {
        if (null == directory)
        {
            client();
            directory = new PeerDirectory(raas, address, timeoutNs);
        }
        return directory;
    }

    /** @return whether calls can be made: it is connected, or connects, or will at the first call. */
    public boolean isUsable()
    {
        return null == vqp || VirtualQp.State.READY == vqp.state() || VirtualQp.State.CONNECTING == vqp.state();
    }

    /** @return whether it is connected. */
    public boolean isConnected()
    {
        return null != vqp && VirtualQp.State.READY == vqp.state();
    }

    /** @return pauses before a call that failed is made again: up to 5 ms at first, later up to 160 ms; of any node. */
    public Backoff retryBackoff()
    {
        return new Backoff(RETRY_PAUSE_NS, MAX_RETRY_PAUSE_NS, raas.device().random());
    }

    /** @return how messages to the meta server travel; none while not connected. */
    public String transport()
    {
        return null == vqp ? "none" : vqp.transport();
    }

    /** @return why it is not usable, one line; empty otherwise. */
    public String failure()
    {
        return null == vqp ? "" : vqp.failure();
    }

    /**
     * Goes on with lookups, and makes a connection that failed anew, after a pause that grows with each failure.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        int workCount = null == directory ? 0 : directory.poll();
        if (isConnected())
        {
            backoff.reset();
        }
        if (!isUsable())
        {
            if (!isPausing)
            {
                isPausing = true;
                reconnectAtNs = nowNs + backoff.nextPauseNs();
                metaServer.onUnreachable();
            }
            else if (nowNs - reconnectAtNs >= 0)
            {
                reconnect();
                workCount++;
            }
        }
        else if (hasMoved())
        {
            reconnect();
            workCount++;
        }
        return workCount;
    }

    /** Until it has succeeded, what calls and lookups have of the old connection goes on failing. */
    private void reconnect()
    {
        isPausing = false;
        close();
        connect();
        if (null != directory)
        {
            directory = new PeerDirectory(raas, address, timeoutNs);
        }
    }

    private void connect()
    {
        address = metaServer.address();
        vqp = raas.connect(address, BatchListener.CALLS_ONLY, timeoutNs);
        client = new MetaClient(raas, vqp);
    }

    /** Ends the connection: calls and lookups fail from now on. Idempotent. */
    @Override
    public void close()
    {
        if (null != directory)
        {
            directory.close();
        }
        if (null != vqp)
        {
            vqp.close();
        }
    }

    @Override
    public String toString()
    {
        return "MetaLink{address=" + address + ", vqp=" + vqp + '}';
    }
}
