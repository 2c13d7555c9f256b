package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.AsyncEventQueue;
import org.agrona.concurrent.NanoClock;

/** What all objects of an engine share. Used by the engine's thread. */
final class EngineContext
{
    private final EngineOptions options;
    private final PacketWriter writer;
    private final NanoClock clock;
    private final EngineCounters counters;
    private final RemoteAccess memory = new RemoteAccess();
    private final AsyncEventQueue events = new AsyncEventQueue();
    private final Schedule schedule = new Schedule();
    private boolean hasOverrun;

    EngineContext(
        final EngineOptions options, final PacketWriter writer, final NanoClock clock, final EngineCounters counters)
    {
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

    AsyncEventQueue events()
    {
        return events;
    }

    Schedule schedule()
    {
        return schedule;
    }

    long nowNs()
    {
        return clock.nanoTime();
    }

    /** A completion queue has overrun: its queue pairs are to fail with the engine's next cycle. */
    void onOverrun()
    {
        hasOverrun = true;
    }

    /** Whether one has since the last call. */
    boolean takeOverrun()
    {
        final boolean hadOverrun = hasOverrun;
        hasOverrun = false;
        return hadOverrun;
    }
}
