package io.verbena.rdma.soft;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Runs actors one at a time; which one does the next step, a seed decides. One of them may be frozen at some step, as a
 * process that is stopped or killed there.
 */
public final class Interleaver
{
    /** Turns, each of up to 64 steps; a scenario that is not held up takes a few hundred. */
    private static final int MAX_TURNS = 10_000;
    private static final int MAX_STEPS_AFTER_END = 200_000;

    private final Random random;
    private final List<Actor> actors = new ArrayList<>();
    private final Semaphore stepDone = new Semaphore(0);
    private volatile boolean isOver;
    private Actor frozen;
    private int turnCount;

    Interleaver(final long seed)
    {
        random = new Random(seed);
    }

    /** A thread that stands still before each step until it is its turn. */
    private static final class Actor extends Thread
    {
        private final Interleaver owner;
        private final Runnable body;
        private final Semaphore turn = new Semaphore(0);
        private volatile Throwable failure;
        private volatile boolean isFinished;
        private int stepsLeft = Integer.MAX_VALUE;
        private int stepsAfterEnd;

        Actor(final Interleaver owner, final String name, final Runnable body)
        {
            super(name);
            this.owner = owner;
            this.body = body;
            setDaemon(true);
        }

        @Override
        public void run()
        {
            try
            {
                turn.acquireUninterruptibly();
                body.run();
            }
            catch (final Throwable ex)
            {
                failure = ex;
            }
            isFinished = true;
            owner.stepDone.release();
        }

        private void stand()
        {
            if (!owner.isOver)
            {
                owner.stepDone.release();
                turn.acquireUninterruptibly();
            }
            else if (++stepsAfterEnd == MAX_STEPS_AFTER_END)
            {
                throw new IllegalStateException("goes round in circles: " + getName());
            }
        }
    }

    /** Called before each access; does nothing on threads that are no actors. */
    public static void step()
    {
        if (Thread.currentThread() instanceof final Actor actor)
        {
            actor.stand();
        }
    }

    void add(final String name, final Runnable body)
    {
        actors.add(new Actor(this, name, body));
    }

    /** An actor stands still for good after a number of steps. */
    void freezeAfter(final String name, final int steps)
    {
        find(name).stepsLeft = steps;
    }

    /** Whether some actor stands still. */
    boolean isFrozen()
    {
        return frozen != null;
    }

    /** What was frozen goes on. */
    void thaw()
    {
        if (frozen != null)
        {
            frozen.stepsLeft = Integer.MAX_VALUE;
            frozen = null;
        }
    }

    /** Whether an actor is at its end. */
    boolean isFinished(final String name)
    {
        return find(name).isFinished;
    }

    private Actor find(final String name)
    {
        return actors.stream().filter(actor -> actor.getName().equals(name)).findFirst().orElseThrow();
    }

    /**
     * Schedules until something holds.
     *
     * @throws AssertionError when an actor fails, or it takes too many steps: somebody is held up.
     */
    void runUntil(final String what, final BooleanSupplier condition)
    {
        while (!condition.getAsBoolean())
        {
            final List<Actor> able = actors.stream().filter(actor -> !actor.isFinished && actor != frozen).toList();
            if (able.isEmpty() || turnCount++ > MAX_TURNS)
            {
                throw new AssertionError("held up: " + what + ", turns=" + turnCount);
            }
            // In bursts, so that an actor gets through a whole operation now and then.
            final Actor actor = able.get(random.nextInt(able.size()));
            doTurn(actor, 1 + random.nextInt(1 << random.nextInt(7)));
        }
    }

    /** Only one of them takes steps, until it is frozen or finished. */
    void run(final String name)
    {
        final Actor actor = find(name);
        while (actor != frozen && !actor.isFinished)
        {
            if (turnCount++ > MAX_TURNS)
            {
                throw new AssertionError("held up: " + name + ", turns=" + turnCount);
            }
            doTurn(actor, 1);
        }
    }

    private void doTurn(final Actor actor, final int steps)
    {
        for (int burst = steps; burst > 0 && !actor.isFinished; burst--)
        {
            if (actor.stepsLeft-- == 0)
            {
                frozen = actor;
                break;
            }
            doStep(actor);
        }
    }

    private void doStep(final Actor actor)
    {
        if (actor.getState() == Thread.State.NEW)
        {
            actor.start();
        }
        actor.turn.release();
        try
        {
            if (!stepDone.tryAcquire(20, TimeUnit.SECONDS))
            {
                throw new AssertionError("no step: " + actor.getName());
            }
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
        if (actor.failure instanceof final LinkageError error)
        {
            // A twin that does not fit would else be taken for one that is noticed.
            throw error;
        }
        if (actor.failure != null)
        {
            throw new AssertionError(actor.getName() + ": " + actor.failure, actor.failure);
        }
    }

    /** Lets everything that stands still run to its end, without any order. */
    void end() throws InterruptedException
    {
        isOver = true;
        for (final Actor actor : actors)
        {
            if (actor.getState() != Thread.State.NEW)
            {
                actor.turn.release(2);
                actor.join(TimeUnit.SECONDS.toMillis(20));
                if (actor.isAlive())
                {
                    throw new IllegalStateException("does not end: " + actor.getName());
                }
            }
        }
    }
}
