package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.AsyncEventQueue;
import io.verbena.rdma.spi.OpenChildren;
import org.agrona.concurrent.NanoClock;

import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** What all objects of an engine share. Used by the thread that drives, except where it says otherwise. */
final class EngineContext
{
    private static final long PAUSE_NS = EngineOptions.DC_SILENCE_NS / 2;

    private final EngineOptions options;
    private final PacketWriter writer;
    private final NanoClock clock;
    private final EngineCounters counters;
    private final RemoteAccess memory;
    private final OpenChildren children = new OpenChildren("device");
    private final AsyncEventQueue events = new AsyncEventQueue();
    private final Schedule schedule = new Schedule();
    private final PostedQueuePairs posted = new PostedQueuePairs();
    private final EngineDriver driver;
    private final CompletionNotifier notifier = new CompletionNotifier();
    private final ScheduleEntry overrun;
    private long cycleNs;
    private long pauses;

    EngineContext(
        final EngineOptions options,
        final PacketWriter writer,
        final NanoClock clock,
        final EngineCounters counters,
        final EngineDriver driver,
        final IntSupplier random,
        final ScheduleEntry overrun)
    {
        memory = new RemoteAccess(random);
        this.overrun = overrun;
        this.driver = driver;
        this.options = options;
        this.writer = writer;
        this.clock = clock;
        this.counters = counters;
    }

    EngineOptions options()
    {
        return options;
    }

    PacketWriter writer()
    {
        return writer;
    }

    EngineCounters counters()
    {
        return counters;
    }

    RemoteAccess memory()
    {
        return memory;
    }

    OpenChildren children()
    {
        return children;
    }

    AsyncEventQueue events()
    {
        return events;
    }

    Schedule schedule()
    {
        return schedule;
    }

    PostedQueuePairs posted()
    {
        return posted;
    }

    /** Something was posted. */
    void onPosted()
    {
        driver.onPosted();
    }

    /** A completion queue is empty: drives if nobody does. */
    void drive()
    {
        driver.drive();
    }

    /** A control verb begins; when this throws there must be no {@link #exit}. */
    void enter()
    {
        driver.enter();
    }

    /** A control verb ends. */
    void exit()
    {
        try
        {
            notifier.run();
        }
        finally
        {
            driver.exit();
        }
    }

    /** Asks a question while no other thread drives. */
    boolean whether(final BooleanSupplier question)
    {
        enter();
        try
        {
            return question.getAsBoolean();
        }
        finally
        {
            exit();
        }
    }

    /** Runs a control verb while no other thread drives. */
    void exclusively(final Runnable verb)
    {
        enter();
        try
        {
            verb.run();
        }
        finally
        {
            exit();
        }
    }

    long nowNs()
    {
        return clock.nanoTime();
    }

    /** A cycle of the engine begins; what has arrived before was handled. */
    void onCycle(final long nowNs)
    {
        if (nowNs - cycleNs >= PAUSE_NS)
        {
            pauses++;
        }
        cycleNs = nowNs;
    }

    /** How often nothing was done for so long that peers may have given up. */
    long pauses()
    {
        return pauses;
    }

    CompletionNotifier notifier()
    {
        return notifier;
    }

    /** A completion queue has overrun: its queue pairs are to fail with the engine's next cycle. */
    void onOverrun()
    {
        posted.add(overrun);
    }
}
