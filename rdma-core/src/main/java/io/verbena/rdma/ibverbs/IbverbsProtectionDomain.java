package io.verbena.rdma.ibverbs;

import io.verbena.rdma.spi.SegmentHold;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** {@code struct ibv_pd}. */
final class IbverbsProtectionDomain implements ProtectionDomain
{

    private final IbverbsDevice device;
    private final long pd;
    private final AtomicInteger children = new AtomicInteger();
    private boolean isClosed;

    IbverbsProtectionDomain(final IbverbsDevice device)
    {
        device.childOpened();
        this.device = device;
        try
        {
            pd = Libibverbs.Maker.ALLOC_PD.make(
                "cannot allocate a protection domain on " + device.name(), device.context(), 0);
        }
        catch (final RdmaException ex)
        {
            device.childClosed();
            throw ex;
        }
    }

    IbverbsDevice device()
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

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        IbverbsDevice.checkRange("lengthBytes", lengthBytes, 1, Long.MAX_VALUE / 2);
        checkRights(accessFlags);
        childOpened();
        final RegionPages pages = RegionPages.map(lengthBytes);
        try
        {
            if (pages == null)
            {
                throw new RdmaException("no memory for a region of " + lengthBytes + " bytes: free some, or allow " +
                    "the process more (ulimit -v, the container's limit)");
            }
            return new IbverbsMemoryRegion(this, pages.segment(), accessFlags, pages::close);
        }
        catch (final RdmaException ex)
        {
            if (pages != null)
            {
                pages.close();
            }
            childClosed();
            throw ex;
        }
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        checkRights(accessFlags);
        if (segment.byteSize() == 0)
        {
            throw new RdmaException("region must have 1 byte or more: " + segment);
        }
        final SegmentHold hold = SegmentHold.of(segment);
        childOpened();
        try
        {
            return new IbverbsMemoryRegion(this, segment, accessFlags, hold::close);
        }
        catch (final RdmaException ex)
        {
            childClosed();
            hold.close();
            throw ex;
        }
    }

    private static void checkRights(final int accessFlags)
    {
        IbverbsDevice.checkAccessFlags(accessFlags);
        if ((accessFlags & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0 &&
            (accessFlags & AccessFlags.LOCAL_WRITE) == 0)
        {
            throw new RdmaException(
                "remote write and atomic rights need LOCAL_WRITE: accessFlags=0x" + Integer.toHexString(accessFlags));
        }
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        childOpened();
        try
        {
            return new IbverbsQueuePair(this, options);
        }
        catch (final RuntimeException ex)
        {
            childClosed();
            throw ex;
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        IbverbsDevice.checkRange(
            "maxReceiveRequests", maxReceiveRequests, 1, device.attributes().maxSharedReceiveRequests());
        childOpened();
        try
        {
            return new IbverbsSharedReceiveQueue(this, maxReceiveRequests);
        }
        catch (final RdmaException ex)
        {
            childClosed();
            throw ex;
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        device.checkWindows("a memory window");
        return newWindow();
    }

    /** Offered or not. */
    IbverbsMemoryWindow newWindow()
    {
        childOpened();
        try
        {
            return new IbverbsMemoryWindow(this);
        }
        catch (final RdmaException ex)
        {
            childClosed();
            throw ex;
        }
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        childOpened();
        try
        {
            return new IbverbsAddressHandle(this, target);
        }
        catch (final RdmaException ex)
        {
            childClosed();
            throw ex;
        }
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        childOpened();
        try
        {
            return new IbverbsDcTarget(this, options);
        }
        catch (final RdmaException ex)
        {
            childClosed();
            throw ex;
        }
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
            throw new RdmaException("protection domain is in use: close its regions and queue pairs first, open=" +
                children);
        }
        Libibverbs.Destroyer.DEALLOC_PD.destroy("a protection domain of " + device.name(), pd);
        isClosed = true;
        device.childClosed();
    }

    @Override
    public String toString()
    {
        return "IbverbsProtectionDomain{device=" + device.name() + ", isClosed=" + isClosed + '}';
    }
}
