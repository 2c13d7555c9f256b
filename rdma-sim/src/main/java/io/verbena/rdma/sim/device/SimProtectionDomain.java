package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
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
    private final SimNetwork network;
    private final SimHost host;
    private final SimNamedMemory named;
    private final Map<RegisteredRegion, Runnable> memory = new IdentityHashMap<>();
    private int childCount;
    private int regionCount;
    private boolean isClosed;

    SimProtectionDomain(final SimNetwork network, final SimHost host, final SimNamedMemory named)
    {
        this.network = network;
        this.host = host;
        this.named = named;
        host.childOpened();
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        // To close a shared one stops all threads of the process, thousands of times in an exploration.
        final Arena arena =
            network.timeline().options().holdsCallersMemory() ? Arena.ofShared() : Arena.ofConfined();
        final RegisteredRegion region = add(arena.allocate(lengthBytes, 4096), accessFlags);
        memory.put(region, arena::close);
        return region;
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final RegisteredRegion region = add(
            named.hold(name, lengthBytes, network.timeline().options().namedMemoryCutsOff()), accessFlags);
        named.held(name, host, region);
        memory.put(region, () -> named.released(name, region));
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
        final boolean isHeld = network.timeline().options().holdsCallersMemory();
        if (isHeld)
        {
            SegmentHold.checkCanBeHeld(segment);
        }
        final RegisteredRegion region = add(segment, accessFlags);
        final Runnable namedAgain = named.heldAgain(segment, host, region);
        if (namedAgain != null)
        {
            memory.put(region, namedAgain);
        }
        else if (isHeld)
        {
            memory.put(region, SegmentHold.of(segment)::close);
        }
        return region;
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        checkOpen();
        checkCapabilities(options.capabilities());
        final SimCompletionQueue send = SimCompletionQueue.of(host, options.sendCompletions());
        final SimCompletionQueue receive = SimCompletionQueue.of(host, options.receiveCompletions());
        final SimSharedReceiveQueue shared = shared(options);
        final Runnable[] onClosed = new Runnable[1];
        final SimQueuePair queuePair = new SimQueuePair(
            network, host, this, () -> onClosed[0].run(), send, receive, shared, options, host.nextQueuePairNumber());
        onClosed[0] = () -> removed(queuePair);
        network.add(queuePair);
        host.addSender(queuePair);
        host.addObject(queuePair);
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
        SimHost.checkRange("maxReceiveRequests", maxReceiveRequests, 1, SimHost.MAX_QUEUE_PAIR_REQUESTS);
        childCount++;
        return new SimSharedReceiveQueue(host, this, this::childClosed, maxReceiveRequests);
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        checkOpen();
        final BoundWindow window = host.windows().add(this, this);
        childCount++;
        return window;
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        checkOpen();
        childCount++;
        return new SimAddressHandle(Objects.requireNonNull(target), this::childClosed);
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        checkOpen();
        SimHost.checkRange("maxReadAtomic", options.maxReadAtomic(), 0, SimHost.MAX_READ_ATOMIC);
        final SimCompletionQueue completions = SimCompletionQueue.of(host, options.receiveCompletions());
        final SimSharedReceiveQueue shared = own(options.sharedReceiveQueue());
        final Runnable[] onClosed = new Runnable[1];
        final SimDcTarget target = new SimDcTarget(
            host, this, () -> onClosed[0].run(), completions, shared, options, host.nextQueuePairNumber());
        onClosed[0] = () -> removed(target);
        network.add(target);
        host.addObject(target);
        childCount++;
        shared.attach(target);
        completions.attach(target);
        return target;
    }

    @Override
    public void release(final BoundWindow window)
    {
        host.windows().remove(window);
        childCount--;
    }

    @Override
    public void release(final RegisteredRegion region)
    {
        host.keys().remove(region);
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
            host.childClosed();
        }
    }

    private void removed(final SimQueuePair queuePair)
    {
        network.remove(queuePair);
        host.removeSender(queuePair);
        host.removeObject(queuePair);
        childCount--;
    }

    private void removed(final SimDcTarget target)
    {
        network.remove(target);
        host.removeObject(target);
        childCount--;
    }

    private void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        SimHost.checkRange("maxSendRequests", capabilities.maxSendRequests(), 1, SimHost.MAX_QUEUE_PAIR_REQUESTS);
        SimHost.checkRange("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, SimHost.MAX_QUEUE_PAIR_REQUESTS);
        SimHost.checkRange("maxInlineBytes", capabilities.maxInlineBytes(), 0, SimHost.MAX_INLINE_BYTES);
        SimHost.checkRange("maxReadAtomic", capabilities.maxReadAtomic(), 0, SimHost.MAX_READ_ATOMIC);
        SimHost.checkRange("maxSendSegments", capabilities.maxSendSegments(), 1, SegmentList.MAX_SEGMENTS);
    }

    private void childClosed()
    {
        childCount--;
    }

    private RegisteredRegion add(final MemorySegment segment, final int accessFlags)
    {
        regionCount++;
        return host.keys().add(segment, host.nextAddress(segment), accessFlags, this, this);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("protection domain is closed: device=" + host.name());
        }
    }
}
