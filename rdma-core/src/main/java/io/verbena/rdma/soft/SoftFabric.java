package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A software fabric: the devices opened from one instance reach each other. Thread-safe. Closed by its opener after its
 * devices; closing, and also the end of the process, removes every file it made.
 */
public final class SoftFabric implements Fabric
{
    private static final long GID_PREFIX = 0xFE80_0000_0000_0000L;

    private final FabricDirectory files;
    private final long rnrTimeoutNs;
    private final Map<DeviceAddress, SoftDevice> devices = new ConcurrentHashMap<>();
    private int lastDevice;
    private boolean isClosed;

    private SoftFabric(final FabricDirectory files, final long rnrTimeoutNs)
    {
        this.files = files;
        this.rnrTimeoutNs = rnrTimeoutNs;
    }

    /**
     * Opens the fabric directory, after removing what dead processes left in it.
     *
     * @param options settings.
     * @return the fabric.
     * @throws RdmaException when the directory cannot be used; the message says why.
     */
    public static SoftFabric open(final SoftFabricOptions options)
    {
        SoftDevice.checkRange("rnrTimeoutNs", options.rnrTimeoutNs(), 0, Long.MAX_VALUE / 2);
        return new SoftFabric(FabricDirectory.open(options.directory()), options.rnrTimeoutNs());
    }

    @Override
    public String provider()
    {
        return "soft";
    }

    @Override
    public List<String> deviceNames()
    {
        return devices.values().stream().map(SoftDevice::name).sorted().toList();
    }

    /**
     * Opens one more device; each stands for a node of its own.
     *
     * @param name for messages.
     * @return the device, closed by the caller.
     */
    @Override
    public synchronized Device openDevice(final String name)
    {
        if (isClosed)
        {
            throw new RdmaException("fabric is closed: directory=" + files.path());
        }
        // Interface id: which process, by the random name of its lock file, and which device of it.
        final long interfaceId = (long)files.ownerId() << 32 | ++lastDevice;
        final SoftDevice device = new SoftDevice(this, name, new DeviceAddress(GID_PREFIX, interfaceId));
        devices.put(device.address(), device);
        return device;
    }

    /** @return where registered memory lives. */
    public Path directory()
    {
        return files.path();
    }

    FabricDirectory files()
    {
        return files;
    }

    long rnrTimeoutNs()
    {
        return rnrTimeoutNs;
    }

    SoftDevice find(final DeviceAddress address)
    {
        return devices.get(address);
    }

    void deviceClosed(final SoftDevice device)
    {
        devices.remove(device.address());
    }

    @Override
    public synchronized void close()
    {
        if (!devices.isEmpty())
        {
            throw new RdmaException("fabric is in use: close its devices first, open=" + devices.size());
        }
        isClosed = true;
        files.close();
    }
}
