package io.verbena.compute;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.MetaClient;
import io.verbena.raas.Backoff;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.PeerDirectory;

/**
 * The connection of a node to the meta server: calls, and one-sided lookups of the view. Made anew when it breaks, to
 * wherever the meta server is by then.
 * Owned by the node's thread.
 */
final class MetaLink implements AutoCloseable
{
    /** Longest pause before a broken connection is made anew: 5 ms. */
    private static final long RECONNECT_PAUSE_NS = 5_000_000;
    /** Later pauses are up to this part of the deadline of a call. */
    private static final int PAUSES_PER_TIMEOUT = 8;

    private final RaasContext raas;
    private final MetaServerLocator metaServer;
    private final long timeoutNs;
    private VirtualQp vqp;
    private MetaClient client;
    private PeerDirectory directory;
    private final Backoff backoff;
    private long reconnectAtNs;

    MetaLink(final RaasContext raas, final MetaServerLocator metaServer, final long timeoutNs)
    {
        this.raas = raas;
        this.metaServer = metaServer;
        this.timeoutNs = timeoutNs;
        backoff = new Backoff(RECONNECT_PAUSE_NS, Math.max(RECONNECT_PAUSE_NS, timeoutNs / PAUSES_PER_TIMEOUT),
            raas.device().random());
        connect();
    }

    /** @return proxy for calls; good until the next {@link #poll}, calls in it end by themselves. */
    MetaClient client()
    {
        return client;
    }

    /** @return lookups; good until the next {@link #poll}. */
    PeerDirectory directory()
    {
        return directory;
    }

    /** @return true if calls can be made: READY, or CONNECTING. */
    boolean isUsable()
    {
        return VirtualQp.State.FAILED != vqp.state();
    }

    /** @return how messages to the meta server travel; none while not connected. */
    String transport()
    {
        return vqp.transport();
    }

    String failure()
    {
        return vqp.failure();
    }

    int poll(final long nowNs)
    {
        int workCount = directory.poll();
        if (VirtualQp.State.READY == vqp.state())
        {
            backoff.reset();
        }
        if (!isUsable())
        {
            if (0 == reconnectAtNs)
            {
                reconnectAtNs = nowNs + backoff.nextPauseNs();
                metaServer.onUnreachable();
            }
            else if (nowNs - reconnectAtNs >= 0)
            {
                close();
                connect();
                workCount++;
            }
        }
        return workCount;
    }

    private void connect()
    {
        reconnectAtNs = 0;
        final PeerAddress address = metaServer.address();
        vqp = raas.connect(address, MetaLink::onUnexpectedBatch, timeoutNs);
        client = new MetaClient(raas, vqp);
        directory = new PeerDirectory(raas, address, timeoutNs);
    }

    private static void onUnexpectedBatch(final VirtualQp vqp, final int cookie, final int status)
    {
        throw new IllegalStateException("no batch is ever posted here: vqpn=" + vqp.number() + " cookie=" + cookie);
    }

    @Override
    public void close()
    {
        directory.close();
        vqp.close();
    }
}
