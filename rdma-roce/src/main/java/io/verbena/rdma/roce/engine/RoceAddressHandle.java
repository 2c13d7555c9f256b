package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.concurrent.atomic.AtomicBoolean;

/** A way to another device for datagrams. Thread-safe; requests may name it when it is closed. */
final class RoceAddressHandle implements AddressHandle
{
    final RocePath path;
    private final DeviceAddress target;
    private final OpenChildren siblings;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** @param siblings of its domain, itself included once made. */
    RoceAddressHandle(final DeviceAddress target, final RocePath path, final OpenChildren siblings)
    {
        siblings.add();
        this.siblings = siblings;
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
        if (isClosed.compareAndSet(false, true))
        {
            siblings.remove();
        }
    }
}
