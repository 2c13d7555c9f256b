package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.roce.engine.RoceProtectionDomain;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.MemorySegment;

/** A domain of the engine whose regions have memory of {@link RegionFiles}, and sizes within the attributes. */
final class RoceDomain implements ProtectionDomain
{
    private final LanedDomain domain;
    private final RegionFiles files;
    private final DeviceAttributes attributes;

    RoceDomain(
        final LanedDomain domain,
        final RegionFiles files,
        final DeviceAttributes attributes)
    {
        this.domain = domain;
        this.files = files;
        this.attributes = attributes;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        domain.checkOpen();
        return register(files.allocate(lengthBytes), accessFlags);
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        domain.checkOpen();
        return register(files.named(name, lengthBytes), accessFlags);
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        domain.checkOpen();
        RoceProtectionDomain.checkWritable(segment);
        return register(files.hold(segment), accessFlags);
    }

    private MemoryRegion register(final RegionFiles.Lent memory, final int accessFlags)
    {
        return domain.register(memory.segment(), accessFlags, memory.release());
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        final QueuePairCapabilities capabilities = options.capabilities();
        final int deepest = attributes.maxQueuePairRequests();
        DeviceLimits.check("maxSendRequests", capabilities.maxSendRequests(), 1, deepest);
        DeviceLimits.check("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, deepest);
        DeviceLimits.check("maxInlineBytes", capabilities.maxInlineBytes(), 0, attributes.maxInlineBytes());
        DeviceLimits.check("maxReadAtomic", capabilities.maxReadAtomic(), 0, attributes.maxReadAtomic());
        DeviceLimits.check("maxSendSegments", capabilities.maxSendSegments(), 1, attributes.maxSendSegments());
        return domain.createQueuePair(options);
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        return domain.createDcTarget(options);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        DeviceLimits.check("maxReceiveRequests", maxReceiveRequests, 1, attributes.maxSharedReceiveRequests());
        return domain.createSharedReceiveQueue(maxReceiveRequests);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        return domain.allocateMemoryWindow();
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        return domain.createAddressHandle(target, ServiceLocator.isMarked(target));
    }

    @Override
    public void close()
    {
        domain.close();
    }
}
