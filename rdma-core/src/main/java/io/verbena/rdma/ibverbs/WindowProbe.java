package io.verbena.rdma.ibverbs;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.concurrent.TimeUnit;

/**
 * Tries a device's memory windows over a connection with itself: binds one on a part of a region without remote rights,
 * reads inside it, which has to be allowed, and over each of its edges, which has to be refused. Used once.
 */
final class WindowProbe
{
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int REGION_BYTES = 4096;
    private static final int WINDOW_OFFSET = 1024;
    private static final int WINDOW_BYTES = 1024;
    private static final int READ_BYTES = 8;
    private static final int QUEUE_DEPTH = 2;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(QUEUE_DEPTH, 0, 0, 1);

    private final IbverbsDevice device;
    private final WorkCompletions completions = new WorkCompletions(1);

    WindowProbe(final IbverbsDevice device)
    {
        this.device = device;
    }

    /** @return empty when the device honours the bounds of windows; else what it does, to go after its name. */
    String problem()
    {
        // A refused READ breaks the connection: one for each edge.
        final String beyond = problem(WINDOW_OFFSET + WINDOW_BYTES - READ_BYTES / 2);
        return beyond.isEmpty() ? problem(WINDOW_OFFSET - READ_BYTES / 2) : beyond;
    }

    private String problem(final int outside)
    {
        try (IbverbsProtectionDomain domain = new IbverbsProtectionDomain(device);
            IbverbsCompletionQueue queue = new IbverbsCompletionQueue(device, 2 * QUEUE_DEPTH, null);
            MemoryRegion local = domain.allocateRegistered(READ_BYTES, AccessFlags.LOCAL_WRITE);
            MemoryRegion region = domain.allocateRegistered(
                REGION_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
            QueuePair reader = create(domain, queue);
            QueuePair binder = create(domain, queue);
            IbverbsMemoryWindow window = domain.newWindow())
        {
            connect(reader, binder);
            connect(binder, reader);
            final int key = window.nextRemoteKey();
            binder.begin();
            binder.bindMemoryWindow(0, SendFlags.SIGNALED, window, key, region, region.address() + WINDOW_OFFSET,
                WINDOW_BYTES, AccessFlags.REMOTE_READ);
            final int bound = complete(binder, queue);
            final int inside = bound != WorkCompletionStatus.SUCCESS ? bound :
                read(reader, queue, local, region.address() + WINDOW_OFFSET, key);
            if (inside != WorkCompletionStatus.SUCCESS)
            {
                return "binds no usable memory windows (" + WorkCompletionStatus.text(inside) + ')';
            }
            final int beside = read(reader, queue, local, region.address() + outside, key);
            return beside == WorkCompletionStatus.REM_ACCESS_ERR ? "" :
                "does not honour the bounds of memory windows: a READ over the edge of one ended with " +
                WorkCompletionStatus.text(beside) + ", not REM_ACCESS_ERR";
        }
    }

    private static IbverbsQueuePair create(final ProtectionDomain domain, final IbverbsCompletionQueue queue)
    {
        return (IbverbsQueuePair)domain.createQueuePair(queue, queue, CAPABILITIES);
    }

    private void connect(final QueuePair from, final QueuePair to)
    {
        final IbverbsQueuePair own = (IbverbsQueuePair)from;
        own.openForConnection(AccessFlags.REMOTE_READ);
        own.establish(new ConnectionMessage(ConnectionMessage.REQUEST, 0, to.number(), 0, device.query().mtu(), 1,
            device.address(), new byte[0]), 0, AccessFlags.REMOTE_READ);
    }

    private int read(
        final QueuePair reader,
        final IbverbsCompletionQueue queue,
        final MemoryRegion local,
        final long remoteAddress,
        final int remoteKey)
    {
        reader.begin();
        reader.read(
            0, SendFlags.SIGNALED, local.address(), READ_BYTES, local.localKey(), remoteAddress, remoteKey);
        return complete(reader, queue);
    }

    private int complete(final QueuePair queuePair, final IbverbsCompletionQueue queue)
    {
        final int posted = queuePair.complete();
        if (posted != 0)
        {
            throw new RdmaException("a request could not be posted: status=" + posted);
        }
        final long endNs = device.clock().nanoTime() + PATIENCE_NS;
        while (queue.poll(completions) == 0)
        {
            if (device.clock().nanoTime() - endNs >= 0)
            {
                throw new RdmaException("a request did not complete within " + PATIENCE_NS + " ns");
            }
            Thread.onSpinWait();
        }
        return completions.status(0);
    }
}
