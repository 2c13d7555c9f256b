package io.verbena.rdma.roce.host;

import io.verbena.rdma.roce.device.RoceDevice;
import io.verbena.rdma.roce.device.RoceFabricOptions;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricProvider;
import io.verbena.rdma.spi.NetworkUse;
import io.verbena.rdma.spi.ProcessRole;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.ArrayList;
import java.util.List;

/**
 * Devices of this host that peers of the same host, directory and network namespace reach by shared memory, and all
 * others by RoCEv2. Thread-safe.
 */
final class HostFabric implements Fabric
{
    private final SoftFabric shared;
    private final RoceFabricOptions network;
    private final List<HostDevice> devices = new ArrayList<>();

    private HostFabric(final SoftFabric shared, final RoceFabricOptions network)
    {
        this.shared = shared;
        this.network = network;
    }

    static HostFabric open(final HostFabricOptions options, final ProcessRole role)
    {
        options.network().check();
        return new HostFabric(SoftFabricProvider.openShared(options.memory(), role), options.network());
    }

    @Override
    public String provider()
    {
        return shared.provider();
    }

    /** Devices of this host, those of other processes and those without a network included. */
    @Override
    public List<String> deviceNames()
    {
        return shared.deviceNames();
    }

    @Override
    public synchronized Device openDevice(final String name)
    {
        final boolean isPortFree = devices.stream().noneMatch(device -> device.udpPort() == network.port());
        final RoceDevice roce = RoceDevice.open(
            name,
            network.atPort(isPortFree ? network.port() : 0),
            shared.processId());
        HostDevice device = null;
        try
        {
            // The UDP port is the index, so that the address on the network gives the one on this host.
            device = new HostDevice(
                shared.openDevice(name, roce.udpPort(), new NetworkUse(roce.address(), roce.random()::nextInt)),
                roce, this::deviceClosed);
            devices.add(device);
            return device;
        }
        finally
        {
            if (device == null)
            {
                roce.close();
            }
        }
    }

    private synchronized void deviceClosed(final HostDevice device)
    {
        devices.remove(device);
    }

    @Override
    public boolean hasNamed(final String name)
    {
        return shared.hasNamed(name);
    }

    @Override
    public boolean discardNamed(final String name)
    {
        return shared.discardNamed(name);
    }

    @Override
    public void awaitCloseAtExit(final long timeoutNs)
    {
        shared.awaitCloseAtExit(timeoutNs);
    }

    @Override
    public synchronized void close()
    {
        if (!devices.isEmpty())
        {
            throw new RdmaException("fabric is in use: close its devices first, open=" + devices.size());
        }
        shared.close();
    }
}
