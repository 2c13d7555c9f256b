package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ConnectionService;
import io.verbena.rdma.roce.engine.CompletionListener;
import io.verbena.rdma.roce.engine.EngineOptions;
import io.verbena.rdma.roce.engine.NetworkCompletionQueue;
import io.verbena.rdma.roce.engine.RoceEngine;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.UdpPortOptions;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WindowTable;
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
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A UDP port with an engine that speaks RoCEv2, and a connection service at the TCP port of the same number. */
public final class RoceDevice implements Device
{
    private static final int PORT_ATTEMPTS = 32;
    private static final int MTU_CODE_SHIFT = 7;
    private static final Set<DeviceCapability> CAPABILITIES = EnumSet.of(
        DeviceCapability.RC, DeviceCapability.UC, DeviceCapability.UD, DeviceCapability.DC,
        DeviceCapability.SHARED_RECEIVE_QUEUE,
        DeviceCapability.MEMORY_WINDOW, DeviceCapability.COMPLETION_CHANNEL, DeviceCapability.ASYNC_EVENT,
        DeviceCapability.QUEUE_PAIR_STATES, DeviceCapability.REGISTER_ANY_MEMORY,
        DeviceCapability.REGISTER_WHOLE_PAGES, DeviceCapability.GLOBAL_ATOMICS);

    private final String name;
    private final LocalAddress local;
    private final int mtuBytes;
    private final Lane[] lanes;
    private final DeviceAddress address;
    private final UdpPort port;
    private final DeviceDriver driver;
    private final RoceEngine engine;
    private final Set<LanedCompletionQueue> lanedQueues = ConcurrentHashMap.newKeySet();
    private final RoceConnections connectionDevice;
    private final ConnectionService connections;
    private final RegionFiles files;
    private final DeviceAttributes attributes;
    private final AtomicInteger channels = new AtomicInteger();
    private final Consumer<RoceDevice> onClosed;
    private boolean isClosed;

    private RoceDevice(
        final String name,
        final LocalAddress local,
        final RoceFabricOptions options,
        final List<UdpPort> ports,
        final int processId,
        final RegionFiles files,
        final Consumer<RoceDevice> onClosed)
        throws IOException
    {
        this.name = name;
        this.local = local;
        mtuBytes = options.mtu() == 0 ? local.payloadBytes() : options.mtu();
        this.files = files;
        this.onClosed = onClosed;
        lanes = new Lane[ports.size()];
        for (int i = 0; i < lanes.length; i++)
        {
            lanes[i] = new Lane(name, ports.get(i), TimeUnit.MICROSECONDS.toNanos(options.spinUs()), processId,
                mtuBytes, i, lanes.length, options.secret() != null, random()::nextInt);
        }
        port = lanes[0].port;
        driver = lanes[0].driver;
        engine = lanes[0].engine;
        address = lanes[0].address;
        connectionDevice = new RoceConnections(
            name, lanes, Integer.numberOfTrailingZeros(mtuBytes) - MTU_CODE_SHIFT, random(), options);
        connections = connectionService((int)port.address().serviceLocator());
        attributes = new DeviceAttributes("roce", capabilities(options), false, DeviceLimits.MAX_QUEUE_PAIR_REQUESTS,
            DeviceLimits.MAX_COMPLETIONS, RoceEngine.MAX_MESSAGE_BYTES, DeviceLimits.MAX_INLINE_BYTES,
            SegmentList.MAX_SEGMENTS, EngineOptions.MAX_READ_ATOMIC,
            DeviceLimits.MAX_QUEUE_PAIR_REQUESTS, WindowTable.MAX_WINDOWS,
            EngineOptions.DC_CONTEXTS);
        for (final Lane lane : lanes)
        {
            lane.start();
        }
        connections.start();
    }

    /** Without a connection there are no keys: nothing of it is sent or taken where there is a secret. */
    private static Set<DeviceCapability> capabilities(final RoceFabricOptions options)
    {
        final Set<DeviceCapability> capabilities = EnumSet.copyOf(CAPABILITIES);
        if (options.secret() != null)
        {
            capabilities.remove(DeviceCapability.UD);
            capabilities.remove(DeviceCapability.DC);
        }
        return capabilities;
    }

