package io.verbena.load.demo;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.RecordingLane;
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
    private final long[] lastVersions = new long[KEYS];
    private int process;
    private long sequence;

    RegisterClient(
        final KvTable table,
        final int client,
        final RecordingLane lane,
        final RegisterFunctions functions,
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
        final int index = random.nextInt(KEYS);
        final String name = "register-" + index;
        final byte[] key = name.getBytes(StandardCharsets.UTF_8);
        final long version = Math.max(1, lastVersions[index]);
        final int choice = random.nextInt(PERCENT);
        if (choice < GET_BELOW)
        {
            run(name, functions.get(), null, () -> ofGet(index, table.get(key)));
        }
        else if (choice < PUT_BELOW)
        {
            final long value = nextValue();
            run(name, functions.put(), value, () -> seen(index, table.put(key, bytes(value))));
        }
        else if (choice < PUT_IF_ABSENT_BELOW)
        {
            final long value = nextValue();
            run(name, functions.putIfAbsent(), value, () -> ofPutIfAbsent(index, table.putIfAbsent(key, bytes(value))));
        }
        else if (choice < REPLACE_BELOW)
        {
            final long value = nextValue();
            run(name, functions.replace(), List.of(version, value),
                () -> ofReplace(index, table.replace(key, bytes(value), version)));
        }
        else if (choice < DELETE_BELOW)
        {
            run(name, functions.delete(), null, () -> table.delete(key));
        }
        else
        {
            run(name, functions.deleteVersion(), version, () -> ofDelete(index, table.delete(key, version)));
        }
    }

    private void run(final String name, final int f, final Object input, final Supplier<Object> call)
    {
        add(EventType.INVOKE, f, name, input);
        try
        {
            final Object output = call.get();
            add(EventType.OK, f, name, output);
        }
        catch (final KvException ex)
        {
            final boolean isUnknown = ex.category() == KvException.Category.OUTCOME_UNKNOWN;
            add(isUnknown ? EventType.INFO : EventType.FAIL, f, name, ex.getMessage());
            counters.onFailure(ex, functions.name(f) + " of " + name + ": " + ex.getMessage());
            // A process whose operation may still take effect calls nothing more; the client goes on as another one.
            process += isUnknown ? CLIENTS : 0;
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
        return List.of(ByteBuffer.wrap(entry.get().value()).getLong(), seen(index, entry.get().version()));
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

    private long nextValue()
    {
        return ((long)(client + 1) << SEQUENCE_BITS) | ++sequence;
    }

    private static byte[] bytes(final long value)
    {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
