package io.verbena.rdma.roce.host;

import io.verbena.rdma.soft.SoftCompletionChannel;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayDeque;

/**
 * A channel that sleeps as one of shared memory does; the thread that drives the network wakes it. So a completion of
 * the network comes by one thread more than on a device that has nothing but the network.
 */
final class HostCompletionChannel implements CompletionChannel
{
    /** A queue that raises events here by both ways. */
    interface Queue extends CompletionQueue
    {
        /** Waiting thread: whether it is armed; disarms it, so that two completions of two ways raise one event. */
        boolean takeArm();
    }

    private final HostParts parts;
    private final SoftCompletionChannel shared;
    /** Queues that have raised an event by the network, each once; guarded by this. */
    private final ArrayDeque<Queue> raised = new ArrayDeque<>();
    private volatile boolean hasRaised;
    private volatile boolean hasRequest;
    private boolean isSharedNext;
    /** Guarded by this. */
    private boolean isClosed;

    HostCompletionChannel(final HostParts parts)
    {
        this.parts = parts;
        shared = parts.shared().createCompletionChannel(() -> hasRaised || hasRequest);
    }

    HostParts parts()
    {
        return parts;
    }

    SoftCompletionChannel shared()
    {
        return shared;
    }

    /** Any thread: a queue has a completion of the network that it was armed for. */
    void raise(final Queue queue)
    {
        synchronized (this)
        {
            if (!raised.contains(queue))
            {
                raised.add(queue);
            }
            hasRaised = true;
            wakeShared();
        }
    }

    /** Any thread: a queue is armed anew, or closed. */
    synchronized void forget(final Queue queue)
    {
        raised.remove(queue);
        hasRaised = !raised.isEmpty();
    }

    /** Connection service: a listener of this channel has a request. */
    void onConnectionRequest()
    {
        hasRequest = true;
        wakeShared();
    }

    /** The listener may be closed by now, and with it this channel, whose memory is gone then. */
    private synchronized void wakeShared()
    {
        if (!isClosed)
        {
            shared.askAnew();
        }
    }

    @Override
    public boolean canWake()
    {
        return true;
    }

    @Override
    public void wake()
    {
        onConnectionRequest();
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        parts.network().pollingPauses();
        while (true)
        {
            isSharedNext = !isSharedNext;
            Queue queue = isSharedNext ? awaitShared(0) : takeRaised();
            if (queue == null)
            {
                queue = isSharedNext ? takeRaised() : awaitShared(0);
            }
            if (queue != null || takeRequest())
            {
                return queue;
            }
            final long leftNs = timeoutNs - (SystemNanoClock.INSTANCE.nanoTime() - startNs);
            if (leftNs <= 0)
            {
                return null;
            }
            queue = awaitShared(leftNs);
            if (queue != null || !hasRaised && !hasRequest)
            {
                // Without a queue: the time is over, an interrupt, or a request of this host.
                return queue;
            }
        }
    }

    private Queue awaitShared(final long timeoutNs)
    {
        final CompletionQueue part = shared.await(timeoutNs);
        return part != null && parts.whole(part) instanceof final Queue queue && queue.takeArm() ?
            queue : null;
    }

    private synchronized Queue takeRaised()
    {
        Queue queue = raised.poll();
        while (queue != null && !queue.takeArm())
        {
            queue = raised.poll();
        }
        hasRaised = !raised.isEmpty();
        return queue;
    }

    private boolean takeRequest()
    {
        final boolean had = hasRequest;
        if (had)
        {
            hasRequest = false;
        }
        return had;
    }

    @Override
    public synchronized void close()
    {
        shared.close();
        isClosed = true;
    }
}
