package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;

/** Requests of this host and of others, in turns. */
final class HostListener implements ConnectionListener
{
    private final HostParts parts;
    private final ConnectionListener shared;
    private final ConnectionListener network;
    private boolean isNetworkNext;

    HostListener(final HostParts parts, final ConnectionListener shared, final ConnectionListener network)
    {
        this.parts = parts;
        this.shared = shared;
        this.network = network;
    }

    @Override
    public synchronized ConnectionRequest poll()
    {
        isNetworkNext = !isNetworkNext;
        final ConnectionRequest first = poll(isNetworkNext);
        return first == null ? poll(!isNetworkNext) : first;
    }

    private ConnectionRequest poll(final boolean isNetwork)
    {
        final ConnectionRequest request = (isNetwork ? network : shared).poll();
        if (request == null || isNetwork)
        {
            return request == null ? null : new HostRequest(parts, request, false, request.source());
        }
        final DeviceAddress source = parts.shared().networkAddress(request.source());
        // A peer of the same directory without a network has no other address; one that has gone needs none.
        return new HostRequest(parts, request, true, source == null ? request.source() : source);
    }

    @Override
    public void close()
    {
        try
        {
            network.close();
        }
        finally
        {
            shared.close();
        }
    }
}
