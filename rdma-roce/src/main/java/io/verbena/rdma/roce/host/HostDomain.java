package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.device.LanedDomain;
import io.verbena.rdma.roce.engine.RoceProtectionDomain;
import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.spi.StagedQueuePair;
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
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.MemorySegment;

/**
 * A domain of shared memory whose regions and windows the network reaches under the same keys: they are the same
 * objects there. Thread-safe.
 */
final class HostDomain implements ProtectionDomain
{
    private static final QueuePairCapabilities PLACE_HOLDER = new QueuePairCapabilities(1, 0, 0, 0);

    private final HostParts parts;
    private final DeviceAttributes limits;
    private final LanedDomain network;
    private final ProtectionDomain shared;

    /** Keeps the network's tables of keys the same as those of shared memory. */
    private final class SameKeys implements SecondWay
    {
        @Override
        public void regionAdded(final RegisteredRegion region)
        {
            network.adopt(region);
        }

        @Override
        public void regionWithdrawn(final RegisteredRegion region)
        {
            network.abandon(region);
        }

        @Override
        public void windowAdded(final BoundWindow window)
        {
            network.adopt(window);
        }

        @Override
        public void windowRemoved(final BoundWindow window)
        {
            network.abandon(window);
        }
    }

    /** @param limits attributes of the device. */
    HostDomain(final HostParts parts, final DeviceAttributes limits)
    {
        this.parts = parts;
        this.limits = limits;
        network = parts.network().allocateProtectionDomain(this);
        ProtectionDomain made = null;
        try
        {
            made = parts.shared().allocateProtectionDomain(this, new SameKeys());
        }
        finally
        {
            if (made == null)
            {
                network.close();
            }
        }
        shared = made;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        return shared.allocateRegistered(lengthBytes, accessFlags);
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        return shared.allocateNamed(name, lengthBytes, accessFlags);
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RoceProtectionDomain.checkWritable(segment);
        return shared.register(segment, accessFlags);
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        final HostSharedReceiveQueue queue = HostSharedReceiveQueue.of(this, options.sharedReceiveQueue());
        if (queue != null && options.type() != QueuePairType.RC && options.type() != QueuePairType.UD)
        {
            throw new RdmaException("a shared receive queue is for RC and UD queue pairs: type=" + options.type());
        }
        checkCapabilities(options.capabilities());
        final HostCompletionQueue sends = HostCompletionQueue.of(parts, options.sendCompletions());
        final HostCompletionQueue receives = HostCompletionQueue.of(parts, options.receiveCompletions());
        final boolean isDatagram = options.type() == QueuePairType.UD;
        // Datagrams take the network: one queue pair receives from both kinds of peers. Its number comes from here.
        final StagedQueuePair local = (StagedQueuePair)shared.createQueuePair(new QueuePairOptions()
            .type(isDatagram ? QueuePairType.RC : options.type()).completions(sends.shared(), receives.shared())
            .sharedReceiveQueue(queue == null ? null : queue.shared())
            .capabilities(isDatagram ? PLACE_HOLDER : options.capabilities()));
        final QueuePairOptions remote = new QueuePairOptions()
            .type(options.type()).completions(sends.network(), receives.network())
            .sharedReceiveQueue(queue == null ? null : queue.network()).capabilities(options.capabilities());
        boolean isMade = false;
        try
        {
            final QueuePair queuePair = options.type() == QueuePairType.DC_INITIATOR ?
                new HostDcInitiator(parts, sends, receives, local, networkPart(remote, local.number(), false),
                    options.capabilities().maxSendRequests()) :
                new HostQueuePair(parts, sends, receives, local,
                    isByService -> networkPart(remote, local.number(), isByService), isDatagram);
            isMade = true;
            return queuePair;
        }
        finally
        {
            if (!isMade)
            {
                local.close();
            }
        }
    }

    private RoceQueuePair networkPart(
        final QueuePairOptions options, final int number, final boolean isByService)
    {
        return network.createQueuePair(options, number, isByService);
    }

    private void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        check("maxSendRequests", capabilities.maxSendRequests(), 1, limits.maxQueuePairRequests());
        check("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, limits.maxQueuePairRequests());
        check("maxInlineBytes", capabilities.maxInlineBytes(), 0, limits.maxInlineBytes());
        check("maxReadAtomic", capabilities.maxReadAtomic(), 0, limits.maxReadAtomic());
        check("maxSendSegments", capabilities.maxSendSegments(), 1, limits.maxSendSegments());
    }

    private static void check(final String what, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new RdmaException(what + "=" + value + " is not from " + least + " to " + most);
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        check("maxReceiveRequests", maxReceiveRequests, 1, limits.maxSharedReceiveRequests());
        return new HostSharedReceiveQueue(parts, this, shared.createSharedReceiveQueue(maxReceiveRequests),
            claims -> network.createSharedReceiveQueue(claims, maxReceiveRequests));
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        check("maxReadAtomic", options.maxReadAtomic(), 0, limits.maxReadAtomic());
        final HostSharedReceiveQueue queue = HostSharedReceiveQueue.of(this, options.sharedReceiveQueue());
        final HostCompletionQueue completions = HostCompletionQueue.of(parts, options.receiveCompletions());
        final DcTarget local = shared.createDcTarget(new DcTargetOptions(completions.shared(), queue.shared(),
            options.accessKey(), options.accessFlags(), options.maxReadAtomic()));
        DcTarget remote = null;
        try
        {
            remote = network.createDcTarget(new DcTargetOptions(completions.network(), queue.network(),
                options.accessKey(), options.accessFlags(), options.maxReadAtomic()), local.number());
            return new HostDcTarget(completions, local, remote);
        }
        finally
        {
            if (remote == null)
            {
                local.close();
            }
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        return shared.allocateMemoryWindow();
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        final DeviceAddress local = parts.local(target);
        final AddressHandle byMemory = shared.createAddressHandle(local == null ? target : local);
        AddressHandle byNetwork = null;
        try
        {
            byNetwork = network.createAddressHandle(target);
            return new HostAddressHandle(byMemory, byNetwork, local != null);
        }
        finally
        {
            if (byNetwork == null)
            {
                byMemory.close();
            }
        }
    }

    @Override
    public void close()
    {
        shared.close();
        network.close();
    }
}