    private ConnectionService connectionService(final int number) throws IOException
    {
        try
        {
            return new ConnectionService(
                connectionDevice, "roce", new InetSocketAddress(local.address(), number), local.address());
        }
        catch (final IOException ex)
        {
            for (final Lane lane : lanes)
            {
                lane.driver.close();
            }
            throw ex;
        }
    }

    /**
     * Opens a device.
     *
     * @param name      for messages.
     * @param local     address.
     * @param options   of the fabric; port 0 for any that is free for UDP and TCP. Further threads have the UDP ports
     *                  after it.
     * @param processId of this process for peers of this host; 0 when they come by the network as all do.
     * @param files     where memory comes from.
     * @param onClosed  called once.
     */
    static RoceDevice open(
        final String name,
        final LocalAddress local,
        final RoceFabricOptions options,
        final int processId,
        final RegionFiles files,
        final Consumer<RoceDevice> onClosed)
    {
        final int number = options.port();
        String problem = "";
        for (int i = 0; i < (number == 0 ? PORT_ATTEMPTS : 1); i++)
        {
            final List<UdpPort> ports = new ArrayList<>();
            RoceDevice device = null;
            try
            {
                for (int k = 0; k < options.threads(); k++)
                {
                    ports.add(UdpPort.open(new UdpPortOptions(local.address(), number == 0 ? 0 : number + k)));
                }
                device = new RoceDevice(name, local, options, ports, processId, files, onClosed);
                return device;
            }
            catch (final BindException ex)
            {
                // The number is free for UDP and not for TCP: another one.
                problem = ex.getMessage();
            }
            catch (final IOException ex)
            {
                throw new RdmaException("the connection service of device " + name + " cannot listen at " +
                    local.address().getHostAddress() + ": " + ex.getMessage(), ex);
            }
            finally
            {
                if (device == null)
                {
                    ports.forEach(UdpPort::close);
                }
            }
        }
        throw new RdmaException("port " + (number == 0 ? "of any number" : number) + " of " +
            local.address().getHostAddress() + " cannot be had for TCP, which connections are made over: " + problem +
            "; is another node running there? 'ss -tulpn' shows");
    }

    /**
     * Opens a device for memory of another provider's domains: it has none of its own, and its domains are
     * {@linkplain #allocateProtectionDomain(ProtectionDomain) those of its user}.
     *
     * @param name      for messages.
     * @param options   address, port, longest payload.
     * @param processId of this process among those of its host, in the address.
     * @return the device, closed by the caller.
     * @throws RdmaException when the address is not of this host, or a port cannot be had.
     */
    public static RoceDevice open(final String name, final RoceFabricOptions options, final int processId)
    {
        return open(name, options.localAddress(), options, processId, null, closed -> { });
    }

    /**
     * Allocates a domain without memory of its own.
     *
     * @param user what its regions, windows and queue pairs belong to.
     * @return the domain, closed by the caller.
     */
    public LanedDomain allocateProtectionDomain(final ProtectionDomain user)
    {
        return new LanedDomain(lanes, user);
    }

    /**
     * Creates a completion queue with a listener instead of a channel.
     *
     * @param capacity as of {@link #createCompletionQueue(int)}.
     * @param listener called by whoever drives; null when nobody waits.
     * @return the queue, closed by the caller.
     */
    public NetworkCompletionQueue createListenedQueue(final int capacity, final CompletionListener listener)
    {
        DeviceLimits.check("capacity", capacity, 1, attributes.maxCompletions());
        if (lanes.length == 1)
        {
            return engine.createCompletionQueue(capacity, listener);
        }
        final LanedCompletionQueue queue = new LanedCompletionQueue(lanes, listener, lanedQueues::remove,
            (lane, heard) -> lane.engine.createCompletionQueue(capacity, heard));
        lanedQueues.add(queue);
        return queue;
    }

    /** The calling thread polls no more for a while: what arrives is the progress thread's, at once. */
    public void pollingPauses()
    {
        driver.pollingPauses();
    }

    /** @return UDP and TCP port. */
    public int udpPort()
    {
        return (int)port.address().serviceLocator();
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
        return new PortAttributes(DeviceLimits.PORT_NUMBER, local.isUp(), "Ethernet", address, mtuBytes);
    }

    @Override
    public List<String> transports()
    {
        return List.of("rocev2");
    }

    @Override
    public NetworkCounters networkCounters()
    {
        NetworkCounters sum = lanes[0].counters();
        for (int i = 1; i < lanes.length; i++)
        {
            sum = sum.plus(lanes[i].counters());
        }
        return sum;
    }

