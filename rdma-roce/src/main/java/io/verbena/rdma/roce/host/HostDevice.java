package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.device.RoceDevice;
import io.verbena.rdma.soft.SoftDevice;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.verbs.AsyncEvent;
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

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One device for a host: one of shared memory and one of RoCEv2 over the same memory. Which of them carries a queue
 * pair's messages is decided by the peer's address when it is connected.
 */
final class HostDevice implements Device
{
    private final SoftDevice shared;
    private final RoceDevice network;
    private final DeviceAttributes attributes;
    private final Consumer<HostDevice> onClosed;
    private final HostParts parts;

    /** @param onClosed called once. */
    HostDevice(final SoftDevice shared, final RoceDevice network, final Consumer<HostDevice> onClosed)
    {
        this.shared = shared;
        this.network = network;
        this.onClosed = onClosed;
        parts = new HostParts(shared, network);
        attributes = attributes(shared.attributes(), network.attributes());
    }

    private static DeviceAttributes attributes(final DeviceAttributes shared, final DeviceAttributes network)
    {
        final Set<DeviceCapability> capabilities = EnumSet.copyOf(shared.capabilities());
        capabilities.retainAll(network.capabilities());
        return new DeviceAttributes(
            shared.provider(),
            capabilities,
            shared.readAfterAtomicNeedsFence() || network.readAfterAtomicNeedsFence(),
            Math.min(shared.maxQueuePairRequests(), network.maxQueuePairRequests()),
            Math.min(shared.maxCompletions(), network.maxCompletions()),
            Math.min(shared.maxMessageBytes(), network.maxMessageBytes()),
            Math.min(shared.maxInlineBytes(), network.maxInlineBytes()),
            Math.min(shared.maxSendSegments(), network.maxSendSegments()),
            Math.min(shared.maxReadAtomic(), network.maxReadAtomic()),
            Math.min(shared.maxSharedReceiveRequests(), network.maxSharedReceiveRequests()),
            Math.min(shared.maxMemoryWindows(), network.maxMemoryWindows()),
            Math.min(shared.maxDcContexts(), network.maxDcContexts()));
    }

    int udpPort()
    {
        return network.udpPort();
    }

    @Override
    public String name()
    {
        return shared.name();
    }

    @Override
    public DeviceAttributes attributes()
    {
        return attributes;
    }

    @Override
    public PortAttributes port()
    {
        final PortAttributes port = network.port();
        return new PortAttributes(port.number(), port.isActive(), "Ethernet; on this host shared memory",
            port.address(), port.pathMtuBytes());
    }

    @Override
    public String memoryPages()
    {
        return shared.memoryPages();
    }

    @Override
    public List<String> transports()
    {
        return List.of(shared.transports().getFirst(), network.transports().getFirst());
    }

    @Override
    public NetworkCounters networkCounters()
    {
        return network.networkCounters();
    }

    /** Of connections with other hosts; peers of this one share memory, which nothing seals. */
    @Override
    public ConnectionRequest.PacketSeal packetSeal()
    {
        return network.packetSeal();
    }

    @Override
    public RefusedConnections refusedConnections()
    {
        return network.refusedConnections();
    }

    @Override
    public DeviceAddress address()
    {
        return network.address();
    }

    /** Peers of this host find the device by its address; so that of a port is for queue pairs alone that have one. */
    @Override
    public DeviceAddress address(final QueuePair queuePair)
    {
        if (queuePair instanceof final HostDcInitiator initiator && initiator.isOf(parts))
        {
            return address();
        }
        final QueuePair part = HostQueuePair.of(parts, queuePair).networkPart();
        return part == null ? address() : network.address(part);
    }

    @Override
    public NanoClock clock()
    {
        return shared.clock();
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        return new HostDomain(parts, attributes);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        return addQueue(new HostCompletionQueue(parts, null,
            shared.createCompletionQueue(capacity), listener -> network.createListenedQueue(capacity, null)));
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        final HostCompletionChannel own = own(channel);
        return addQueue(new HostCompletionQueue(parts, own,
            shared.createCompletionQueue(capacity, own.shared()),
            listener -> network.createListenedQueue(capacity, listener)));
    }

    private CompletionQueue addQueue(final HostCompletionQueue queue)
    {
        parts.opened(queue.shared(), queue);
        parts.opened(queue.network(), queue);
        return queue;
    }

    private HostCompletionChannel own(final CompletionChannel channel)
    {
        if (channel instanceof final HostCompletionChannel own && own.parts() == parts)
        {
            return own;
        }
        throw new RdmaException("not a completion channel of this device: device=" + name());
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        return new HostCompletionChannel(parts);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        AsyncEvent event = oldestEvent();
        while (event != null)
        {
            final boolean isOfDevice = event.source() == shared || event.source() == network;
            final Object source = isOfDevice ? this : parts.whole(event.source());
            if (source != null)
            {
                return new AsyncEvent(event.type(), source);
            }
            event = oldestEvent();
        }
        return null;
    }

    private AsyncEvent oldestEvent()
    {
        final AsyncEvent event = shared.pollAsyncEvent();
        return event == null ? network.pollAsyncEvent() : event;
    }

    @Override
    public boolean wakesForConnections()
    {
        return true;
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        return listen(shared.listen(servicePort), servicePort, () -> { });
    }

    @Override
    public ConnectionListener listen(final int servicePort, final CompletionChannel channel)
    {
        final HostCompletionChannel own = own(channel);
        return listen(shared.listen(servicePort, own.shared()), servicePort, own::onConnectionRequest);
    }

    private ConnectionListener listen(
        final ConnectionListener local, final int servicePort, final Runnable onRequest)
    {
        HostListener listener = null;
        try
        {
            listener = new HostListener(parts, local, network.listen(servicePort, onRequest));
            return listener;
        }
        finally
        {
            if (listener == null)
            {
                local.close();
            }
        }
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
        final HostQueuePair own = HostQueuePair.of(parts, queuePair);
        final DeviceAddress local = parts.local(target);
        final StagedQueuePair part = own.route(local != null, target);
        return local == null ?
            network.connect(part, target, servicePort, accessFlags, privateData, timeoutNs) :
            shared.connect(part, local, servicePort, accessFlags, privateData, timeoutNs);
    }

    @Override
    public void close()
    {
        shared.close();
        network.close();
        onClosed.accept(this);
    }

    @Override
    public String toString()
    {
        return "HostDevice{name=" + name() + ", network=" + network + '}';
    }
}
