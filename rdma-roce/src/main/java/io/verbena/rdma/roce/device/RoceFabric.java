package io.verbena.rdma.roce.device;

import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.NamedMemory;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Devices at one address of this host. Registered memory lies in files as that of the {@code soft} provider does, so
 * that named memory outlives the process. Thread-safe.
 */
final class RoceFabric implements Fabric
{
    private static final long FENCE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final RoceFabricOptions options;
    private final LocalAddress address;
    private final FabricDirectory files;
    private final OutsideWait outside;
    private final List<RoceDevice> devices = new ArrayList<>();
    private boolean isClosed;

    private RoceFabric(final RoceFabricOptions options, final LocalAddress address, final FabricDirectory files)
    {
        this.options = options;
        this.address = address;
        this.files = files;
        outside = new OutsideWait(files, FENCE_TIMEOUT_NS);
    }

    static RoceFabric open(final RoceFabricOptions options)
    {
        final LocalAddress address = options.localAddress();
        return new RoceFabric(options, address, FabricDirectory.open(
            options.memory() == null ? new SoftFabricOptions().directory() : options.memory(), false));
    }

    @Override
    public String provider()
    {
        return "roce";
    }

    /** Devices of this process; those of others are not known. */
    @Override
    public synchronized List<String> deviceNames()
    {
        return devices.stream().map(RoceDevice::name).sorted().toList();
    }

    @Override
    public synchronized Device openDevice(final String name)
    {
        if (isClosed)
        {
            throw new RdmaException("fabric is closed: provider=roce, address=" + options.host());
        }
        final boolean isPortFree =
            devices.stream().noneMatch(device -> device.udpPort() == options.port());
        final RoceDevice device = RoceDevice.open(
            name, address, options.atPort(isPortFree ? options.port() : 0), 0,
            new RegionFiles(files, outside), this::deviceClosed);
        devices.add(device);
        return device;
    }

    private synchronized void deviceClosed(final RoceDevice device)
    {
        devices.remove(device);
    }

    @Override
    public boolean hasNamed(final String name)
    {
        return NamedMemory.exists(files, name);
    }

    @Override
    public boolean discardNamed(final String name)
    {
        try (NamedMemory held = NamedMemory.hold(files, name, outside))
        {
            return held.discard();
        }
    }

    @Override
    public void awaitCloseAtExit(final long timeoutNs)
    {
        files.awaitCloseAtExit(timeoutNs);
    }

    @Override
    public synchronized void close()
    {
        if (!devices.isEmpty())
        {
            throw new RdmaException("fabric is in use: close its devices first, open=" + devices.size());
        }
        if (!isClosed)
        {
            isClosed = true;
            files.close();
        }
    }
}
