package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;

/** Makes regions, windows, queue pairs and what belongs to them. */
final class SimProtectionDomain implements ProtectionDomain, RegisteredRegion.Owner, BoundWindow.Owner
{
    private final SimDevice device;
    private final Map<RegisteredRegion, Runnable> memory = new IdentityHashMap<>();
    private int childCount;
    private int regionCount;
    private boolean isClosed;

    SimProtectionDomain(final SimDevice device)
    {
        this.device = device;
    }

    SimDevice device()
    {
        return device;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final Arena arena = Arena.ofShared();
        final RegisteredRegion region = add(arena.allocate(lengthBytes, 4096), accessFlags);
        memory.put(region, arena::close);
        return region;
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final SimFabric fabric = device.fabric();
        final RegisteredRegion region = add(
            fabric.named().hold(name, lengthBytes, fabric.options().namedMemoryCutsOff()), accessFlags);
        fabric.named().held(name, device, region);
        memory.put(region, () -> fabric.named().released(name, region));
        return region;
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        checkOpen();
        if (!segment.isNative() || segment.isReadOnly() || !segment.scope().isAlive())
        {
            throw new RdmaException(
                "only native, writable memory that is not freed can be registered: segment=" + segment);
        }
        final SegmentHold hold =
            device.fabric().options().holdsCallersMemory() ? SegmentHold.of(segment) : null;
        final RegisteredRegion region = add(segment, accessFlags);
        if (hold != null)
        {
            memory.put(region, hold::close);
        }
        return region;
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        checkOpen();
        device.checkCapabilities(options.capabilities());
        final SimCompletionQueue send = device.own(options.sendCompletions());
        final SimCompletionQueue receive = device.own(options.receiveCompletions());
        final SimSharedReceiveQueue shared = shared(options);
        final SimQueuePair queuePair = device.addQueuePair(
            number -> new SimQueuePair(this, send, receive, shared, options, number));
        childCount++;
        if (shared != null)
        {
            shared.attach(queuePair);
        }
        try
        {
            send.attach(queuePair);
            receive.attach(queuePair);
            return queuePair;
        }
        catch (final RdmaException ex)
        {
            queuePair.close();
            throw ex;
        }
    }

    private SimSharedReceiveQueue shared(final QueuePairOptions options)
    {
        final QueuePairType type = options.type();
        if (options.sharedReceiveQueue() == null)
        {
            return null;
        }
        if (type != QueuePairType.RC && type != QueuePairType.UD)
        {
            throw new RdmaException("a queue pair of this type takes no shared receive queue: type=" + type);
        }
        return own(options.sharedReceiveQueue());
    }

    private SimSharedReceiveQueue own(final SharedReceiveQueue queue)
    {
        if (queue instanceof SimSharedReceiveQueue sim && sim.protectionDomain() == this)
        {
            return sim;
        }
        throw new RdmaException("not a shared receive queue of this protection domain: " + queue);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        checkOpen();
        SimDevice.checkRange("maxReceiveRequests", maxReceiveRequests, 1, SimDevice.MAX_QUEUE_PAIR_REQUESTS);
        childCount++;
        return new SimSharedReceiveQueue(this, maxReceiveRequests);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        checkOpen();
        final BoundWindow window = device.windows().add(this, this);
        childCount++;
        return window;
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        checkOpen();
        childCount++;
        return new SimAddressHandle(this, Objects.requireNonNull(target));
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        checkOpen();
        SimDevice.checkRange("maxReadAtomic", options.maxReadAtomic(), 0, SimDevice.MAX_READ_ATOMIC);
        final SimCompletionQueue completions = device.own(options.receiveCompletions());
        final SimSharedReceiveQueue shared = own(options.sharedReceiveQueue());
        final SimDcTarget target = device.addDcTarget(
            number -> new SimDcTarget(this, completions, shared, options, number));
        childCount++;
        shared.attach(target);
        completions.attach(target);
        return target;
    }

    @Override
    public void release(final BoundWindow window)
    {
        device.windows().remove(window);
        childCount--;
    }

    @Override
    public void release(final RegisteredRegion region)
    {
        device.keys().remove(region);
        regionCount--;
        final Runnable free = memory.remove(region);
        if (free != null)
        {
            free.run();
        }
    }

    @Override
    public void close()
    {
        if (childCount + regionCount > 0)
        {
            throw new RdmaException(
                "protection domain is in use: close what was made from it first, open=" + childCount +
                ", regions=" + regionCount);
        }
        if (!isClosed)
        {
            isClosed = true;
            device.childClosed();
        }
    }

    void queuePairClosed(final SimQueuePair queuePair)
    {
        device.removeQueuePair(queuePair);
        childCount--;
    }

    void childClosed()
    {
        childCount--;
    }

    private RegisteredRegion add(final MemorySegment segment, final int accessFlags)
    {
        regionCount++;
        return device.keys().add(segment, device.nextAddress(segment), accessFlags, this, this);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("protection domain is closed: device=" + device.name());
        }
    }
}
