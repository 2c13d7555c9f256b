package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;

import org.agrona.concurrent.NanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whose turn it is to drive the endpoints of a client. A thread that waits for an answer takes the turn when nobody has
 * it, sends its request itself and looks for the answer itself: then one remote call is two threads, the caller and the
 * node, and nobody is woken. A background thread drives them while something is under way that no caller waits for
 * here, and sleeps otherwise. What takes long, such as connecting, is done by that thread alone: when it is due, no
 * caller takes the turn until it was done.
 *
 * <p>Who has the turn owns the context and all endpoints on it; the turn passes through a volatile word, which makes
 * visible what the last owner did. No work is left lying: who finds the turn taken marks that work was left, then tries
 * once more; who has it gives it back, then looks at the mark; both words are volatile, whose accesses have one order
 * for all, which makes it impossible that both miss the other. The mark is taken away only by who has just taken the
 * turn and looks at all queues next.
 */
public final class TransportTurn
{
    /** What is driven; by the owner of the turn only. */
    public interface Transport
    {
        /**
         * One duty cycle of the background thread; may take long, where it makes, connects or closes something.
         *
         * @return work done.
         */
        int doWork();

        /**
         * One duty cycle of a caller: sends what waits for who can take it, and looks at what has arrived. Makes,
         * connects and closes nothing, so that no caller waits for more than its answer.
         *
         * @return work done.
         */
        int serve();

        /**
         * Looks at what has arrived, as the duty cycles do among other things.
         *
         * @return work done.
         */
        int poll();

        /** @return whether something is under way, or waits to be sent. */
        boolean isBusy();

        /** @return whether something is due, as of the last duty cycle, that only {@link #doWork()} does. */
        boolean isDutyDue();
    }

    /** Where a caller that has the turn leaves its request: with nobody about, it needs no queue. */
    @FunctionalInterface
    public interface Entrance
    {
        /**
         * Sends a request, or enqueues it; by the owner of the turn.
         *
         * @param request IDLE or DONE.
         * @return ACCEPTED, FULL or CLOSED of {@link ComputeEndpoint}.
         */
        int enter(NodeRequest request);
    }

    /** Polls between two duty cycles of a caller. */
    private static final int POLLS_PER_CYCLE = 16;
    /** Polls without work until a caller gives way to other threads in between: the node may need this processor. */
    private static final int SPINS = 200;
    /** Polls between two looks at the clock, idle or not. */
    private static final int POLLS_PER_LOOK = 256;
    /** Attempts to take a turn that another thread has. */
    private static final int ATTEMPTS = 64;
    /** Duty cycles for requests of others, once the own one is answered: cheaper than to wake a thread for them. */
    private static final int MAX_EXTRA_CYCLES = 8;
    /** When a caller's turn ends without its answer: the background thread does the rest, and the caller parks. */
    private static final long MAX_TURN_NS = 1_000_000;

    /** Of requests that are in their queue already. */
    private static final Entrance ENTERED = (request) -> ComputeEndpoint.ACCEPTED;
    private static final VarHandle TAKEN;

