package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/** A way to another device for datagrams. Immutable. */
final class RoceAddressHandle implements AddressHandle
{
    final RocePath path;
    private final DeviceAddress target;

    RoceAddressHandle(final DeviceAddress target, final RocePath path)
    {
        this.target = target;
        this.path = path;
    }

    @Override
    public DeviceAddress target()
    {
        return target;
    }

    @Override
    public void close()
    {
        // nothing is held
    }
}
