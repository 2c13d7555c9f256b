package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.ConnectionMailbox;
import io.verbena.rdma.soft.shared.DcContexts;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.soft.shared.RingSpace;
import io.verbena.rdma.soft.shared.SharedFiles;
import io.verbena.rdma.soft.shared.SharedKeys;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;

/** A device of a {@link SoftFabric}: its control file, and what is made from it. Thread-safe. */
final class SoftDevice implements Device
{
    /** The transport between devices of one host. */
    static final String SHARED_MEMORY = "shared-memory";
    static final int MAX_MESSAGE_BYTES = 1 << 30;
    static final int PATH_MTU_BYTES = 4096;
    static final int MAX_QUEUE_PAIR_REQUESTS = 1 << 15;
    private static final int MAX_COMPLETIONS = 1 << 20;
    private static final int MAX_INLINE_BYTES = 1 << 10;
    static final int MAX_READ_ATOMIC = 128;
    private static final Set<DeviceCapability> CAPABILITIES = Set.of(
        DeviceCapability.RC, DeviceCapability.UC, DeviceCapability.UD, DeviceCapability.DC,
        DeviceCapability.SHARED_RECEIVE_QUEUE, DeviceCapability.MEMORY_WINDOW, DeviceCapability.COMPLETION_CHANNEL,
        DeviceCapability.ASYNC_EVENT, DeviceCapability.QUEUE_PAIR_STATES, DeviceCapability.REGISTER_WHOLE_PAGES,
        DeviceCapability.GLOBAL_ATOMICS);

    private final SoftFabric fabric;
    private final String name;
    private final DeviceAddress address;
    private final DeviceAttributes attributes;
    private final DeviceFile file;
    private final RingSpace rings;
    private final SharedKeys keys;
    private final SharedWindows windows;
    private final QueuePairTable queuePairs;
    private final PeerTable peers;
    private final AsyncEventQueue events = new AsyncEventQueue();
    private final List<SoftCompletionQueue> completionQueues = new CopyOnWriteArrayList<>();
    private final List<SoftSharedReceiveQueue> sharedReceiveQueues = new CopyOnWriteArrayList<>();
    private final List<SoftConnectionListener> listeners = new CopyOnWriteArrayList<>();
    /** Held while the watch looks at the device; closing waits for that. */
    private final Object watchLock = new Object();
    private int lastDomainId;
    private int childCount;
    private volatile boolean isClosed;

    SoftDevice(final SoftFabric fabric, final String name, final DeviceAddress address, final int deviceIndex)
    {
        this.fabric = fabric;
        this.name = name;
        this.address = address;
        file = DeviceFile.create(fabric.files().deviceFile(fabric.files().ownerId(), deviceIndex));
        rings = new RingSpace(file);
        keys = new SharedKeys(file);
        windows = new SharedWindows(file, keys.local(), keys.entries());
        queuePairs = new QueuePairTable(file);
        peers = new PeerTable(this);
        attributes = attributes(fabric.maxDcContexts());
        file.open(address, deviceIndex, name, fabric.mayBeKilled(), fabric.maxDcContexts());
    }

    private static DeviceAttributes attributes(final int maxDcContexts)
    {
        return new DeviceAttributes(
            "soft",
            CAPABILITIES,
            false,
            MAX_QUEUE_PAIR_REQUESTS,
            MAX_COMPLETIONS,
            MAX_MESSAGE_BYTES,
            MAX_INLINE_BYTES,
            MAX_READ_ATOMIC,
            MAX_QUEUE_PAIR_REQUESTS,
            WindowTable.MAX_WINDOWS,
            maxDcContexts);
    }

    SoftFabric fabric()
    {
        return fabric;
    }

    DeviceFile file()
    {
        return file;
    }

    RingSpace rings()
    {
        return rings;
    }

    SharedKeys keys()
    {
        return keys;
    }

    SharedWindows windows()
    {
        return windows;
    }

    PeerTable peers()
    {
        return peers;
    }

    OutsideWait outside()
    {
        return fabric.outside();
    }

    /** Requesters, after entering anew without a look at their own state: whether they may do nothing any more. */
    boolean isEnding()
    {
        return fabric.files().isEnding();
    }

    long rnrTimeoutNs()
    {
        return fabric.rnrTimeoutNs();
    }

    @Override
    public String name()
    {
        return name;
    }

    @Override
    public DeviceAttributes attributes()
    {
        return attributes;
    }

    @Override
    public PortAttributes port()
    {
        return new PortAttributes(1, true, "shared memory", address, PATH_MTU_BYTES);
    }

    @Override
    public String memoryPages()
    {
        return fabric.memoryPages();
    }

    @Override
    public List<String> transports()
    {
        return List.of(SHARED_MEMORY);
    }

    @Override
    public DeviceAddress address()
    {
        return address;
    }