    static
    {
        try
        {
            TAKEN = MethodHandles.lookup().findVarHandle(TransportTurn.class, "taken", boolean.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final Transport transport;
    private final Waker waker;
    private final NanoClock clock;
    private volatile boolean taken;
    private volatile boolean left;
    private volatile boolean shared;
    private volatile boolean reserved;
    /** Plain: a thread that reads itself here has written it. */
    private Thread owner;
    private volatile Throwable failure;
    /** Test hook: called between the mark that work was left and the second look at the turn. */
    Runnable afterMark;

    /**
     * @param transport to be driven.
     * @param waker     of the background thread.
     * @param clock     of the fabric.
     */
    public TransportTurn(final Transport transport, final Waker waker, final NanoClock clock)
    {
        this.transport = transport;
        this.waker = waker;
        this.clock = clock;
    }

    /** Lets callers take the turn from now on; who drives the transport takes it for each duty cycle, too. */
    public void share()
    {
        shared = true;
    }

    /** @return true if the calling thread, the background one, owns the transport from now on. */
    public boolean tryTake()
    {
        if (!take())
        {
            return false;
        }
        reserved = false;
        return true;
    }

    private boolean take()
    {
        if (taken || !TAKEN.compareAndSet(this, false, true))
        {
            return false;
        }
        owner = Thread.currentThread();
        if (left)
        {
            left = false;
        }
        return true;
    }

    /** Gives the turn back; the caller then looks at {@link #hasLeft()} before it sleeps. */
    public void giveBack()
    {
        owner = null;
        taken = false;
    }

    /** No caller takes the turn any more until the background thread has had it. */
    public void reserve()
    {
        reserved = true;
    }

    /** @return true if a thread has the turn now. */
    public boolean isTaken()
    {
        return taken;
    }

    /** @return true if the calling thread has the turn: what it waits for then, it waits for in vain. */
    public boolean isMine()
    {
        return Thread.currentThread() == owner;
    }

    /** @return true if work was left while the turn was taken, and nobody has taken it since. */
    public boolean hasLeft()
    {
        return left;
    }

    /** @return why a caller's duty cycle failed first, or null; the background thread ends the transport then. */
    public Throwable failure()
    {
        return failure;
    }

    /** Something was enqueued: sees to it that it is looked at soon. Any thread. */
    public void wake()
    {
        if (taken)
        {
            leave();
            if (taken)
            {
                return;
            }
        }
        waker.wake();
    }

    /**
     * A request was enqueued whose submitter waits: works on it in the calling thread, for a bounded time, unless
     * others have the turn. A virtual thread never does: who gives way with the turn may not be scheduled again soon.
     *
     * @param request enqueued at one of the transport's endpoints.
     */
    public void workFor(final NodeRequest request)
    {
        if (!mayBeACallers())
        {
            wake();
            return;
        }
        for (int i = 0; i < ATTEMPTS && NodeRequest.DONE != request.state(); i++)
        {
            if (take())
            {
                takeTurn(request, ENTERED, ENTERED);
                return;
            }
            Thread.onSpinWait();
        }
        if (NodeRequest.DONE != request.state())
        {
            leave(); // only now: most turns end before, and who finds the mark wakes the background thread
            if (take())
            {
                takeTurn(request, ENTERED, ENTERED);
            }
        }
    }

    /**
     * Hands a request in, and works on it as {@link #workFor} does: where nobody has the turn it is taken first.
     *
     * @param request  whose submitter waits.
     * @param entrance of the transport's endpoint that it is for.
     * @param queue    takes it where the turn is not to be had; any thread may use it.
     * @return ACCEPTED, FULL or CLOSED of {@link ComputeEndpoint}.
     */
    public int submit(final NodeRequest request, final Entrance entrance, final Entrance queue)
    {
        if (mayBeACallers() && take())
        {
            return takeTurn(request, entrance, queue);
        }
        final int status = queue.enter(request);
        if (ComputeEndpoint.ACCEPTED == status)
        {
            workFor(request);
        }
        return status;
    }

    /** Opening, ending, and what takes long are for the background thread. */
    private boolean mayBeACallers()
    {
        return shared && !reserved && null == failure && !Thread.currentThread().isVirtual();
    }

    private void leave()
    {
        if (!left)
        {
            left = true;
        }
        if (null != afterMark)
        {
            afterMark.run();
        }
    }

    /**
     * An interrupt is for the caller, not for the transport: it would close channels of the fabric's files. An error is
     * for the caller as well, and ends the transport as any failure does: nobody knows what it left half done.
     */
    private int takeTurn(final NodeRequest request, final Entrance entrance, final Entrance queue)
    {
        final boolean interrupted = Thread.interrupted();
        boolean mustGoOn = true;
        int status = ComputeEndpoint.ACCEPTED;
        try
        {
            // A turn before may have failed since it was looked at: what is queued is refused then, as all else is.
            status = (null == failure ? entrance : queue).enter(request);
            mustGoOn = null != failure || ComputeEndpoint.ACCEPTED != status || drive(request);
        }
        catch (final RuntimeException ex)
        {
            failure = ex;
        }
        catch (final Error ex)
        {
            failure = ex;
            throw ex;
        }
        finally
        {
            giveBack();
            if ((mustGoOn || left || reserved) && !taken)
            {
                waker.wake();
            }
            if (interrupted)
            {
                Thread.currentThread().interrupt();
            }
        }
        return status;
    }

    /** Returns whether something is still under way. */
    private boolean drive(final NodeRequest request)
    {
        final boolean isAnswered = serveUntilDone(request);
        boolean isBusy = !isAnswered || transport.isBusy();
        for (int i = 0; isAnswered && isBusy && i < MAX_EXTRA_CYCLES; i++)
        {
            transport.serve();
            isBusy = transport.isBusy();
        }
        if (transport.isDutyDue())
        {
            reserve();
        }
        return isBusy;
    }

    /** Returns false when the time of a turn is up. */
    private boolean serveUntilDone(final NodeRequest request)
    {
        int idlePolls = 0;
        int pollsOfCycle = NodeRequest.STARTED == request.state() ? 1 : 0; // sent: its answer is looked for first
        long untilNs = 0;
        for (int i = 1; NodeRequest.DONE != request.state(); i++)
        {
            final int work = 0 == pollsOfCycle ? transport.serve() : transport.poll();
            idlePolls = work > 0 ? 0 : idlePolls + 1;
            pollsOfCycle = work > 0 ? 0 : (pollsOfCycle + 1) % POLLS_PER_CYCLE;
            if (idlePolls > SPINS || 0 == i % POLLS_PER_LOOK)
            {
                final long nowNs = clock.nanoTime();
                untilNs = 0 == untilNs ? nowNs + MAX_TURN_NS : untilNs;
                if (nowNs - untilNs >= 0)
                {
                    return false;
                }
            }
            if (idlePolls > SPINS)
            {
                Thread.yield();
            }
        }
        return true;
    }
}
