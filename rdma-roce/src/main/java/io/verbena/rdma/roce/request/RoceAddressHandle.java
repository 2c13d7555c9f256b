package io.verbena.rdma.roce.request;

import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.concurrent.atomic.AtomicBoolean;

/** A way to another device for datagrams and DC. Thread-safe; requests may name it when it is closed. */
public final class RoceAddressHandle implements AddressHandle
{
    /** The way there. */
    public final RocePath path;
    /** The way of packets from there. */
    public final RocePath inboundPath;
    /** Whether there is a device of this project, which takes packets of DC. */
    public final boolean isOfProject;
    private final DeviceAddress target;
    private final OpenChildren siblings;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /**
     * Makes one.
     *
     * @param target      device.
     * @param path        there.
     * @param inboundPath from there.
     * @param isOfProject whether there is a device of this project.
     * @param siblings    of its domain, itself included once made.
     */
    public RoceAddressHandle(
        final DeviceAddress target,
        final RocePath path,
        final RocePath inboundPath,
        final boolean isOfProject,
        final OpenChildren siblings)
    {
        siblings.add();
        this.siblings = siblings;
        this.target = target;
        this.isOfProject = isOfProject;
        this.path = path;
        this.inboundPath = inboundPath;
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