    @Override
    public NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public synchronized ProtectionDomain allocateProtectionDomain()
    {
        checkOpen();
        childCount++;
        return new SoftProtectionDomain(this, ++lastDomainId);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        return newCompletionQueue(capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        final SoftCompletionChannel own = own(channel);
        final SoftCompletionQueue queue = newCompletionQueue(capacity, own);
        try
        {
            own.attach(queue);
            return queue;
        }
        catch (final RdmaException ex)
        {
            queue.close();
            throw ex;
        }
    }

    private synchronized SoftCompletionQueue newCompletionQueue(
        final int capacity, final SoftCompletionChannel channel)
    {
        checkOpen();
        checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        final SoftCompletionQueue queue = new SoftCompletionQueue(this, capacity, channel);
        childCount++;
        completionQueues.add(queue);
        return queue;
    }

    @Override
    public synchronized CompletionChannel createCompletionChannel()
    {
        checkOpen();
        final CompletionChannel channel = new SoftCompletionChannel(this);
        childCount++;
        return channel;
    }

    void raise(final AsyncEventType type, final Object source)
    {
        events.raise(type, source);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        queuePairs.collectEvents(events);
        for (final SoftCompletionQueue queue : completionQueues)
        {
            if (queue.takeOverrun())
            {
                events.raise(AsyncEventType.CQ_ERR, queue);
            }
        }
        // Held, so that no ring is looked at that is being given back.
        synchronized (sharedReceiveQueues)
        {
            for (final SoftSharedReceiveQueue queue : sharedReceiveQueues)
            {
                if (queue.takeLimitEvent())
                {
                    events.raise(AsyncEventType.SRQ_LIMIT_REACHED, queue);
                }
            }
        }
        return events.poll();
    }

    @Override
    public boolean wakesForConnections()
    {
        return true;
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        return listenAt(servicePort, null);
    }

    @Override
    public ConnectionListener listen(final int servicePort, final CompletionChannel channel)
    {
        return listenAt(servicePort, own(channel));
    }

    private synchronized ConnectionListener listenAt(final int servicePort, final SoftCompletionChannel channel)
    {
        checkOpen();
        checkRange("servicePort", servicePort, 1, 65_535);
        if (listenerEntry(servicePort) != 0)
        {
            throw new RdmaException("service port is taken: device=" + name + ", servicePort=" + servicePort);
        }
        final long entry = listenerEntry(0);
        if (entry == 0)
        {
            throw new RdmaException(
                "too many listeners: device=" + name + ", open=" + DeviceFileDescriptor.MAX_LISTENERS);
        }
        final int index = (int)(entry - file.base() - DeviceFileDescriptor.LISTENERS_OFFSET) /
            DeviceFileDescriptor.LISTENER_BYTES;
        final SoftConnectionListener listener = new SoftConnectionListener(this, index, channel);
        if (channel != null)
        {
            attach(channel, listener);
        }
        childCount++;
        listeners.add(listener);
        SharedWords.putInt(
            entry + DeviceFileDescriptor.LISTENER_EVENT_OFFSET, channel == null ? 0 : (int)channel.wordOffset());
        SharedWords.putLong(entry + DeviceFileDescriptor.LISTENER_MAILBOX_OFFSET, listener.mailboxOffset());
        SharedWords.putIntRelease(entry + DeviceFileDescriptor.LISTENER_PORT_OFFSET, servicePort);
        return listener;
    }

    private void attach(final SoftCompletionChannel channel, final SoftConnectionListener listener)
    {
        try
        {
            channel.attach(listener);
        }
        catch (final RdmaException ex)
        {
            rings.free(listener.mailboxOffset(), ConnectionMailbox.LENGTH);
            throw ex;
        }
    }

    private long listenerEntry(final int servicePort)
    {
        return ConnectionService.findListener(file, servicePort);
    }

    /** A listener takes nothing more: returns when nobody can be putting anything in. */
    void listenerClosing(final SoftConnectionListener listener)
    {
        listeners.remove(listener);
        SharedWords.putIntVolatile(
            file.base() + DeviceFileDescriptor.LISTENERS_OFFSET +
                (long)listener.tableIndex() * DeviceFileDescriptor.LISTENER_BYTES, 0);
        awaitOutside();
    }

    @Override
    public ConnectionAttempt connect(
        final QueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final int accessFlags,
        final byte[] privateData,
        final long timeoutNs)
    {
        checkRange("privateData.length", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        return ConnectionService.connect(
            this, own(queuePair), target, servicePort, accessFlags, privateData, timeoutNs);
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (childCount > 0)
        {
            throw new RdmaException(
                "device is in use: close its protection domains, completion queues and listeners first, device=" +
                name + ", open=" + childCount);
        }
        fabric.deviceClosed(this);
        synchronized (watchLock)
        {
            isClosed = true;
        }
        peers.close();
        file.disown();
        SharedFiles.deleteQuietly(file.path());
        file.close();
    }

    <T extends SoftResponder> T addQueuePair(final IntFunction<T> factory)
    {
        return queuePairs.add(factory);
    }

    void removeQueuePair(final SoftResponder queuePair)
    {
        queuePairs.remove(queuePair);
        events.forget(queuePair);
    }

    void sharedReceiveQueueOpened(final SoftSharedReceiveQueue queue)
    {
        sharedReceiveQueues.add(queue);
    }

    void sharedReceiveQueueClosed(final SoftSharedReceiveQueue queue)
    {
        synchronized (sharedReceiveQueues)
        {
            sharedReceiveQueues.remove(queue);
        }
        events.forget(queue);
    }

    /** Polling threads: the open queue pair of a number, or null. */
    SoftResponder queuePair(final int number)
    {
        return queuePairs.find(number);
    }

    /** Waits for every requester that may be inside this device's memory: own queue pairs and visitors. */
    void awaitOutside()
    {
        outside().awaitOutside(file, 0);
        peers.awaitVisitorsOutside();
    }

    /** Whether some requester is inside this device's memory right now. */
    boolean isAnyoneInside()
    {
        return AccessMark.isAnyInside(file, address.gidLow()) || peers.isVisitorInside();
    }

    /** As {@link #awaitOutside()}, for those that come through one queue pair. */
    void awaitOutside(final int queuePairNumber)
    {
        if (queuePair(queuePairNumber) instanceof final SoftQueuePair queuePair)
        {
            queuePair.awaitRequesters();
        }
        else
        {
            // Being closed by another thread.
            awaitOutside();
        }
    }

    /** The device of this address, for one more user; null when it cannot be reached. */
    SoftPeer usePeer(final long interfaceId)
    {
        return peers.use(interfaceId);
    }

    boolean isDeadVisitor(final int visitor)
    {
        return peers.isDeadVisitor(visitor);
    }

    /** The watch: does something on the device unless it is closed. */
    void watch(final Runnable task)
    {
        synchronized (watchLock)
        {
            if (!isClosed)
            {
                task.run();
            }
        }
    }

    /** Some peer is dead: it needs no contexts any more; let the owners of the queues look. */
    void visitorsDied()
    {
        DcContexts.releaseDead(file, this::isDeadVisitor);
        completionQueues.forEach(SoftCompletionQueue::requestAttention);
    }

    private boolean isClaimedByVisitor(final int visitor)
    {
        synchronized (sharedReceiveQueues)
        {
            return sharedReceiveQueues.stream().anyMatch(queue -> queue.hasClaimOf(visitor));
        }
    }

    private boolean isConnecting(final int visitor)
    {
        for (final SoftConnectionListener listener : listeners)
        {
            if (listener.hasClaimOf(visitor))
            {
                return true;
            }
        }
        return false;
    }

    /** Whether a claim of this visitor is open in any ring. */
    boolean hasClaimOf(final int visitor)
    {
        return completionQueues.stream().anyMatch(queue -> queue.hasClaimOf(visitor)) ||
            queuePairs.hasClaimOf(visitor) || isClaimedByVisitor(visitor) || isConnecting(visitor);
    }

    void completionQueueClosed(final SoftCompletionQueue queue)
    {
        completionQueues.remove(queue);
        events.forget(queue);
        childClosed();
    }

    synchronized void childClosed()
    {
        childCount--;
    }

    private SoftCompletionChannel own(final CompletionChannel channel)
    {
        if (channel instanceof SoftCompletionChannel soft && soft.device() == this)
        {
            return soft;
        }
        throw new RdmaException("not a completion channel of this device: device=" + name);
    }

    SoftQueuePair own(final QueuePair queuePair)
    {
        if (queuePair instanceof SoftQueuePair soft && soft.device() == this)
        {
            return soft;
        }
        throw new RdmaException("not a queue pair of this device: device=" + name + ", queuePair=" + queuePair);
    }

    SoftCompletionQueue own(final CompletionQueue completionQueue)
    {
        if (completionQueue instanceof SoftCompletionQueue soft && soft.device() == this)
        {
            return soft;
        }
        throw new RdmaException(
            "not a completion queue of this device: device=" + name + ", completionQueue=" + completionQueue);
    }

    void checkCapabilities(final QueuePairCapabilities capabilities)
    {
        checkRange("maxSendRequests", capabilities.maxSendRequests(), 1, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxReceiveRequests", capabilities.maxReceiveRequests(), 0, MAX_QUEUE_PAIR_REQUESTS);
        checkRange("maxInlineBytes", capabilities.maxInlineBytes(), 0, MAX_INLINE_BYTES);
        checkRange("maxReadAtomic", capabilities.maxReadAtomic(), 0, MAX_READ_ATOMIC);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
    }

    static void checkRange(final String what, final long value, final long min, final long max)
    {
        if (value < min || value > max)
        {
            throw new RdmaException(
                what + " is out of range: " + what + "=" + value + ", allowed " + min + " to " + max);
        }
    }
}
