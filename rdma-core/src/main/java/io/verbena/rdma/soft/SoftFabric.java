package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.FabricDirectory;
import io.verbena.rdma.soft.shared.HugePages;
import io.verbena.rdma.soft.shared.NamedMemory;
import io.verbena.rdma.soft.shared.OutsideWait;
import io.verbena.rdma.soft.shared.WatchPace;
import io.verbena.rdma.spi.NetworkUse;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A software fabric: devices of all fabrics with one directory and one network namespace reach each other, in one
 * process or several. Thread-safe. Closed by its opener after its devices; closing, and also the end of the process,
 * removes every file it made.
 */
public final class SoftFabric implements Fabric
{
    private static final System.Logger LOGGER = System.getLogger(SoftFabric.class.getName());
    private static final long GID_PREFIX = 0xFE80_0000_0000_0000L;

    private final FabricDirectory files;
    private final SoftHost.FabricTerms terms;
    private final String memoryPages;
    private final OutsideWait outside;
    private final FabricWatch watch;
    private final Map<DeviceAddress, SoftHost> devices = new ConcurrentHashMap<>();
    private int lastDevice;
    private boolean isClosed;

    private SoftFabric(final FabricDirectory files, final SoftFabricOptions options)
    {
        this.files = files;
        final String refusal = options.hugePages() ? HugePages.refusal(files.path(), files::allocate) : null;
        memoryPages = HugePages.describe(options.hugePages() && refusal == null, refusal);
        if (refusal != null)
        {
            LOGGER.log(System.Logger.Level.WARNING, "no huge pages: " + refusal);
        }
        outside = new OutsideWait(files, options.fenceTimeoutNs());
        final WatchPace pace = new WatchPace();
        terms = new SoftHost.FabricTerms(
            files, outside, pace, options.rnrTimeoutNs(), options.maxDcContexts(), options.mayBeKilled());
        watch = new FabricWatch(files, devices.values(), pace);
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
        SoftHost.checkRange("rnrTimeoutNs", options.rnrTimeoutNs(), 0, Long.MAX_VALUE / 2);
        SoftHost.checkRange("fenceTimeoutNs", options.fenceTimeoutNs(), 1, Long.MAX_VALUE / 2);
        SoftHost.checkRange("maxDcContexts", options.maxDcContexts(), 1, DeviceFileDescriptor.MAX_DC_CONTEXTS);
        final SoftFabric fabric =
            new SoftFabric(FabricDirectory.open(options.directory(), options.hugePages()), options);
        fabric.watch.start();
        return fabric;
    }

    @Override
    public String provider()
    {
        return "soft";
    }

    @Override
    public List<String> deviceNames()
    {
        final List<String> names = new ArrayList<>();
        for (final Path path : files.deviceFiles())
        {
            try (DeviceFile file = DeviceFile.attach(path))
            {
                if (file != null)
                {
                    names.add(file.name());
                }
            }
        }
        return names.stream().sorted().toList();
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
        return openDevice(name, ++lastDevice, NetworkUse.NONE);
    }

    /**
     * Opens a device whose memory is reached by another way, too; all of a fabric are opened so, or none.
     *
     * @param name    for messages.
     * @param index   1 or more, of no other open device of this fabric.
     * @param network that it is on.
     * @return the device, closed by the caller.
     */
    public synchronized SoftDevice openDevice(final String name, final int index, final NetworkUse network)
    {
        if (isClosed)
        {
            throw new RdmaException("fabric is closed: directory=" + files.path());
        }
        final DeviceAddress address = address(processId(), index);
        final SoftDevice device = new SoftDevice(
            terms, name, address, index, network, memoryPages, () -> devices.remove(address));
        devices.put(address, device.host());
        return device;
    }

    /** @return random number of this open fabric among those of all processes with the same directory. */
    public int processId()
    {
        return files.ownerId();
    }

    /**
     * The address of a device on any soft fabric.
     *
     * @param processId {@link #processId()} of its fabric.
     * @param index     of the device there.
     * @return the address.
     */
    public static DeviceAddress address(final int processId, final int index)
    {
        // Interface id: which process, by the random name of its lock file, and which device of it.
        return new DeviceAddress(GID_PREFIX, (long)processId << Integer.SIZE | index);
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

    /** @return where registered memory lives. */
    public Path directory()
    {
        return files.path();
    }

    FabricDirectory files()
    {
        return files;
    }

    FabricWatch watch()
    {
        return watch;
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
        isClosed = true;
        watch.close();
        files.close();
    }
}