    @Override
    public ConnectionRequest.PacketSeal packetSeal()
    {
        return connectionDevice.packetSeal();
    }

    @Override
    public RefusedConnections refusedConnections()
    {
        return connectionDevice.refused();
    }

    @Override
    public DeviceAddress address()
    {
        return address;
    }

    @Override
    public DeviceAddress address(final QueuePair queuePair)
    {
        for (final Lane lane : lanes)
        {
            if (lane.engine.isOpen(queuePair))
            {
                return lane.address;
            }
        }
        return address;
    }

    @Override
    public NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        return new RoceDomain(new LanedDomain(lanes, null), files, attributes);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        return createListenedQueue(capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        DeviceLimits.check("capacity", capacity, 1, attributes.maxCompletions());
        final RoceCompletionChannel own = own(channel);
        own.queueOpened();
        CompletionQueue queue = null;
        try
        {
            queue = createListenedQueue(capacity, own);
            return queue;
        }
        finally
        {
            if (queue == null)
            {
                own.queueNotOpened();
            }
        }
    }

    private RoceCompletionChannel own(final CompletionChannel channel)
    {
        if (channel instanceof final RoceCompletionChannel own && own.driver() == driver)
        {
            return own;
        }
        throw new RdmaException("the completion channel is not of this device: device=" + name);
    }

    @Override
    public synchronized CompletionChannel createCompletionChannel()
    {
        checkOpen();
        final RoceCompletionChannel channel =
            new RoceCompletionChannel(name, driver, channels::decrementAndGet);
        channels.incrementAndGet();
        return channel;
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        final AsyncEvent event = oldestEvent();
        if (event != null)
        {
            return event;
        }
        driver.drive();
        return oldestEvent();
    }

    private AsyncEvent oldestEvent()
    {
        for (final Lane lane : lanes)
        {
            final AsyncEvent event = lane.engine.events().poll();
            if (event != null)
            {
                return whole(event);
            }
        }
        return null;
    }

    /** Users know nothing of the parts of a completion queue. */
    private AsyncEvent whole(final AsyncEvent event)
    {
        return lanedQueues.stream().filter(queue -> queue.has(event.source())).findAny()
            .map(queue -> new AsyncEvent(event.type(), queue)).orElse(event);
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        return listen(servicePort, () -> { });
    }

    @Override
    public ConnectionListener listen(final int servicePort, final CompletionChannel channel)
    {
        final RoceCompletionChannel own = own(channel);
        own.listenerOpened();
        ConnectionListener listener = null;
        try
        {
            listener = listen(servicePort, own::onConnectionRequest);
            return new ChannelListener(listener, own);
        }
        finally
        {
            if (listener == null)
            {
                own.listenerClosed();
            }
        }
    }

    /**
     * Accepts connections at a service port.
     *
     * @param servicePort as of {@link #listen(int)}.
     * @param onRequest   called for each request, by a thread of the device, which must not wait.
     * @return the listener, closed by the caller.
     */
    public synchronized ConnectionListener listen(final int servicePort, final Runnable onRequest)
    {
        checkOpen();
        return connections.listen(servicePort, onRequest);
    }

    @Override
    public boolean wakesForConnections()
    {
        return true;
    }

    @Override
    public boolean pollsBySystemCall()
    {
        return true;
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
        return connections.connect(queuePair, target, servicePort, accessFlags, privateData, timeoutNs);
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
    }

    @Override
    public void close()
    {
        synchronized (this)
        {
            if (channels.get() + connectionDevice.listenerCount() > 0)
            {
                throw new RdmaException("device is in use: close its listeners and completion channels first, " +
                    "device=" + name + ", open=" + (channels.get() + connectionDevice.listenerCount()));
            }
            if (!engine.close())
            {
                return;
            }
            for (int i = 1; i < lanes.length; i++)
            {
                // What is made of them is made of the first one, too.
                lanes[i].engine.close();
            }
            isClosed = true;
        }
        connections.close();
        for (final Lane lane : lanes)
        {
            lane.close();
        }
        onClosed.accept(this);
    }

    @Override
    public String toString()
    {
        return "RoceDevice{name=" + name + ", port=" + port + ", interface=" + local.linkName() + '}';
    }
}
