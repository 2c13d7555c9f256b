package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.RegionPages;
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

/** {@code struct ibv_pd}. */
final class IbverbsProtectionDomain implements ProtectionDomain
{
    private final OpenDomain domain;
    private final DynamicConnections dynamicConnections;

    IbverbsProtectionDomain(final DeviceContext device, final DynamicConnections dynamicConnections)
    {
        domain = new OpenDomain(device);
        this.dynamicConnections = dynamicConnections;
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        DeviceContext.checkRange("lengthBytes", lengthBytes, 1, Long.MAX_VALUE / 2);
        checkRights(accessFlags);
        domain.childOpened();
        final RegionPages pages = RegionPages.map(lengthBytes);
        try
        {
            if (pages == null)
            {
                throw new RdmaException("no memory for a region of " + lengthBytes + " bytes: free some, or allow " +
                    "the process more (ulimit -v, the container's limit)");
            }
            return new IbverbsMemoryRegion(domain, pages.segment(), accessFlags, pages::close);
        }
        catch (final RdmaException ex)
        {
            if (pages != null)
            {
                pages.close();
            }
            domain.childClosed();
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
        domain.childOpened();
        try
        {
            return new IbverbsMemoryRegion(domain, segment, accessFlags, hold::close);
        }
        catch (final RdmaException ex)
        {
            domain.childClosed();
            hold.close();
            throw ex;
        }
    }

    private static void checkRights(final int accessFlags)
    {
        DeviceContext.checkAccessFlags(accessFlags);
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
        domain.childOpened();
        try
        {
            return new IbverbsQueuePair(domain, dynamicConnections, options);
        }
        catch (final RuntimeException ex)
        {
            domain.childClosed();
            throw ex;
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(final int maxReceiveRequests)
    {
        DeviceContext.checkRange(
            "maxReceiveRequests", maxReceiveRequests, 1, domain.device().attributes().maxSharedReceiveRequests());
        domain.childOpened();
        try
        {
            return new IbverbsSharedReceiveQueue(domain, maxReceiveRequests);
        }
        catch (final RdmaException ex)
        {
            domain.childClosed();
            throw ex;
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow()
    {
        domain.device().checkWindows("a memory window");
        return newWindow();
    }

    /** Offered or not. */
    IbverbsMemoryWindow newWindow()
    {
        domain.childOpened();
        try
        {
            return new IbverbsMemoryWindow(domain);
        }
        catch (final RdmaException ex)
        {
            domain.childClosed();
            throw ex;
        }
    }

    @Override
    public AddressHandle createAddressHandle(final DeviceAddress target)
    {
        domain.childOpened();
        try
        {
            return new IbverbsAddressHandle(domain, target);
        }
        catch (final RdmaException ex)
        {
            domain.childClosed();
            throw ex;
        }
    }

    @Override
    public DcTarget createDcTarget(final DcTargetOptions options)
    {
        domain.childOpened();
        try
        {
            return new IbverbsDcTarget(domain, dynamicConnections, options);
        }
        catch (final RdmaException ex)
        {
            domain.childClosed();
            throw ex;
        }
    }

    @Override
    public void close()
    {
        domain.close();
    }

    @Override
    public String toString()
    {
        return "IbverbsProtectionDomain{device=" + domain.device().name() + ", isClosed=" + domain.isClosed() + '}';
    }
}
