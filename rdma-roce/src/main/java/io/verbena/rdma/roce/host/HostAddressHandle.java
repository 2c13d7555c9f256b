package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * A way to a device for datagrams, which take the network.
 *
 * @param shared  counts among what is open on the domain.
 * @param network that datagrams are addressed with.
 */
record HostAddressHandle(AddressHandle shared, AddressHandle network) implements AddressHandle
{
    @Override
    public DeviceAddress target()
    {
        return network.target();
    }

    @Override
    public void close()
    {
        network.close();
        shared.close();
    }
}
