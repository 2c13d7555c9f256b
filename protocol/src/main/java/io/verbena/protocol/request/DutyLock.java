package io.verbena.protocol.request;

import org.agrona.concurrent.NanoClock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A combining lock over a duty cycle: that of a compute node in this process, or of a client's connections to nodes
 * elsewhere. A thread that waits for an answer takes the lock when nobody has it, hands its request in itself and polls
 * for the answer itself, so that nobody is woken. A background thread runs the duty cycle while something is under way
 * that no caller waits for here, and sleeps otherwise. What takes long, such as connecting, is done by that thread
 * alone: when it is due, no caller takes the lock until it was done.
 *
 * <p>The holder owns everything the duty cycle works on; the lock is a volatile word, which makes visible what the last
 * holder did. No work is lost: a thread that finds the lock held marks that work was left, then tries once more; the
 * holder releases it, then reads the mark; both words are volatile, whose accesses have one order for all, which makes
 * it impossible that both miss the other. Only a thread that has just taken the lock, and polls all queues next, clears
 * the mark.
 */
public final class DutyLock
{
    /** The duty cycle; called by the holder only, except what says otherwise. */
    public interface Duty
    {
        /**
         * One duty cycle of a caller: sends what waits, and polls for what has arrived. Makes, connects and closes
         * nothing, so that no caller waits for more than its answer.
         *
         * @return work done.
         */
        int serve();

        /**
         * Polls for what has arrived, as the duty cycles do among other things.
         *
         * @return work done.
         */
        int poll();

        /** @return whether something is under way, or waits to be sent. */
        boolean isBusy();

        /** @return whether something is due, as of the last duty cycle, that only the background thread does. */
        boolean isDutyDue();

        /** @return whether callers may run the duty cycle now; else the background thread alone does. Any thread. */
        default boolean isOpenToCallers()
        {
            return true;
        }

        /**
         * Waits for what arrives, by the holder, who then runs the duty cycle; at most so long, or until
         * {@link #endWait()} was called since the last wait. Only with {@link Patience#ANOTHER_HOST_ANSWERS}.
         *
         * @param timeoutNs longest wait.
         */
        default void await(final long timeoutNs)
        {
            Thread.yield();
        }

        /** Ends the holder's wait, now or next: something was enqueued. Any thread. */
        default void endWait()
        {
            // Nobody waits.
        }
    }

    /** Where a caller that holds the lock leaves its request: with nobody about, it needs no queue. */
    @FunctionalInterface
    public interface Entrance
    {
        /**
         * Sends a request, or enqueues it; by the holder.
         *
         * @param request IDLE or DONE.
         * @return ACCEPTED, FULL or CLOSED of {@link ComputeEndpoint}.
         */
        int enter(NodeRequest request);
    }

    /** How long a caller tries for the lock, and keeps it while nothing arrives. */
    public enum Patience
    {
        /**
         * Another process answers, which may need this processor: a caller gives way to other threads, and goes on. Not
         * for virtual threads: one that gives way is not scheduled again before all others, with the lock held.
         */
        ANOTHER_PROCESS_ANSWERS(64, 200, 1_000_000, true),
        /** Each poll is a system call: a caller waits after a few of them. Not for virtual threads either. */
        ANOTHER_HOST_ANSWERS(64, 6, 10_000_000, true),
        /** The duty cycle itself does the work: a caller that finds nothing to do leaves the rest to the thread. */
        DUTY_CYCLE_ANSWERS(0, 100, 1_000_000, false);

        private final int attempts;
        private final int idlePolls;
        /** When it releases the lock without its answer: the background thread does the rest, the caller parks. */
        private final long maxHoldNs;
        private final boolean givesWay;

        Patience(final int attempts, final int idlePolls, final long maxHoldNs, final boolean givesWay)
        {
            this.attempts = attempts;
            this.idlePolls = idlePolls;
            this.maxHoldNs = maxHoldNs;
            this.givesWay = givesWay;
        }
    }

