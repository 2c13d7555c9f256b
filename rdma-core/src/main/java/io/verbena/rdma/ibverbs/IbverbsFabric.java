package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.RdmaException;

import java.util.List;

/**
 * The RNICs of this machine. Opened for one of them, every device opened is a context of that one, and stands for a
 * node; else a device is opened by the RNIC's name.
 */
final class IbverbsFabric implements Fabric
{
    private final IbverbsOptions options;
    private final List<String> names;
    private int openCount;
    private boolean isClosed;

    IbverbsFabric(final IbverbsOptions options, final List<String> names)
    {
        this.options = options;
        this.names = List.copyOf(names);
    }

    @Override
    public String provider()
    {
        return "ibverbs";
    }

    @Override
    public List<String> deviceNames()
    {
        return names;
    }

    @Override
    public synchronized Device openDevice(final String name)
    {
        if (isClosed)
        {
            throw new RdmaException("fabric is closed: provider=ibverbs");
        }
        final String rnic = !options.device().isEmpty() ? options.device() : names.contains(name) ? name : names.get(0);
        final Device device = IbverbsDevice.open(this::deviceClosed, name, rnic, options);
        openCount++;
        return device;
    }

    private synchronized void deviceClosed()
    {
        openCount--;
    }

    @Override
    public synchronized void close()
    {
        if (openCount > 0)
        {
            throw new RdmaException("fabric is in use: close its devices first, open=" + openCount);
        }
        isClosed = true;
    }
}
