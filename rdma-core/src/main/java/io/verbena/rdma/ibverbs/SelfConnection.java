package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ConnectionMessage;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;

/** Two RC queue pairs of a device, connected to each other, to try the device with. Used by one thread. */
final class SelfConnection implements AutoCloseable
{
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int QUEUE_DEPTH = 2;

    private final DeviceContext device;
    private final IbverbsProtectionDomain domain;
    private final IbverbsCompletionQueue queue;
    private final IbverbsQueuePair requester;
    private final IbverbsQueuePair responder;
    private final WorkCompletions completions = new WorkCompletions(1);

    /**
     * Makes and connects.
     *
     * @param device      that is tried.
     * @param domain      of what the queue pairs shall work with.
     * @param accessFlags rights of the requester at the responder.
     */
    SelfConnection(final DeviceContext device, final IbverbsProtectionDomain domain, final int accessFlags)
    {
        this.device = device;
        this.domain = domain;
        queue = new IbverbsCompletionQueue(device, 2 * QUEUE_DEPTH, null);
        IbverbsQueuePair first = null;
        IbverbsQueuePair second = null;
        try
        {
            first = create();
            second = create();
            connect(first, second, accessFlags);
            connect(second, first, accessFlags);
        }
        catch (final RdmaException ex)
        {
            close(second, first);
            throw ex;
        }
        requester = first;
        responder = second;
    }

    private IbverbsQueuePair create()
    {
        final int reads = Math.min(QUEUE_DEPTH, device.attributes().maxReadAtomic());
        return (IbverbsQueuePair)domain.createQueuePair(
            queue, queue, new QueuePairCapabilities(QUEUE_DEPTH, 0, 0, reads));
    }

    private void connect(final IbverbsQueuePair from, final IbverbsQueuePair to, final int accessFlags)
    {
        from.openForConnection(accessFlags);
        from.establish(new ConnectionMessage(ConnectionMessage.REQUEST, 0, to.number(), 0, device.query().mtu(),
            to.maxReadAtomic(), device.address(), new byte[0]), 0, device.query().mtu(), accessFlags);
    }

    QueuePair requester()
    {
        return requester;
    }

    QueuePair responder()
    {
        return responder;
    }

    /** Posts what is staged, of which one request is signalled, and waits: a {@link WorkCompletionStatus}. */
    int complete(final QueuePair queuePair)
    {
        final int posted = queuePair.complete();
        if (posted != 0)
        {
            throw new RdmaException("a request could not be posted: status=" + posted);
        }
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + PATIENCE_NS;
        while (queue.poll(completions) == 0)
        {
            if (SystemNanoClock.INSTANCE.nanoTime() - endNs >= 0)
            {
                throw new RdmaException("a request did not complete within " + PATIENCE_NS + " ns");
            }
            Thread.onSpinWait();
        }
        return completions.status(0);
    }

    private void close(final IbverbsQueuePair second, final IbverbsQueuePair first)
    {
        if (second != null)
        {
            second.close();
        }
        if (first != null)
        {
            first.close();
        }
        queue.close();
    }

    @Override
    public void close()
    {
        close(responder, requester);
    }
}
