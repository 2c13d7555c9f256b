package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ConnectionService;
import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.ibverbs.library.DeviceFile;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
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

import java.net.InetAddress;
import java.util.List;

/** An open {@code struct ibv_context} with a connection service and a reader of asynchronous events of its own. */
final class IbverbsDevice implements Device
{
    private final DeviceContext device;
    private final long context;
    private final ConnectionService connections;
    private final DynamicConnections dynamicConnections;
    private final Runnable onClosed;

    private IbverbsDevice(
        final Runnable onClosed,
        final String name,
        final String rnic,
        final IbverbsOptions options,
        final long context)
    {
        this.onClosed = onClosed;
        this.context = context;
        final DeviceQuery query = DeviceQuery.of(context, rnic, options.port());
        final PortGid gid = PortGid.choose(context, options.port(), query.gidTableLength(), options.gidIndex());
        if (options.host().isEmpty() && gid.type() != PortGid.ROCE_V2)
        {
            throw new RdmaException("the GID of " + rnic + " holds no IP address, and connections are made over TCP: " +
                "name this machine's address, ibverbs:" + rnic + ",host=IPV4");
        }
        final InetAddress explicit = options.host().isEmpty() ? null : IbverbsConnections.host(options.host());
        device = new DeviceContext(this, name, rnic, context, query, gid);
        connections = connectionService(
            device, explicit == null ? ServiceLocator.inetAddress(gid.high(), gid.low()) : explicit);
        device.address(new DeviceAddress(
            gid.high(), gid.low(), ServiceLocator.of(query.lid(), explicit, connections.tcpPort())));
        dynamicConnections = DynamicConnections.of(device);
        device.attributes(dynamicConnections.addTo(query.attributes()));
        connections.start();
        device.events().start();
    }

    /** @param onClosed called once when the device is closed. */
    static IbverbsDevice open(
        final Runnable onClosed, final String name, final String rnic, final IbverbsOptions options)
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
            device = new IbverbsDevice(onClosed, name, rnic, options, context);
        }
        catch (final RdmaException ex)
        {
            Libibverbs.Destroyer.CLOSE_DEVICE.destroy("device " + rnic, context);
            throw ex;
        }
        device.tryOut(options);
        return device;
    }

    private static ConnectionService connectionService(final DeviceContext device, final InetAddress host)
    {
        try
        {
            return IbverbsConnections.open(device, host);
        }
        catch (final RdmaException ex)
        {
            device.events().close();
            throw ex;
        }
    }

    private IbverbsProtectionDomain newDomain()
    {
        return new IbverbsProtectionDomain(device, dynamicConnections);
    }

    /** Offers what turns out to work. */
    private void tryOut(final IbverbsOptions options)
    {
        final WindowSupport windows = WindowSupport.of(device, this::newDomain, options.windows());
        device.offerWindows(windows.maxWindows(), windows.problem());
        device.attributes(OrderProbe.addTo(device, this::newDomain, windows.addTo(device.attributes())));
    }

    @Override
    public String name()
    {
        return device.name();
    }

    @Override
    public DeviceAttributes attributes()
    {
        return device.attributes();
    }

    @Override
    public String missing(final DeviceCapability capability)
    {
        return switch (capability)
        {
            case DC -> dynamicConnections.problem();
            case MEMORY_WINDOW -> device.windowProblem();
            default -> "";
        };
    }

    @Override
    public PortAttributes port()
    {
        return device.query().port(context, device.address());
    }

    @Override
    public List<String> transports()
    {
        return List.of(device.rnic());
    }

    @Override
    public DeviceAddress address()
    {
        return device.address();
    }

    @Override
    public NanoClock clock()
    {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain()
    {
        return newDomain();
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity)
    {
        return new IbverbsCompletionQueue(device, capacity, null);
    }

    @Override
    public CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        if (!(channel instanceof final IbverbsCompletionChannel own) || own.device() != device)
        {
            throw new RdmaException("the completion channel is not of this device: device=" + device.name());
        }
        return new IbverbsCompletionQueue(device, capacity, own);
    }

    @Override
    public CompletionChannel createCompletionChannel()
    {
        return new IbverbsCompletionChannel(device);
    }

    @Override
    public AsyncEvent pollAsyncEvent()
    {
        return device.events().poll();
    }

    @Override
    public ConnectionListener listen(final int servicePort)
    {
        return connections.listen(servicePort, () -> { });
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

    @Override
    public void close()
    {
        if (device.close())
        {
            connections.close();
            device.events().close();
            Libibverbs.Destroyer.CLOSE_DEVICE.destroy("device " + device.name(), context);
            onClosed.run();
        }
    }

    @Override
    public String toString()
    {
        return "IbverbsDevice{name=" + device.name() + ", rnic=" + device.rnic() + ", address=" +
            device.address() + '}';
    }
}
