package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.function.Supplier;

/**
 * Tries a device's memory windows over a connection with itself: binds one on a part of a region without remote rights,
 * reads inside it, which has to be allowed, and over each of its edges, which has to be refused.
 */
final class WindowProbe
{
    private static final int REGION_BYTES = 4096;
    private static final int WINDOW_OFFSET = 1024;
    private static final int WINDOW_BYTES = 1024;
    private static final int READ_BYTES = 8;

    private WindowProbe()
    {
    }

    /** @return empty when the device honours the bounds of windows; else what it does, to go after its name. */
    static String problem(final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains)
    {
        // A refused READ breaks the connection: one for each edge.
        final String beyond = problem(device, domains, WINDOW_OFFSET + WINDOW_BYTES - READ_BYTES / 2);
        return beyond.isEmpty() ? problem(device, domains, WINDOW_OFFSET - READ_BYTES / 2) : beyond;
    }

    private static String problem(
        final DeviceContext device, final Supplier<IbverbsProtectionDomain> domains, final int outside)
    {
        try (IbverbsProtectionDomain domain = domains.get();
            MemoryRegion local = domain.allocateRegistered(READ_BYTES, AccessFlags.LOCAL_WRITE);
            MemoryRegion region = domain.allocateRegistered(
                REGION_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
            SelfConnection connection = new SelfConnection(device, domain, AccessFlags.REMOTE_READ);
            IbverbsMemoryWindow window = domain.newWindow())
        {
            final int key = window.nextRemoteKey();
            final QueuePair binder = connection.responder();
            binder.begin();
            binder.bindMemoryWindow(0, SendFlags.SIGNALED, window, key, region, region.address() + WINDOW_OFFSET,
                WINDOW_BYTES, AccessFlags.REMOTE_READ);
            final int bound = connection.complete(binder);
            final int inside = bound != WorkCompletionStatus.SUCCESS ? bound :
                read(connection, local, region.address() + WINDOW_OFFSET, key);
            if (inside != WorkCompletionStatus.SUCCESS)
            {
                return "binds no usable memory windows (" + WorkCompletionStatus.text(inside) + ')';
            }
            final int beside = read(connection, local, region.address() + outside, key);
            return beside == WorkCompletionStatus.REM_ACCESS_ERR ? "" :
                "does not honour the bounds of memory windows: a READ over the edge of one ended with " +
                WorkCompletionStatus.text(beside) + ", not REM_ACCESS_ERR";
        }
    }

    private static int read(
        final SelfConnection connection, final MemoryRegion local, final long remoteAddress, final int remoteKey)
    {
        final QueuePair reader = connection.requester();
        reader.begin();
        reader.read(0, SendFlags.SIGNALED, local.address(), READ_BYTES, local.localKey(), remoteAddress, remoteKey);
        return connection.complete(reader);
    }
}
