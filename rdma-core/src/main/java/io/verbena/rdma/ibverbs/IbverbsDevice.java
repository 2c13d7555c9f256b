package io.verbena.rdma.ibverbs;

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
import io.verbena.rdma.verbs.UnsupportedVerbException;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** An open {@code struct ibv_context} with a connection service and a reader of asynchronous events of its own. */
@SuppressWarnings("restricted")
final class IbverbsDevice implements Device
{
    private static final int PROBED_ACCESS_FLAGS = 0x3F;

    private final IbverbsFabric fabric;
    private final String name;
    private final String rnic;
    private final long context;
    private final DeviceQuery query;
    private final PortGid gid;
    private final ConnectionService connections;
    private final EventReader events;
    private final DeviceAddress address;
    private final DynamicConnections dynamicConnections;
    private volatile WindowSupport windows = WindowSupport.NONE;
    private volatile DeviceAttributes attributes;
    private final AtomicInteger children = new AtomicInteger();
    private final AtomicInteger lastSerial = new AtomicInteger();
    private volatile boolean isLost;
    private boolean isClosed;

    private IbverbsDevice(
        final IbverbsFabric fabric,
        final String name,
        final String rnic,
        final IbverbsOptions options,
        final long context)
    {
        this.fabric = fabric;
        this.name = name;
        this.rnic = rnic;
        this.context = context;
        query = DeviceQuery.of(context, rnic, options.port());
        gid = PortGid.choose(context, options.port(), query.gidTableLength(), options.gidIndex());
        if (options.host().isEmpty() && gid.type() != PortGid.ROCE_V2)
        {
            throw new RdmaException("the GID of " + rnic + " holds no IP address, and connections are made over TCP: " +
                "name this machine's address, ibverbs:" + rnic + ",host=IPV4");
        }
        final InetAddress explicit = options.host().isEmpty() ? null : ConnectionService.host(options.host());
        connections = new ConnectionService(
            this, explicit == null ? PortGid.inetAddress(gid.high(), gid.low()) : explicit);
        address = new DeviceAddress(
            gid.high(), gid.low(), ServiceLocator.of(query.lid(), explicit, connections.tcpPort()));
        dynamicConnections = DynamicConnections.of(this);
        attributes = dynamicConnections.addTo(query.attributes());
        events = new EventReader(this, context);
        connections.start();
        events.start();
    }

    static IbverbsDevice open(
        final IbverbsFabric fabric, final String name, final String rnic, final IbverbsOptions options)
    {
        final String problem = DeviceFile.problem(rnic);
        if (problem != null)
        {
            throw new RdmaException("cannot open RDMA device " + rnic + ": " + problem);
        }
        final long[] list = Libibverbs.deviceList();
        long context = 0;
        try
        {
            for (int i = 1; i < list.length; i++)
            {
                if (Libibverbs.deviceName(list[i]).equals(rnic))
                {
                    context = Libibverbs.Maker.OPEN_DEVICE.make("cannot open RDMA device " + rnic, list[i], 0);
                }
            }
        }
        finally
        {
            Libibverbs.freeDeviceList(list);
        }
        if (context == 0)
        {
            throw new RdmaException("RDMA device " + rnic + " is gone");
        }
        final IbverbsDevice device;
        try
        {
            device = new IbverbsDevice(fabric, name, rnic, options, context);
        }
        catch (final RdmaException ex)
        {
            Libibverbs.Destroyer.CLOSE_DEVICE.destroy("device " + rnic, context);
            throw ex;
        }
        device.offer(WindowSupport.of(device, options.windows()));
        return device;
    }

    private void offer(final WindowSupport found)
    {
        windows = found;
        attributes = OrderProbe.addTo(this, found.addTo(attributes));
    }

    void checkWindows(final String what)
    {
        if (windows.maxWindows() == 0)
        {
            throw new UnsupportedVerbException(what, name, windows.problem());
        }
    }

    long context()
    {
        return context;
    }

    DeviceQuery query()
    {
        return query;
    }

    DynamicConnections dynamicConnections()
    {
        return dynamicConnections;
    }

    PortGid gid()
    {
        return gid;
    }

    EventReader events()
    {
        return events;
    }

    ConnectionService connections()
    {
        return connections;
    }

