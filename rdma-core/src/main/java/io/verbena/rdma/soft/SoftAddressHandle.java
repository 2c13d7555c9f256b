package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

/** A way to a device; the device is looked for when it is used. */
final class SoftAddressHandle implements AddressHandle
{
    private final Runnable onClosed;
    private final DeviceAddress target;
    private boolean isClosed;

    SoftAddressHandle(final DeviceAddress target, final Runnable onClosed)
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
    public synchronized void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            onClosed.run();
        }
    }
}
