package io.verbena.load.demo;

import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.RecordingLane;
import io.verbena.load.demo.RegisterFunctions.Function;
import org.agrona.concurrent.NanoClock;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * The calls of one register client, written down in the words of elle's model {@code versioned-kv-map}. Not
 * thread-safe.
 */
final class RegisterCalls
{
    /** Of a workload. */
    static final int CLIENTS = 4;
    private static final int SEQUENCE_BITS = 40;

    private final int client;
    private final RecordingLane lane;
    private final RegisterFunctions functions;
    private final ElapsedDeadlines deadlines;
    private final NanoClock clock;
    private final RunCounters counters;
    private int process;
    private long sequence;

    RegisterCalls(
        final int client,
        final RecordingLane lane,
        final RegisterFunctions functions,
        final ElapsedDeadlines deadlines,
        final NanoClock clock,
        final RunCounters counters)
    {
        this.client = client;
        this.lane = lane;
        this.functions = functions;
        this.deadlines = deadlines;
        this.clock = clock;
        this.counters = counters;
        process = client;
    }

    int process()
    {
        return process;
    }

    /**
     * Calls a function that names a deadline.
     */
    void runUntil(
        final String name, final Function function, final Object input, final long deadlineMs,
        final Supplier<Object> call)
    {
        final EventType end = run(name, function, input, call);
        if (EventType.FAIL != end)
        {
            deadlines.onWrite(name, deadlineMs, clock.nanoTime(), EventType.INFO == end);
        }
    }

    /**
     * Calls a function, and says how that ended.
     */
    EventType run(final String name, final Function function, final Object input, final Supplier<Object> call)
    {
        final int f = functions.number(function);
        add(EventType.INVOKE, f, name, input);
        try
        {
            final Object output = call.get();
            add(EventType.OK, f, name, output);
            return EventType.OK;
        }
        catch (final KvException ex)
        {
            final boolean isUnknown = ex.category() == KvException.Category.OUTCOME_UNKNOWN;
            final EventType end = isUnknown ? EventType.INFO : EventType.FAIL;
            add(end, f, name, ex.getMessage());
            counters.onFailure(ex, function.word() + " of " + name + ": " + ex.getMessage());
            // A process whose operation may still take effect calls nothing more; the client goes on as another one.
            process += isUnknown ? CLIENTS : 0;
            return end;
        }
    }

    private void add(final EventType type, final int f, final String name, final Object value)
    {
        lane.event(type, clock.nanoTime(), process, f).value(name).value(value);
    }

    /** A value that is written once in the whole run. */
    long nextValue()
    {
        return ((long)(client + 1) << SEQUENCE_BITS) | ++sequence;
    }

    static long value(final KvEntry entry)
    {
        return ByteBuffer.wrap(entry.value()).getLong();
    }

    static byte[] bytes(final long value)
    {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    void onError(final String what)
    {
        counters.onError(what);
    }
}