    String rnic()
    {
        return rnic;
    }

    /** A number that no other queue of this device had before; never 0. */
    int nextSerial()
    {
        return lastSerial.incrementAndGet();
    }

    /** A function of the context's operation table, by its C name. */
    MemorySegment operation(final String function)
    {
        final long offset = VerbsLayouts.offset(VerbsLayouts.IBV_CONTEXT, "ops", function);
        return MemorySegment.ofAddress(address(context, offset));
    }

    /** An int of a structure that the library made. */
    static int field(final long structure, final long offset)
    {
        return MemorySegment.ofAddress(structure).reinterpret(offset + Integer.BYTES).get(JAVA_INT, offset);
    }

    /** A pointer in a structure that the library made. */
    static long address(final long structure, final long offset)
    {
        return MemorySegment.ofAddress(structure).reinterpret(offset + Long.BYTES).get(JAVA_LONG, offset);
    }

    /** Event reader: nothing completes here any more. */
    void onLost()
    {
        isLost = true;
    }

    /** Polling finds nothing for ever once a device is gone, so who waits has to look here. */
    void checkThere()
    {
        if (isLost)
        {
            throw new RdmaException("RDMA device " + rnic + " failed or was taken away: close everything and open it " +
                "again, device=" + name);
        }
    }

    synchronized void childOpened()
    {
        if (isClosed)
        {
            throw new RdmaException("device is closed: device=" + name);
        }
        children.incrementAndGet();
    }

    void childClosed()
    {
        children.decrementAndGet();
    }

    static void checkRange(final String what, final long value, final long least, final long most)
    {
        if (value < least || value > most)
        {
            throw new RdmaException(what + "=" + value + " is not from " + least + " to " + most);
        }
    }

    static void checkAccessFlags(final int accessFlags)
    {
        if ((accessFlags & ~PROBED_ACCESS_FLAGS) != 0)
        {
            throw new RdmaException("unknown access flags: 0x" + Integer.toHexString(accessFlags));
        }
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
    public String missing(final DeviceCapability capability)
    {
        return switch (capability)
        {
            case DC -> dynamicConnections.problem();
            case MEMORY_WINDOW -> windows.problem();
            default -> "";
        };
    }

    @Override
    public PortAttributes port()
    {
        return query.port(context, address);
    }

    @Override
    public List<String> transports()
    {
        return List.of(rnic());
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
    public ProtectionDomain allocateProtectionDomain()
    {
        return new IbverbsProtectionDomain(this);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        return new IbverbsCompletionQueue(this, capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        if (!(channel instanceof final IbverbsCompletionChannel own) || own.device() != this)
        {
            throw new RdmaException("the completion channel is not of this device: device=" + name);
        }
        return new IbverbsCompletionQueue(this, capacity, own);
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        return new IbverbsCompletionChannel(this);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        return events.poll();
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        checkRange("servicePort", servicePort, 1, 65_535);
        return connections.listen(servicePort);
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
        checkRange("privateData", privateData.length, 0, ConnectionRequest.MAX_PRIVATE_DATA_BYTES);
        checkRange("servicePort", servicePort, 1, 65_535);
        checkAccessFlags(accessFlags);
        if (!(queuePair instanceof final IbverbsQueuePair own) || own.device() != this)
        {
            throw new RdmaException(
                "the queue pair is not of this device: device=" + name + ", queuePair=" + queuePair);
        }
        own.openForConnection(accessFlags);
        final IbverbsConnectionAttempt attempt = new IbverbsConnectionAttempt(
            own, accessFlags, SystemNanoClock.INSTANCE.nanoTime() + timeoutNs);
        own.attempt(attempt);
        connections.connect(attempt, target, servicePort, privateData.clone());
        return attempt;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (children.get() > 0)
        {
            throw new RdmaException("device is in use: close what was made from it first, device=" + name +
                ", open=" + children);
        }
        isClosed = true;
        connections.close();
        events.close();
        Libibverbs.Destroyer.CLOSE_DEVICE.destroy("device " + name, context);
        fabric.deviceClosed();
    }

    @Override
    public String toString()
    {
        return "IbverbsDevice{name=" + name + ", rnic=" + rnic + ", address=" + address + '}';
    }
}
