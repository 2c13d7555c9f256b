package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.RoceProtectionDomain;
import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.roce.engine.RoceSharedReceiveQueue;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.ReceiveClaims;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A domain of each lane of a device. Regions and windows are made by the first one and known to all, under one key;
 * each queue pair is of one lane. Datagrams, DC, and receives that are shared among queue pairs of this provider are
 * the first lane's. Thread-safe.
 */
public final class LanedDomain implements ProtectionDomain
{
    private final RoceProtectionDomain[] domains;
    private final AtomicInteger made = new AtomicInteger();

    /** Keeps the tables of keys of the other lanes the same as those of the first one. */
    private final class OtherLanes implements SecondWay
    {
        @Override
        public void regionAdded(final RegisteredRegion region)
        {
            for (int i = 1; i < domains.length; i++)
            {
                domains[i].adopt(region);
            }
        }

        @Override
        public void regionWithdrawn(final RegisteredRegion region)
        {
            for (int i = 1; i < domains.length; i++)
            {
                domains[i].abandon(region);
            }
        }

        @Override
        public void windowAdded(final BoundWindow window)
        {
            for (int i = 1; i < domains.length; i++)
            {
                domains[i].adopt(window);
            }
        }

        @Override
        public void windowRemoved(final BoundWindow window)
        {
            for (int i = 1; i < domains.length; i++)
            {
                domains[i].abandon(window);
            }
        }
    }

    /** @param user what regions, windows and queue pairs belong to; null for this. */
    LanedDomain(final Lane[] lanes, final ProtectionDomain user)
    {
        domains = new RoceProtectionDomain[lanes.length];
        for (int i = 0; i < lanes.length; i++)
        {
            domains[i] = lanes[i].engine.createProtectionDomain(
                i == 0 || user != null ? user : domains[0], i == 0 ? new OtherLanes() : SecondWay.NONE);
        }
    }

    void checkOpen()
    {
        domains[0].checkOpen();
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        return domains[0].allocateRegistered(lengthBytes, accessFlags);
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        return domains[0].register(segment, accessFlags);
    }

    /** As {@link RoceProtectionDomain#register(MemorySegment, int, Runnable)}. */
    MemoryRegion register(final MemorySegment segment, final int accessFlags, final Runnable free)
    {
        return domains[0].register(segment, accessFlags, free);
    }

    /** As {@link RoceProtectionDomain#adopt(RegisteredRegion)}. */
    public void adopt(final RegisteredRegion region)
    {
        domains[0].adopt(region);
    }

    /** As {@link RoceProtectionDomain#abandon(RegisteredRegion)}. */
    public void abandon(final RegisteredRegion region)
    {
        domains[0].abandon(region);
    }

    /** As {@link RoceProtectionDomain#adopt(BoundWindow)}. */
    public void adopt(final BoundWindow window)
    {
        domains[0].adopt(window);
    }

    /** As {@link RoceProtectionDomain#abandon(BoundWindow)}. */
    public void abandon(final BoundWindow window)
    {
        domains[0].abandon(window);
    }

    @Override
    public RoceQueuePair createQueuePair(final QueuePairOptions options)
    {
        return createQueuePair(options, 0, true);
    }

    /**
     * As {@link RoceProtectionDomain#createQueuePair(QueuePairOptions, int)}.
     *
     * @param isSpread whether it may be any lane's; else it is the first one's, to which the device's address leads.
     */
    public RoceQueuePair createQueuePair(final QueuePairOptions options, final int number, final boolean isSpread)
    {
        final int lane = lane(options, isSpread);
        return domains[lane].createQueuePair(new QueuePairOptions().type(options.type())
            .completions(part(options.sendCompletions(), lane), part(options.receiveCompletions(), lane))
            .sharedReceiveQueue(options.sharedReceiveQueue() instanceof final LanedReceiveQueue laned ?
                laned.part(lane) : options.sharedReceiveQueue())
            .capabilities(options.capabilities()), number);
    }

    private int lane(final QueuePairOptions options, final boolean isSpread)
    {
        final boolean isFirst = !isSpread || options.type() == QueuePairType.UD ||
            options.type() == QueuePairType.DC_INITIATOR ||
            options.sharedReceiveQueue() instanceof RoceSharedReceiveQueue;
        return isFirst ? 0 : Math.floorMod(made.getAndIncrement(), domains.length);
    }

    private static CompletionQueue part(final CompletionQueue queue, final int lane)
    {
        return queue instanceof final LanedCompletionQueue laned ? laned.part(lane) : queue;
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        return createDcTarget(options, 0);
    }

    /** As {@link RoceProtectionDomain#createDcTarget(DcTargetOptions, int)}. */
    public DcTarget createDcTarget(final DcTargetOptions options, final int number)
    {
        final SharedReceiveQueue receives = options.sharedReceiveQueue();
        return domains[0].createDcTarget(new DcTargetOptions(part(options.receiveCompletions(), 0),
            receives instanceof final LanedReceiveQueue laned ? laned.part(0) : receives, options.accessKey(),
            options.accessFlags(), options.maxReadAtomic()), number);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        return domains[0].createSharedReceiveQueue(maxReceiveRequests);
    }

    /** As {@link RoceProtectionDomain#createSharedReceiveQueue(ReceiveClaims, int)}, for queue pairs of any lane. */
    public SharedReceiveQueue createSharedReceiveQueue(final ReceiveClaims claims, final int maxReceiveRequests)
    {
        final RoceSharedReceiveQueue[] parts = new RoceSharedReceiveQueue[domains.length];
        for (int i = 0; i < parts.length; i++)
        {
            parts[i] = domains[i].createSharedReceiveQueue(claims, maxReceiveRequests);
        }
        return new LanedReceiveQueue(parts);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        return domains[0].allocateMemoryWindow();
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        return domains[0].createAddressHandle(target);
    }

    /** As {@link RoceProtectionDomain#createAddressHandle(DeviceAddress, boolean)}. */
    AddressHandle createAddressHandle(final DeviceAddress target, final boolean isOfProject)
    {
        return domains[0].createAddressHandle(target, isOfProject);
    }

    @Override
    public void close()
    {
        for (final RoceProtectionDomain domain : domains)
        {
            domain.checkUnused();
        }
        for (final RoceProtectionDomain domain : domains)
        {
            domain.close();
        }
    }
}
