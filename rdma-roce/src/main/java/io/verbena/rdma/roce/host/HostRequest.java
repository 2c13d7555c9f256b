package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;

/** A request that came by one of both ways, which the accepting queue pair then takes. */
final class HostRequest implements ConnectionRequest
{
    private final HostParts parts;
    private final ConnectionRequest request;
    private final boolean isLocal;
    private final DeviceAddress source;

    /** @param source the peer's address on the network. */
    HostRequest(
        final HostParts parts, final ConnectionRequest request, final boolean isLocal, final DeviceAddress source)
    {
        this.parts = parts;
        this.request = request;
        this.isLocal = isLocal;
        this.source = source;
    }

    @Override
    public byte[] privateData()
    {
        return request.privateData();
    }

    @Override
    public DeviceAddress source()
    {
        return source;
    }

    @Override
    public int queuePairNumber()
    {
        return request.queuePairNumber();
    }

    @Override
    public ConnectionRequest.PacketSeal packetSeal()
    {
        return request.packetSeal();
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] privateData)
    {
        request.accept(HostQueuePair.of(parts, queuePair).route(isLocal, source), accessFlags, privateData);
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        request.prepare(HostQueuePair.of(parts, queuePair).route(isLocal, source));
    }

    @Override
    public void reject(final byte[] privateData)
    {
        request.reject(privateData);
    }
}
