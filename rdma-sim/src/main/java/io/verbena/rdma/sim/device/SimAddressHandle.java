package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/** A device's address; requests posted with it keep the address, so that it may be closed at any time. */
final class SimAddressHandle implements AddressHandle
{
    private final SimProtectionDomain protectionDomain;
    private final DeviceAddress target;
    private boolean isClosed;

    SimAddressHandle(final SimProtectionDomain protectionDomain, final DeviceAddress target)
    {
        this.protectionDomain = protectionDomain;
        this.target = target;
    }

    @Override
    public DeviceAddress target()
    {
        return target;
    }

    @Override
    public void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            protectionDomain.childClosed();
        }
    }
}
