package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ConnectionMailbox;
import io.verbena.rdma.soft.shared.DcContexts;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.NetworkUse;
import io.verbena.rdma.spi.SecondWay;
import io.verbena.rdma.spi.SegmentList;
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
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/** A device of a {@link SoftFabric}: its control file, and what is made from it. Thread-safe. */
public final class SoftDevice implements Device
{
    private static final int MAX_COMPLETIONS = 1 << 20;
    private static final Set<DeviceCapability> CAPABILITIES = Set.of(
        DeviceCapability.RC, DeviceCapability.UC, DeviceCapability.UD, DeviceCapability.DC,
        DeviceCapability.SHARED_RECEIVE_QUEUE, DeviceCapability.MEMORY_WINDOW, DeviceCapability.COMPLETION_CHANNEL,
        DeviceCapability.ASYNC_EVENT, DeviceCapability.QUEUE_PAIR_STATES, DeviceCapability.REGISTER_WHOLE_PAGES,
        DeviceCapability.GLOBAL_ATOMICS);

    private final SoftHost host;
    private final DeviceAttributes attributes;
    private final String memoryPages;
    private final Runnable onClosed;
    private final List<SoftCompletionQueue> completionQueues = new CopyOnWriteArrayList<>();
    private final List<SoftSharedReceiveQueue> sharedReceiveQueues = new CopyOnWriteArrayList<>();
    private final List<SoftConnectionListener> listeners = new CopyOnWriteArrayList<>();
    private final PeerTable.Claims claims = new OpenClaims();
    private int lastDomainId;

    /**
     * @param fabric      what it gives the device.
     * @param network     that it is on, too.
     * @param memoryPages text for the pages of its memory.
     * @param onClosed    called once, before the device is gone.
     */
    SoftDevice(
        final SoftHost.FabricTerms fabric,
        final String name,
        final DeviceAddress address,
        final int deviceIndex,
        final NetworkUse network,
        final String memoryPages,
        final Runnable onClosed)
    {
        this.memoryPages = memoryPages;
        this.onClosed = onClosed;
        host = new SoftHost(fabric, name, address, deviceIndex, network, claims);
        attributes = attributes(fabric.maxDcContexts());
    }

    private static DeviceAttributes attributes(final int maxDcContexts)
    {
        return new DeviceAttributes(
            "soft",
            CAPABILITIES,
            false,
            SoftHost.MAX_QUEUE_PAIR_REQUESTS,
            MAX_COMPLETIONS,
            SoftHost.MAX_MESSAGE_BYTES,
            SoftHost.MAX_INLINE_BYTES,
            SegmentList.MAX_SEGMENTS,
            SoftHost.MAX_READ_ATOMIC,
            SoftHost.MAX_QUEUE_PAIR_REQUESTS,
            WindowTable.MAX_WINDOWS,
            maxDcContexts);
    }

    /** What everything on it shares. */
    SoftHost host()
    {
        return host;
    }

    @Override
    public String name()
    {
        return host.name();
    }

    @Override
    public DeviceAttributes attributes()
    {
        return attributes;
    }

    @Override
    public PortAttributes port()
    {
        return new PortAttributes(1, true, "shared memory", host.address(), SoftHost.PATH_MTU_BYTES);
    }

    @Override
    public String memoryPages()
    {
        return memoryPages;
    }

    @Override
    public List<String> transports()
    {
        return List.of(SoftQueuePair.SHARED_MEMORY);
    }

    @Override
    public DeviceAddress address()
    {
        return host.address();
    }

