package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AdoptedPages;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.NamedMemory;
import io.verbena.rdma.soft.shared.SharedMemoryFile;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WindowBinding;
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

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** Makes regions and queue pairs of a device. Thread-safe. */
final class SoftProtectionDomain implements ProtectionDomain, RegisteredRegion.Owner, BoundWindow.Owner
{
    private final SoftHost device;
    private final DomainIdentity identity;
    private final SecondWay way;
    private final Consumer<SoftSharedReceiveQueue> onQueueOpened;
    private final Consumer<SoftSharedReceiveQueue> onQueueClosed;
    private final Map<RegisteredRegion, SharedMemoryFile> files = new ConcurrentHashMap<>();
    private int queuePairCount;
    private int regionCount;
    private int windowCount;
    private int sharedQueueCount;
    private int targetCount;
    private int handleCount;
    private boolean isClosed;

    /**
     * @param id            unique on the device.
     * @param user          what regions, windows and queue pairs belong to; null for this.
     * @param way           other way to the same memory.
     * @param onQueueOpened called for each shared receive queue.
     * @param onQueueClosed called for the same when nobody can use it any more, before its memory is given back.
     */
    SoftProtectionDomain(
        final SoftHost device,
        final int id,
        final ProtectionDomain user,
        final SecondWay way,
        final Consumer<SoftSharedReceiveQueue> onQueueOpened,
        final Consumer<SoftSharedReceiveQueue> onQueueClosed)
    {
        this.device = device;
        this.onQueueOpened = onQueueOpened;
        this.onQueueClosed = onQueueClosed;
        this.way = way;
        identity = new DomainIdentity(user == null ? this : user, id);
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final SharedMemoryFile file = device.files().allocate(lengthBytes);
        return add(file, file.segment(), accessFlags);
    }

    @Override
    public MemoryRegion allocateNamed(final String name, final long lengthBytes, final int accessFlags)
    {
        RegisteredRegion.checkRequest(lengthBytes, accessFlags);
        checkOpen();
        final FabricDirectory directory = device.files();
        final NamedMemory held = NamedMemory.hold(directory, name, device.outside());
        boolean isHandedOver = false;
        try
        {
            final SharedMemoryFile file =
                held.map(lengthBytes, directory.nextRegionNumber(), device.address().gidLow());
            file.whenClosed(held::close);
            // From here on the file gives the name up, and adding closes the file when it fails.
            isHandedOver = true;
            return add(file, file.segment(), accessFlags);
        }
        finally
        {
            if (!isHandedOver)
            {
                held.close();
            }
        }
    }

    /** Closes the file when it fails. */
    private RegisteredRegion add(final SharedMemoryFile file, final MemorySegment segment, final int accessFlags)
    {
        boolean isAdded = false;
        try
        {
            final RegisteredRegion region;
            synchronized (this)
            {
                checkOpen();
                region = device.keys().add(
                    () -> device.keys().local().add(segment, segment.address(), accessFlags, identity.domain(), this),
                    identity.id(),
                    file);
                regionCount++;
            }
            files.put(region, file);
            // From here on the region closes its file.
            isAdded = true;
            addToSecondWay(region);
            return region;
        }
        finally
        {
            if (!isAdded)
            {
                file.close();
            }
        }
    }

