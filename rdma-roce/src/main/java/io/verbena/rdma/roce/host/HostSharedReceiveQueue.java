package io.verbena.rdma.roce.host;

import io.verbena.rdma.spi.ReceiveClaims;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.util.function.Function;

/** A shared receive queue of shared memory, from which the network takes receives as requesters of this host do. */
final class HostSharedReceiveQueue implements SharedReceiveQueue
{
    private final HostParts parts;
    private final ProtectionDomain domain;
    private final SharedReceiveQueue shared;
    private final SharedReceiveQueue network;

    /**
     * @param domain         that it belongs to.
     * @param shared         where receives are.
     * @param networkFactory makes what the network's queue pairs take them from.
     */
    HostSharedReceiveQueue(
        final HostParts parts,
        final ProtectionDomain domain,
        final SharedReceiveQueue shared,
        final Function<ReceiveClaims, SharedReceiveQueue> networkFactory)
    {
        this.parts = parts;
        this.domain = domain;
        this.shared = shared;
        SharedReceiveQueue made = null;
        try
        {
            made = networkFactory.apply((ReceiveClaims)shared);
        }
        finally
        {
            if (made == null)
            {
                shared.close();
            }
        }
        network = made;
        parts.opened(shared, this);
    }

    /** A shared receive queue of a domain; null for none. */
    static HostSharedReceiveQueue of(final ProtectionDomain domain, final SharedReceiveQueue queue)
    {
        if (queue == null || queue instanceof final HostSharedReceiveQueue own && own.domain == domain)
        {
            return (HostSharedReceiveQueue)queue;
        }
        throw new RdmaException("not a shared receive queue of this protection domain: " + queue);
    }

    SharedReceiveQueue shared()
    {
        return shared;
    }

    SharedReceiveQueue network()
    {
        return network;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        return shared.postReceive(wrId, localAddress, lengthBytes, localKey);
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        shared.armLimit(receiveCount);
    }

    @Override
    public int armedLimit()
    {
        return shared.armedLimit();
    }

    @Override
    public int capacity()
    {
        return shared.capacity();
    }

    @Override
    public void close()
    {
        shared.close();
        network.close();
        parts.closed(shared);
    }

    @Override
    public String toString()
    {
        return "HostSharedReceiveQueue{" + shared + '}';
    }
}
