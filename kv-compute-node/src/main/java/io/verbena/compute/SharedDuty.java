package io.verbena.compute;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Lets a thread that waits for an answer run the node's duty cycle itself while nobody else does. On an idle node a
 * blocking call then costs its verbs, and no hand-over to another thread and back.
 *
 * <p>The rule of one owner thread stands: who holds the turn owns the node with its queue pairs, and the turn passes
 * from one thread to the next through a volatile word, which also makes all that the last owner did visible to the next
 * one. Nobody ever waits for the turn, except the node's own thread at its end: who does not get it leaves the work to
 * the holder. That is safe because the order of steps excludes a request seen by neither: a submitter enqueues, then
 * tries to take the turn; a holder gives the turn back, then looks at the queue, with a full fence between the two
 * steps of each.
 */
final class SharedDuty
{
    /** A thread that found no answer after so many cycles leaves the rest to the node's thread and parks. */
    private static final int MAX_CYCLES = 10_000;
    /** Cycles without any work after which something is awaited that spinning does not hasten. */
    private static final int MAX_IDLE_CYCLES = 100;
    /** Cycles given to requests of others once the own one is answered: cheaper than waking the node's thread. */
    private static final int MAX_EXTRA_CYCLES = 8;

    private static final VarHandle TAKEN;

    static
    {
        try
        {
            TAKEN = MethodHandles.lookup().findVarHandle(SharedDuty.class, "taken", boolean.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final ComputeNode node;
    private final RequestQueue queue;
    private volatile boolean taken;
    /** Plain: a thread that reads itself here has written it. */
    private Thread owner;
    private volatile Throwable failure;

    SharedDuty(final ComputeNode node)
    {
        this.node = node;
        queue = node.queue();
    }

    /** @return true if the calling thread owns the node from now on. */
    boolean tryTake()
    {
        if (taken || !TAKEN.compareAndSet(this, false, true))
        {
            return false;
        }
        owner = Thread.currentThread();
        return true;
    }

    /** Gives the turn back; the caller then looks at the queue, or at whether the node is busy, before it sleeps. */
    void giveBack()
    {
        owner = null;
        taken = false;
        VarHandle.fullFence();
    }

    /** @return true if a thread owns the node now; it looks at the queue after it gave the turn back. */
    boolean isTaken()
    {
        return taken;
    }

    /** @return why a submitter's duty cycle failed; null as long as none did. The node's thread ends the node then. */
    Throwable failure()
    {
        return failure;
    }

    /**
     * As {@link ComputeEndpoint#submitAndWork}.
     *
     * @param request to hand over.
     * @return as {@link ComputeEndpoint#submitAndWork}.
     */
    int submit(final NodeRequest request)
    {
        if (Thread.currentThread() == owner)
        {
            return ComputeEndpoint.NESTED;
        }
        final int status = queue.enqueue(request);
        if (ComputeEndpoint.ACCEPTED == status)
        {
            if (ComputeNode.State.SERVING != node.state() || null != failure)
            {
                queue.wake(); // joining and ending are for the node's own thread
            }
            else if (tryTake())
            {
                final boolean mustGoOn = workUninterrupted(request);
                giveBack();
                if (mustGoOn || !queue.isEmpty())
                {
                    queue.wake();
                }
            }
        }
        return status;
    }

    /** An interrupt is for the submitter, not for the node: it would close channels of the fabric's files. */
    private boolean workUninterrupted(final NodeRequest request)
    {
        final boolean interrupted = Thread.interrupted();
        final boolean mustGoOn = work(request);
        if (interrupted)
        {
            Thread.currentThread().interrupt();
        }
        return mustGoOn;
    }

    /** @return true if the node has something under way, so that its own thread has to go on. */
    private boolean work(final NodeRequest request)
    {
        try
        {
            int idleCycles = 0;
            int extraCycles = 0;
            for (int i = 0; i < MAX_CYCLES && idleCycles < MAX_IDLE_CYCLES && extraCycles < MAX_EXTRA_CYCLES; i++)
            {
                idleCycles = node.doWork() > 0 ? 0 : idleCycles + 1;
                if (ComputeNode.State.SERVING != node.state())
                {
                    return true;
                }
                if (NodeRequest.DONE == request.state())
                {
                    if (queue.isEmpty() && !node.isBusy())
                    {
                        return false;
                    }
                    extraCycles++;
                }
            }
            return node.isBusy();
        }
        catch (final RuntimeException | Error ex)
        {
            failure = ex;
            return true;
        }
    }
}
