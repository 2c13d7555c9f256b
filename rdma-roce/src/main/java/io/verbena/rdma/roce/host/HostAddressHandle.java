package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/**
 * A way to a device. Datagrams take the network; DC takes shared memory to a device of this host.
 *
 * @param shared  by shared memory; where the device is on another host it only counts among what is open on the domain.
 * @param network by the network.
 * @param isLocal whether the device is on this host.
 */
record HostAddressHandle(AddressHandle shared, AddressHandle network, boolean isLocal) implements AddressHandle
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
