package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.atomic.AtomicInteger;

/** {@code struct ibv_pd}, as what is made in it knows it. Thread-safe. */
final class OpenDomain
{
    private final DeviceContext device;
    private final long pd;
    private final AtomicInteger children = new AtomicInteger();
    private boolean isClosed;

    OpenDomain(final DeviceContext device)
    {
        device.childOpened();
        this.device = device;
        try
        {
            pd = Libibverbs.Maker.ALLOC_PD.make(
                "cannot allocate a protection domain on " + device.name(), device.pointer(), 0);
        }
        catch (final RdmaException ex)
        {
            device.childClosed();
            throw ex;
        }
    }

    DeviceContext device()
    {
        return device;
    }

    long pointer()
    {
        return pd;
    }

    synchronized void childOpened()
    {
        if (isClosed)
        {
            throw new RdmaException("protection domain is closed: device=" + device.name());
        }
        children.incrementAndGet();
    }

    void childClosed()
    {
        children.decrementAndGet();
    }

    synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (children.get() > 0)
        {
            throw new RdmaException("protection domain is in use: close its regions and queue pairs first, open=" +
                children);
        }
        Libibverbs.Destroyer.DEALLOC_PD.destroy("a protection domain of " + device.name(), pd);
        isClosed = true;
        device.childClosed();
    }

    synchronized boolean isClosed()
    {
        return isClosed;
    }
}
