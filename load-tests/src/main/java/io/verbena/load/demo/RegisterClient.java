package io.verbena.load.demo;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.RecordingLane;
import io.verbena.load.demo.RegisterFunctions.Function;
import org.agrona.concurrent.NanoClock;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * One client of the register workload: chooses operations, carries them out, writes them down in the words of elle's
 * model {@code versioned-kv-map}. Each value is written once in the whole run. Not thread-safe.
 */
final class RegisterClient
{
    /** Of a workload. */
    static final int CLIENTS = 4;
    /** That all clients share. */
    static final int KEYS = 4;
    private static final int PERCENT = 100;
    private static final int WITH_DEADLINES = 20;
    private static final int GET_BELOW = 45;
    private static final int PUT_BELOW = 60;
    private static final int PUT_IF_ABSENT_BELOW = 72;
    private static final int REPLACE_BELOW = 90;
    private static final int DELETE_BELOW = 95;
    private static final int SEQUENCE_BITS = 40;

    private final KvTable table;
    private final int client;
    private final NanoClock clock;
    private final RunCounters counters;
    private final SplittableRandom random;
    private final RecordingLane lane;
    private final RegisterFunctions functions;
    private final ElapsedDeadlines deadlines;
    private final DeadlineSteps deadlineSteps;
    private final long[] lastVersions = new long[KEYS];
    private int process;
    private long sequence;

    RegisterClient(
        final KvTable table,
        final int client,
        final RecordingLane lane,
        final RegisterFunctions functions,
        final ElapsedDeadlines deadlines,
        final NanoClock clock,
        final RunCounters counters)
    {
        this.table = table;
        this.client = client;
        this.lane = lane;
        this.functions = functions;
        this.clock = clock;
        this.counters = counters;
        random = new SplittableRandom(client);
        this.deadlines = deadlines;
        deadlineSteps = new DeadlineSteps(table, this, random);
        process = client;
    }

    int process()
    {
        return process;
    }

    /**
     * One operation on one key.
     */
    void step()
    {
        if (random.nextInt(PERCENT) < WITH_DEADLINES)
        {
            deadlineSteps.step();
            return;
        }
        final int index = random.nextInt(KEYS);
        final String name = "register-" + index;
        final byte[] key = name.getBytes(StandardCharsets.UTF_8);
        final long version = Math.max(1, lastVersions[index]);
        final int choice = random.nextInt(PERCENT);
        if (choice < GET_BELOW)
        {
            run(name, Function.GET, null, () -> ofGet(index, table.get(key)));
        }
        else if (choice < PUT_BELOW)
        {
            final long value = nextValue();
            run(name, Function.PUT, value, () -> seen(index, table.put(key, bytes(value))));
        }
        else if (choice < PUT_IF_ABSENT_BELOW)
        {
            final long value = nextValue();
            run(name, Function.PUT_IF_ABSENT, value, () -> ofPutIfAbsent(index, table.putIfAbsent(key, bytes(value))));
        }
        else if (choice < REPLACE_BELOW)
        {
            final long value = nextValue();
            run(name, Function.REPLACE, List.of(version, value),
                () -> ofReplace(index, table.replace(key, bytes(value), version)));
        }
        else if (choice < DELETE_BELOW)
        {
            run(name, Function.DELETE, null, () -> table.delete(key));
        }
        else
        {
            run(name, Function.DELETE_VERSION, version, () -> ofDelete(index, table.delete(key, version)));
        }
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

    private Object ofGet(final int index, final Optional<KvEntry> entry)
    {
        if (entry.isEmpty())
        {
            return null;
        }
        return List.of(value(entry.get()), seen(index, entry.get().version()));
    }

    private Object ofPutIfAbsent(final int index, final PutResult result)
    {
        final long version = seen(index, result.version());
        return result.stored() ? (Object)version : List.of(false, version);
    }

    private Object ofReplace(final int index, final ReplaceResult result)
    {
        return switch (result.outcome())
        {
            case REPLACED -> seen(index, result.version());
            case NOT_FOUND -> Arrays.asList(false, null);
            case VERSION_MISMATCH -> List.of(false, seen(index, result.version()));
        };
    }

    private Object ofDelete(final int index, final DeleteResult result)
    {
        return switch (result.outcome())
        {
            case DELETED -> true;
            case NOT_FOUND -> Arrays.asList(false, null);
            case VERSION_MISMATCH -> List.of(false, seen(index, result.version()));
        };
    }

    private long seen(final int index, final long version)
    {
        lastVersions[index] = version;
        return version;
    }

    void onError(final String what)
    {
        counters.onError(what);
    }

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
}