    private void addToSecondWay(final RegisteredRegion region)
    {
        boolean isAdded = false;
        try
        {
            way.regionAdded(region);
            isAdded = true;
        }
        finally
        {
            if (!isAdded)
            {
                region.close();
            }
        }
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        RegisteredRegion.checkRequest(segment.byteSize(), accessFlags);
        SegmentHold.checkCanBeHeld(segment);
        checkOpen();
        final FabricDirectory directory = device.files();
        final SharedMemoryFile known = SharedMemoryFile.useContaining(
            (number) -> directory.regionFile(directory.ownerId(), number), segment);
        return add(known == null ? AdoptedPages.adopt(directory, segment) : known, segment, accessFlags);
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        final QueuePairCapabilities capabilities = options.capabilities();
        checkCapabilities(capabilities);
        final SoftCompletionQueue send = SoftCompletionQueue.of(device, options.sendCompletions());
        final SoftCompletionQueue receive = SoftCompletionQueue.of(device, options.receiveCompletions());
        final SoftSharedReceiveQueue shared =
            options.sharedReceiveQueue() == null ? null : own(options.sharedReceiveQueue());
        if (shared != null && options.type() != QueuePairType.RC && options.type() != QueuePairType.UD)
        {
            throw new RdmaException("only RC and UD take receives from a shared queue: type=" + options.type());
        }
        final SoftQueuePair queuePair;
        synchronized (this)
        {
            checkOpen();
            queuePair = addSharing(
                shared, number -> new SoftQueuePair(
                    device, identity, this::queuePairClosed, send, receive, shared, options, number));
            queuePairCount++;
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

    /** Makes what takes its receives from a shared queue, if it does: that stays open from before until it closes. */
    private <T extends SoftResponder> T addSharing(final SoftSharedReceiveQueue shared, final IntFunction<T> factory)
    {
        if (shared == null)
        {
            return device.addQueuePair(factory);
        }
        shared.attach();
        boolean isAdded = false;
        try
        {
            final T added = device.addQueuePair(factory);
            isAdded = true;
            return added;
        }
        finally
        {
            if (!isAdded)
            {
                shared.detach();
            }
        }
    }

    private SoftSharedReceiveQueue own(final SharedReceiveQueue queue)
    {
        if (queue instanceof SoftSharedReceiveQueue soft && soft.protectionDomain() == this)
        {
            return soft;
        }
        throw new RdmaException("not a shared receive queue of this protection domain: " + queue);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        SoftHost.checkRange("maxReceiveRequests", maxReceiveRequests, 1, SoftHost.MAX_QUEUE_PAIR_REQUESTS);
        final SoftSharedReceiveQueue queue;
        synchronized (this)
        {
            checkOpen();
            queue = new SoftSharedReceiveQueue(device, this, maxReceiveRequests, this::sharedReceiveQueueClosed);
            sharedQueueCount++;
        }
        onQueueOpened.accept(queue);
        return queue;
    }

    @Override
    public synchronized AddressHandle createAddressHandle(final DeviceAddress target)
    {
        checkOpen();
        final AddressHandle handle = new SoftAddressHandle(Objects.requireNonNull(target), this::handleClosed);
        handleCount++;
        return handle;
    }

    private synchronized void handleClosed()
    {
        handleCount--;
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        SoftHost.checkRange("maxReadAtomic", options.maxReadAtomic(), 0, SoftHost.MAX_READ_ATOMIC);
        final SoftCompletionQueue completions = SoftCompletionQueue.of(device, options.receiveCompletions());
        final SoftSharedReceiveQueue shared = own(options.sharedReceiveQueue());
        final SoftDcTarget target;
        synchronized (this)
        {
            checkOpen();
            target = addSharing(
                shared, number -> new SoftDcTarget(
                    device, identity.id(), this::dcTargetClosed, completions, shared, options, number));
            targetCount++;
        }
        try
        {
            completions.attach(target);
            return target;
        }
        catch (final RdmaException ex)
        {
            target.close();
            throw ex;
        }
    }

    private void dcTargetClosed(final SoftResponder target)
    {
        device.removeQueuePair(target);
        synchronized (this)
        {
            targetCount--;
        }
    }

    private void sharedReceiveQueueClosed(final SoftSharedReceiveQueue queue)
    {
        onQueueClosed.accept(queue);
        synchronized (this)
        {
            sharedQueueCount--;
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        final BoundWindow window;
        synchronized (this)
        {
            checkOpen();
            window = device.windows().add(identity.domain(), this);
            windowCount++;
        }
        boolean isAdded = false;
        try
        {
            way.windowAdded(window);
            isAdded = true;
            return window;
        }
        finally
        {
            if (!isAdded)
            {
                window.close();
            }
        }
    }

    /** Waits for the requesters of the queue pair it is bound to. */
    @Override
    public void release(final BoundWindow window)
    {
        final WindowBinding binding = window.binding();
        device.windows().revoke(window);
        if (binding != null)
        {
            device.awaitOutside(binding.queuePairNumber());
        }
        device.windows().remove(window);
        way.windowRemoved(window);
        synchronized (this)
        {
            windowCount--;
        }
    }

    @Override
    public void settle(final BoundWindow window)
    {
        device.windows().collect(window);
    }

    @Override
    public void collectInvalidated(final RegisteredRegion region)
    {
        device.windows().collect(region);
    }

    @Override
    public void release(final RegisteredRegion region)
    {
        device.keys().withdraw(region);
        device.awaitOutside();
        way.regionWithdrawn(region);
        device.keys().forget(region);
        files.remove(region).close();
        synchronized (this)
        {
            regionCount--;
        }
    }

    @Override
    public synchronized void close()
    {
        if (queuePairCount + regionCount + windowCount + sharedQueueCount + targetCount + handleCount > 0)
        {
            throw new RdmaException(
                "protection domain is in use: close its children first, queuePairs=" + queuePairCount +
                ", regions=" + regionCount + ", windows=" + windowCount + ", sharedReceiveQueues=" +
                sharedQueueCount + ", DC targets=" + targetCount + ", address handles=" + handleCount);
        }
        if (!isClosed)
        {
            isClosed = true;
            device.childClosed();
        }
    }

    private void queuePairClosed(final SoftResponder queuePair)
    {
        device.removeQueuePair(queuePair);
        synchronized (this)
        {
            queuePairCount--;
        }
    }

    private static void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        SoftHost.checkRange("maxSendRequests", capabilities.maxSendRequests(), 1, SoftHost.MAX_QUEUE_PAIR_REQUESTS);
        SoftHost.checkRange(
            "maxReceiveRequests", capabilities.maxReceiveRequests(), 0, SoftHost.MAX_QUEUE_PAIR_REQUESTS);
        SoftHost.checkRange("maxInlineBytes", capabilities.maxInlineBytes(), 0, SoftHost.MAX_INLINE_BYTES);
        SoftHost.checkRange("maxReadAtomic", capabilities.maxReadAtomic(), 0, SoftHost.MAX_READ_ATOMIC);
        SoftHost.checkRange("maxSendSegments", capabilities.maxSendSegments(), 1, SegmentList.MAX_SEGMENTS);
    }

    private synchronized void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("protection domain is closed: device=" + device.name());
        }
    }
}
