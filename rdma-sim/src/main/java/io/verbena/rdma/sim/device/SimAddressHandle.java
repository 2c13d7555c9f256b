package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/** A device's address; requests posted with it keep the address, so that it may be closed at any time. */
final class SimAddressHandle implements AddressHandle
{
    private final Runnable onClosed;
    private final DeviceAddress target;
    private boolean isClosed;

    SimAddressHandle(final DeviceAddress target, final Runnable onClosed)
    {
        this.onClosed = onClosed;
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
            onClosed.run();
        }
    }
}
