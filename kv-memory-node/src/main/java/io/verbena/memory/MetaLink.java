package io.verbena.memory;

import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.MetaClient;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;

/** The way to the meta server, wherever it is, made anew when it breaks. Owned by the node's thread. */
final class MetaLink implements AutoCloseable
{
    private final RaasContext raas;
    private final MetaServerLocator metaServer;
    private final long timeoutNs;
    private VirtualQp vqp;
    private MetaClient client;

    MetaLink(final RaasContext raas, final MetaServerLocator metaServer, final long timeoutNs)
    {
        this.raas = raas;
        this.metaServer = metaServer;
        this.timeoutNs = timeoutNs;
    }

    /** Calls of an earlier client end by themselves, with PEER_FAILED, once its connection is given up. */
    MetaClient client()
    {
        if (null == vqp || VirtualQp.State.FAILED == vqp.state())
        {
            if (null != vqp)
            {
                metaServer.onUnreachable();
            }
            close();
            vqp = raas.connect(metaServer.address(), MetaLink::onUnexpectedBatch, timeoutNs);
            client = new MetaClient(raas, vqp);
        }

        return client;
    }

    /** @return how messages to the meta server travel; none while not connected. */
    String transport()
    {
        return null == vqp ? "none" : vqp.transport();
    }

    @Override
    public void close()
    {
        if (null != vqp)
        {
            vqp.close();
            vqp = null;
        }
    }

    private static void onUnexpectedBatch(final VirtualQp vqp, final int cookie, final int status)
    {
        throw new IllegalStateException("no batch is posted to the meta server: vqp=" + vqp.number() + " cookie=" +
            cookie);
    }
}
