package io.verbena.compute;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;

import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Where threads leave requests for a node, and where the node's thread sleeps when there are none. Any thread offers;
 * one thread at a time, the one that runs the node's duty cycle, polls; only the node's own thread parks.
 *
 * <p>No wake-up is lost: the node announces that it sleeps, then looks at the queue once more; a submitter enqueues,
 * then looks whether the node sleeps; full fences between the two steps of each make it impossible that both miss the
 * other. The same argument stands behind {@link #close()}: a submitter whose request slipped in while the queue closed
 * withdraws it itself, unless the node has taken it. A busy node costs submitters no system call; waking one that
 * sleeps costs a futex call and the scheduler's latency, 5 to 60 microseconds on ordinary Linux machines.
 */
final class RequestQueue
{
    /** The node has it and will answer. */
    static final int ACCEPTED = ComputeEndpoint.ACCEPTED;
    /** No room now. */
    static final int FULL = ComputeEndpoint.FULL;
    /** The node takes no more requests; it has not seen this one. */
    static final int CLOSED = ComputeEndpoint.CLOSED;

    private final ManyToOneConcurrentArrayQueue<NodeRequest> queue;
    private volatile boolean closed;
    private volatile boolean sleeping;
    private volatile Thread owner;

    RequestQueue(final int capacity)
    {
        queue = new ManyToOneConcurrentArrayQueue<>(capacity);
    }

    /**
     * Hands a request over.
     *
     * @param request IDLE or DONE; afterwards with the node if ACCEPTED, else with the caller, who may hand it to
     *                another node unless its state is ABANDONED.
     * @return ACCEPTED, FULL or CLOSED.
     */
    int offer(final NodeRequest request)
    {
        final int status = enqueue(request);
        if (ACCEPTED == status && sleeping)
        {
            wake();
        }
        return status;
    }

    /**
     * As {@link #offer}, but wakes nobody: for a submitter who then sees to it that the queue is looked at.
     *
     * @param request as for {@link #offer}.
     * @return as {@link #offer}.
     */
    int enqueue(final NodeRequest request)
    {
        if (closed)
        {
            return CLOSED;
        }
        request.queue();
        if (!queue.offer(request))
        {
            request.unqueue();
            return FULL;
        }
        VarHandle.fullFence(); // the request is in the queue before we look whether its reader is closed or asleep
        if (closed && request.withdraw())
        {
            return CLOSED;
        }
        return ACCEPTED;
    }

    /** Makes the node's thread return from {@link #sleep}, or not go there once. Any thread. */
    void wake()
    {
        sleeping = false;
        LockSupport.unpark(owner);
    }

    /** As {@link #wake()}, if it sleeps; after a volatile write of what it polls for then. Any thread. */
    void wakeSleeper()
    {
        if (sleeping)
        {
            wake();
        }
    }

    /** @return the next request, or null; by the node's thread. */
    NodeRequest poll()
    {
        return queue.poll();
    }

    /** @return true if nothing waits; exact for the node's thread when no one offers. */
    boolean isEmpty()
    {
        return queue.isEmpty();
    }

    /** Refuses further requests; those inside stay for the node's thread to poll. */
    void close()
    {
        closed = true;
        VarHandle.fullFence(); // whoever does not see this has enqueued before the polls that follow
    }

    /** Takes requests again. */
    void open()
    {
        closed = false;
    }

    boolean isClosed()
    {
        return closed;
    }

    /**
     * Parks the node's thread until a request arrives, {@link #wake()} is called, or the time is up.
     *
     * @param maxNs longest sleep; returns at once when below 1.
     */
    void sleep(final long maxNs)
    {
        owner = Thread.currentThread();
        sleeping = true;
        VarHandle.fullFence();
        if (queue.isEmpty() && maxNs > 0)
        {
            LockSupport.parkNanos(this, maxNs);
        }
        sleeping = false;
    }

    /**
     * Parks the node's thread while another one works on the node, until it is woken or the time is up.
     *
     * @param isHeld whether another thread works on it.
     * @param maxNs  longest sleep.
     */
    void sleepWhile(final BooleanSupplier isHeld, final long maxNs)
    {
        owner = Thread.currentThread();
        sleeping = true;
        VarHandle.fullFence();
        if (isHeld.getAsBoolean())
        {
            LockSupport.parkNanos(this, maxNs);
        }
        sleeping = false;
    }
}