    @Override
    public NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        return allocateProtectionDomain(null, SecondWay.NONE);
    }

    /**
     * Allocates a domain whose memory is reached by another way, too.
     *
     * @param user what the regions, windows and queue pairs belong to in the eyes of that way; null for the new domain.
     * @param way  notified of regions and windows.
     * @return the domain, closed by the caller.
     */
    public synchronized ProtectionDomain allocateProtectionDomain(final ProtectionDomain user, final SecondWay way)
    {
        host.checkOpen();
        host.childOpened();
        return new SoftProtectionDomain(
            host, ++lastDomainId, user, way, sharedReceiveQueues::add, this::sharedReceiveQueueClosed);
    }

    /**
     * The address on a network of a device that can be connected to by shared memory now, too: it lives on this host,
     * and its fabric has the same directory and network namespace.
     *
     * @param device its address on its soft fabric.
     * @return the one that it was opened with; null when it is on no network, or is not reached.
     */
    public DeviceAddress networkAddress(final DeviceAddress device)
    {
        final SoftPeer peer = device.gidHigh() == host.address().gidHigh() ? host.usePeer(device.gidLow()) : null;
        if (peer == null)
        {
            return null;
        }
        try
        {
            return peer.file().networkAddress();
        }
        finally
        {
            peer.unuse();
        }
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
        host.checkOpen();
        SoftHost.checkRange("capacity", capacity, 1, MAX_COMPLETIONS);
        final SoftCompletionQueue queue = new SoftCompletionQueue(
            host, capacity, channel, this::completionQueueClosed);
        host.childOpened();
        completionQueues.add(queue);
        return queue;
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        return createCompletionChannel(() -> false);
    }

    /**
     * Creates a completion channel that something else wakes, too.
     *
     * @param isWanted whether a wait is to end, with null; asked by the waiting thread, also after
     *                 {@link SoftCompletionChannel#wake()}.
     * @return the channel, closed by the caller.
     */
    public synchronized SoftCompletionChannel createCompletionChannel(final BooleanSupplier isWanted)
    {
        host.checkOpen();
        final SoftCompletionChannel channel = new SoftCompletionChannel(host, isWanted);
        host.childOpened();
        return channel;
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        host.queuePairs().collectEvents(host.events());
        for (final SoftCompletionQueue queue : completionQueues)
        {
            if (queue.takeOverrun())
            {
                host.raise(AsyncEventType.CQ_ERR, queue);
            }
        }
        // Held, so that no ring is read that is being given back.
        synchronized (sharedReceiveQueues)
        {
            for (final SoftSharedReceiveQueue queue : sharedReceiveQueues)
            {
                if (queue.takeLimitEvent())
                {
                    host.raise(AsyncEventType.SRQ_LIMIT_REACHED, queue);
                }
            }
        }
        return host.events().poll();
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
        host.checkOpen();
        SoftHost.checkRange("servicePort", servicePort, 1, 65_535);
        if (listenerEntry(servicePort) != 0)
        {
            throw new RdmaException("service port is taken: device=" + host.name() + ", servicePort=" + servicePort);
        }
        final long entry = listenerEntry(0);
        if (entry == 0)
        {
            throw new RdmaException(
                "too many listeners: device=" + host.name() + ", open=" + DeviceFileDescriptor.MAX_LISTENERS);
        }
        final int index = (int)(entry - host.file().base() - DeviceFileDescriptor.LISTENERS_OFFSET) /
            DeviceFileDescriptor.LISTENER_BYTES;
        final SoftConnectionListener listener = new SoftConnectionListener(
            host, index, channel, this::listenerClosing);
        if (channel != null)
        {
            attach(channel, listener);
        }
        host.childOpened();
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
            host.rings().free(listener.mailboxOffset(), ConnectionMailbox.LENGTH);
            throw ex;
        }
    }

    private long listenerEntry(final int servicePort)
    {
        return ConnectionService.findListener(host.file(), servicePort);
    }

    /** A listener takes nothing more: returns when nobody can be putting anything in. */
    private void listenerClosing(final SoftConnectionListener listener)
    {
        listeners.remove(listener);
        SharedWords.putIntVolatile(
            host.file().base() + DeviceFileDescriptor.LISTENERS_OFFSET +
                (long)listener.tableIndex() * DeviceFileDescriptor.LISTENER_BYTES, 0);
        host.awaitOutside();
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
        SoftHost.checkRange("privateData.length", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        return ConnectionService.connect(
            host, SoftQueuePair.of(host, queuePair), target, servicePort, accessFlags, privateData, timeoutNs);
    }

    @Override
    public synchronized void close()
    {
        if (host.isClosed())
        {
            return;
        }
        if (host.childCount() > 0)
        {
            throw new RdmaException(
                "device is in use: close its protection domains, completion queues and listeners first, device=" +
                host.name() + ", open=" + host.childCount());
        }
        onClosed.run();
        host.close();
    }

    private void sharedReceiveQueueClosed(final SoftSharedReceiveQueue queue)
    {
        synchronized (sharedReceiveQueues)
        {
            sharedReceiveQueues.remove(queue);
        }
        host.events().forget(queue);
    }

    /** What the claims of visitors lie in. */
    private final class OpenClaims implements PeerTable.Claims
    {
        @Override
        public void visitorsDied()
        {
            DcContexts.releaseDead(host.file(), host::isDeadVisitor);
            completionQueues.forEach(SoftCompletionQueue::requestAttention);
        }

        @Override
        public boolean hasClaimOf(final int visitor)
        {
            return SoftDevice.this.hasClaimOf(visitor);
        }
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

    boolean hasClaimOf(final int visitor)
    {
        return completionQueues.stream().anyMatch(queue -> queue.hasClaimOf(visitor)) ||
            host.queuePairs().hasClaimOf(visitor) || isClaimedByVisitor(visitor) || isConnecting(visitor);
    }

    private void completionQueueClosed(final SoftCompletionQueue queue)
    {
        completionQueues.remove(queue);
        host.events().forget(queue);
        host.childClosed();
    }

    private SoftCompletionChannel own(final CompletionChannel channel)
    {
        if (channel instanceof SoftCompletionChannel soft && soft.host() == host)
        {
            return soft;
        }
        throw new RdmaException("not a completion channel of this device: device=" + host.name());
    }
}