    /** Polls between two duty cycles of a caller. */
    private static final int POLLS_PER_CYCLE = 16;
    /** Polls between two readings of the clock, idle or not. */
    private static final int POLLS_PER_CLOCK_READING = 256;
    /** Duty cycles for requests of others, once the own one is answered: cheaper than to wake a thread for them. */
    private static final int MAX_EXTRA_CYCLES = 8;

    /** Of requests that are in their queue already. */
    private static final Entrance ENTERED = (request) -> ComputeEndpoint.ACCEPTED;
    private static final VarHandle HELD;

    static
    {
        try
        {
            HELD = MethodHandles.lookup().findVarHandle(DutyLock.class, "held", boolean.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final Duty duty;
    private final Runnable waker;
    private final NanoClock clock;
    private final Patience patience;
    private volatile boolean held;
    private volatile boolean left;
    private volatile boolean shared;
    private volatile boolean reserved;
    /** Plain: a thread that reads itself here has written it. */
    private Thread holder;
    private volatile Throwable failure;
    /** Test hook: called between the mark that work was left and the second attempt at the lock. */
    Runnable afterMark;

    /**
     * @param duty     to be run.
     * @param waker    wakes the background thread if it sleeps.
     * @param clock    of the fabric.
     * @param patience of callers.
     */
    public DutyLock(final Duty duty, final Runnable waker, final NanoClock clock, final Patience patience)
    {
        this.duty = duty;
        this.waker = waker;
        this.clock = clock;
        this.patience = patience;
    }

    /** Lets callers take the lock from now on; the background thread takes it for each duty cycle, too. */
    public void share()
    {
        shared = true;
    }

    /** @return true if the calling thread, the background one, holds the lock from now on. */
    public boolean tryAcquire()
    {
        if (!acquire())
        {
            return false;
        }
        reserved = false;
        return true;
    }

    private boolean acquire()
    {
        if (held || !HELD.compareAndSet(this, false, true))
        {
            return false;
        }
        holder = Thread.currentThread();
        if (left)
        {
            left = false;
        }
        return true;
    }

    /**
     * Takes the lock unless it is reserved, which may have happened since the caller asked: read after the lock was
     * taken, a reservation that came before is seen. The mark may be gone then, so that the thread is woken.
     */
    private boolean acquireAsCaller()
    {
        if (!acquire())
        {
            return false;
        }
        if (!reserved)
        {
            return true;
        }
        release();
        waker.run();
        return false;
    }

    /** Releases the lock; the background thread then reads {@link #hasLeftWork()} before it sleeps. */
    public void release()
    {
        holder = null;
        held = false;
    }

    /** No caller takes the lock any more until the background thread has had it. */
    public void reserve()
    {
        reserved = true;
    }

    /** @return true if a thread holds the lock now. */
    public boolean isHeld()
    {
        return held;
    }

    /** @return true if the calling thread holds the lock: what it waits for then, it waits for in vain. */
    public boolean isMine()
    {
        return Thread.currentThread() == holder;
    }

    /** @return true if work was left while the lock was held, and nobody has taken it since. */
    public boolean hasLeftWork()
    {
        return left;
    }

    /** @return why a caller's duty cycle failed first, or null; the background thread ends the duty then. */
    public Throwable failure()
    {
        return failure;
    }

    /** Something was enqueued: sees to it that it is taken soon. Any thread. */
    public void wake()
    {
        if (held)
        {
            leave();
            if (held)
            {
                return;
            }
        }
        waker.run();
    }

    /**
     * A request was enqueued whose submitter waits: works on it in the calling thread, for a bounded time, unless
     * another one holds the lock.
     *
     * @param request enqueued where the duty cycle takes it from.
     */
    public void workFor(final NodeRequest request)
    {
        if (!mayBeACallers())
        {
            wake();
            return;
        }
        for (int i = 0; i < patience.attempts && !reserved && NodeRequest.DONE != request.state(); i++)
        {
            if (acquireAsCaller())
            {
                runDuty(request, ENTERED, ENTERED);
                return;
            }
            Thread.onSpinWait();
        }
        if (NodeRequest.DONE != request.state())
        {
            leave(); // only now: mostly the lock is free before, and a holder that finds the mark wakes the thread
            if (acquireAsCaller())
            {
                runDuty(request, ENTERED, ENTERED);
            }
        }
    }

    /**
     * Hands a request in, and works on it as {@link #workFor} does: where nobody holds the lock it is taken first.
     *
     * @param request  whose submitter waits.
     * @param entrance of what the duty cycle works on.
     * @param queue    takes it where the lock is not to be had; any thread may use it.
     * @return ACCEPTED, FULL or CLOSED of {@link ComputeEndpoint}.
     */
    public int submit(final NodeRequest request, final Entrance entrance, final Entrance queue)
    {
        if (mayBeACallers() && acquireAsCaller())
        {
            return runDuty(request, entrance, queue);
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
        return shared && !reserved && null == failure && duty.isOpenToCallers() &&
            !(patience.givesWay && Thread.currentThread().isVirtual());
    }

    private void leave()
    {
        if (!left)
        {
            left = true;
        }
        duty.endWait();
        if (null != afterMark)
        {
            afterMark.run();
        }
    }

    /**
     * An interrupt is for the caller, not for the duty cycle: it would close channels of the fabric's files. An error
     * is for the caller as well, and ends the duty as any failure does: nobody knows what it left half done.
     */
    private int runDuty(final NodeRequest request, final Entrance entrance, final Entrance queue)
    {
        final boolean interrupted = Thread.interrupted();
        boolean mustGoOn = true;
        int status = ComputeEndpoint.ACCEPTED;
        try
        {
            // An earlier holder may have failed since that was read: what is queued is refused then, as all else is.
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
            release();
            if ((mustGoOn || left || reserved) && !held)
            {
                waker.run();
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
        boolean isBusy = !isAnswered || duty.isBusy();
        for (int i = 0; isAnswered && isBusy && i < MAX_EXTRA_CYCLES; i++)
        {
            duty.serve();
            isBusy = duty.isBusy();
        }
        if (duty.isDutyDue())
        {
            reserve();
        }
        return isBusy;
    }

    /** Returns false when the caller's patience is over. */
    private boolean serveUntilDone(final NodeRequest request)
    {
        int idlePolls = 0;
        int pollsOfCycle = NodeRequest.STARTED == request.state() ? 1 : 0; // sent: its answer is polled for first
        long untilNs = 0;
        for (int i = 1; NodeRequest.DONE != request.state(); i++)
        {
            final int work = 0 == pollsOfCycle ? duty.serve() : duty.poll();
            idlePolls = work > 0 ? 0 : idlePolls + 1;
            pollsOfCycle = work > 0 ? 0 : (pollsOfCycle + 1) % POLLS_PER_CYCLE;
            final boolean isIdle = idlePolls > patience.idlePolls;
            if (isIdle && !patience.givesWay)
            {
                return false;
            }
            if (isIdle || 0 == i % POLLS_PER_CLOCK_READING)
            {
                final long nowNs = clock.nanoTime();
                untilNs = 0 == untilNs ? nowNs + patience.maxHoldNs : untilNs;
                if (nowNs - untilNs >= 0)
                {
                    return false;
                }
            }
            if (isIdle && Patience.ANOTHER_HOST_ANSWERS == patience)
            {
                duty.await(patience.maxHoldNs);
                pollsOfCycle = 0; // it may be for a request of somebody else that the wait has ended
            }
            else if (isIdle)
            {
                Thread.yield();
            }
        }
        return true;
    }
}
