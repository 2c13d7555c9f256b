package io.verbena.embedded;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.elle.Validity;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Model;
import io.verbena.elle.linear.Models;
import io.verbena.rdma.sim.SimWorld;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.random.RandomGenerator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients of a simulated cluster: each runs one operation after another on a few keys, and what all called and were
 * told goes into one history. Every operation must end by its deadline, or soon after: that is checked here.
 */
final class SimClients
{
    private static final long GRACE_NS = 8_000_000;
    /** Keys of counters. */
    private static final int COUNTERS = 100;

    private final SimWorld world;
    private final RandomGenerator random;
    private final KvTable table;
    private final EventLog registers;
    private final EventLog counters;
    private boolean hasCounters;
    private final Map<List<Long>, Integer> valuesOfVersions = new HashMap<>();
    private final int keyCount;
    private final long timeoutNs;
    private final long[] knownVersions;
    private final Map<KvException.Category, Integer> failures = new EnumMap<>(KvException.Category.class);
    private final Map<String, Integer> messages = new HashMap<>();
    private int operationsLeft;
    private int open;
    private int nextProcess;
    private int nextValue = 1;
    private int succeeded;
    private long longestOverrunNs;

    SimClients(
        final SimWorld world, final KvTable table, final int keyCount, final int operationCount, final long timeoutNs)
    {
        this.world = world;
        this.table = table.withTimeout(Duration.ofNanos(timeoutNs));
        this.keyCount = keyCount;
        this.timeoutNs = timeoutNs;
        random = world.random();
        operationsLeft = operationCount;
        knownVersions = new long[keyCount];
        registers = new EventLog("seed " + world.seed(), 0, keyCount,
            (state) -> ((List<?>)state).getFirst(), (state) -> ((List<?>)state).getLast());
        counters = new EventLog("counters of seed " + world.seed(), COUNTERS, keyCount, (state) -> state,
            (state) -> null);
    }

    /** Every fourth operation is one on a counter. */
    SimClients withCounters()
    {
        hasCounters = true;
        return this;
    }

    void start(final int clientCount, final long maxPauseNs)
    {
        for (int i = 0; i < clientCount; i++)
        {
            open++;
            final int process = nextProcess++;
            world.after(random.nextLong(maxPauseNs), () -> next(process, maxPauseNs));
        }
    }

    /** Runs until all have ended; what they were told must be linearizable. */
    void finish(final long maxSteps)
    {
        world.runUntil(this::isFinished, maxSteps);
        check(Models.versionedKvMap(), registers);
        if (hasCounters)
        {
            check(Models.kvMap(), counters);
        }
    }

    /** Memory can be lost again before anything succeeds: such a part shows nothing, but not every part may be one. */
    private void check(final Model<?> model, final EventLog log)
    {
        final List<History> conclusive = log.histories().stream()
            .filter((history) -> history.operations().stream().anyMatch(Operation::isOk)).toList();
        assertThat(conclusive).as("seed %d: histories in which an operation succeeded", world.seed()).isNotEmpty();
        conclusive.forEach((history) -> check(model, history));
    }

    private void check(final Model<?> model, final History history)
    {
        final LinearVerdict verdict = new LinearChecker<>(model, LinearOptions.defaults()).check(history);
        assertThat(verdict.validity()).as("seed %d: %s", world.seed(), verdict.explanation())
            .isEqualTo(Validity.VALID);
    }

    /** Where histories stand now, for {@link #restored}. */
    int[] positions()
    {
        return new int[]{ registers.position(), counters.position() };
    }

    /** Memory was lost, and holds now what a checkpoint holds that began when histories stood there. */
    void restored(final int[] began, final Map<Integer, SimRecord> records)
    {
        final Map<Integer, Object> states = new HashMap<>();
        final Map<Integer, Object> counts = new HashMap<>();
        records.forEach((key, record) ->
        {
            if (key < COUNTERS)
            {
                states.put(key, Arrays.asList(numberOf(record.value()), known(key, record.version())));
                noteVersion(key, record.version(), numberOf(record.value()));
            }
            else
            {
                counts.put(key, countOf(record.value()));
            }
        });
        registers.cut(began[0], states);
        counters.cut(began[1], counts);
    }

    boolean isFinished()
    {
        return 0 == open;
    }

    int succeeded()
    {
        return succeeded;
    }

    Map<KvException.Category, Integer> failures()
    {
        return failures;
    }

    Map<String, Integer> messages()
    {
        return messages;
    }

    /** By how much the slowest operation was late. */
    long longestOverrunNs()
    {
        return longestOverrunNs;
    }

    private void next(final int process, final long maxPauseNs)
    {
        if (operationsLeft-- <= 0)
        {
            open--;
            return;
        }
        if (hasCounters && random.nextInt(4) == 0)
        {
            count(process, maxPauseNs);
            return;
        }
        final int key = random.nextInt(keyCount);
        final byte[] keyBytes = {(byte)key};
        final long expected = 0 == knownVersions[key] ? 1 : knownVersions[key];
        final int value = nextValue++;
        switch (random.nextInt(10))
        {
            case 0, 1, 2 -> call(process, maxPauseNs, "get", key, null,
                table.getAsync(keyBytes), (entry) -> entryOf(key, entry));
            case 3 -> call(process, maxPauseNs, "exists", key, null,
                table.existsAsync(keyBytes), (found) -> found);
            case 4, 5 -> call(process, maxPauseNs, "put", key, value,
                table.putAsync(keyBytes, valueOf(value)), (version) -> written(key, version, value));
            case 6 -> call(process, maxPauseNs, "put-if-absent", key, value,
                table.putIfAbsentAsync(keyBytes, valueOf(value)), (result) -> putResultOf(key, result));
            case 7 -> call(process, maxPauseNs, "replace", key, Arrays.asList(expected, value),
                table.replaceAsync(keyBytes, valueOf(value), expected),
                (result) -> replaceResultOf(key, result));
            case 8 -> call(process, maxPauseNs, "delete", key, null,
                table.deleteAsync(keyBytes), (deleted) -> deleted);
            default -> call(process, maxPauseNs, "delete-version", key, expected,
                table.deleteAsync(keyBytes, expected), (result) -> deleteResultOf(key, result));
        }
    }

    private void count(final int process, final long maxPauseNs)
    {
        final int key = COUNTERS + random.nextInt(keyCount);
        final byte[] keyBytes = {(byte)key};
        switch (random.nextInt(6))
        {
            case 0 -> call(process, maxPauseNs, "get", key, null, table.getAsync(keyBytes),
                (entry) -> entry.<Object>map((found) -> countOf(found.value())).orElse(null));
            case 1 -> call(process, maxPauseNs, "delete", key, null,
                table.deleteAsync(keyBytes), (deleted) -> deleted);
            default -> call(process, maxPauseNs, "increment", key, 1L,
                table.incrementAsync(keyBytes, 1), (sum) -> sum);
        }
    }

    private <T> void call(
        final int process, final long maxPauseNs, final String function, final int key, final Object argument,
        final CompletableFuture<T> future, final Function<T, Object> outcome)
    {
        // Nothing is stepped while an operation is submitted, so this is before anything can have happened.
        final EventLog log = key < COUNTERS ? registers : counters;
        log.invoke(process, function, key, argument);
        final long deadlineNs = world.clock().nanoTime() + timeoutNs;
        future.whenComplete(SimCallbacks.ending(world, (result, error) ->
        {
            longestOverrunNs = Math.max(longestOverrunNs, world.clock().nanoTime() - deadlineNs);
            if (longestOverrunNs > GRACE_NS)
            {
                throw new AssertionError(function + " ended " + longestOverrunNs + " ns after its deadline: " + error);
            }
            final int following = null == error ?
                ok(log, process, outcome.apply(result)) : failed(log, process, error);
            world.after(1 + random.nextLong(maxPauseNs), () -> next(following, maxPauseNs));
        }));
    }

    private int ok(final EventLog log, final int process, final Object value)
    {
        succeeded++;
        log.complete(process, EventType.OK, value);
        return process;
    }

    private int failed(final EventLog log, final int process, final Throwable error)
    {
        final KvException failure = (KvException)error;
        failures.merge(failure.category(), 1, Integer::sum);
        messages.merge(failure.getMessage(), 1, Integer::sum);
        if (KvException.Category.OUTCOME_UNKNOWN == failure.category())
        {
            log.complete(process, EventType.INFO, null);
            return nextProcess++;
        }
        log.complete(process, EventType.FAIL, null);
        return process;
    }

    private Object entryOf(final int key, final Optional<KvEntry> entry)
    {
        return entry.<Object>map((found) ->
        {
            noteVersion(key, found.version(), numberOf(found.value()));
            return Arrays.asList(numberOf(found.value()), known(key, found.version()));
        }).orElse(null);
    }

    private Object putResultOf(final int key, final PutResult result)
    {
        final long version = known(key, result.version());
        return result.stored() ? version : Arrays.asList(false, version);
    }

    private Object replaceResultOf(final int key, final ReplaceResult result)
    {
        return switch (result.outcome())
        {
            case REPLACED -> known(key, result.version());
            case VERSION_MISMATCH -> Arrays.asList(false, known(key, result.version()));
            case NOT_FOUND -> Arrays.asList(false, null);
        };
    }

    private Object deleteResultOf(final int key, final DeleteResult result)
    {
        return switch (result.outcome())
        {
            case DELETED -> true;
            case VERSION_MISMATCH -> Arrays.asList(false, known(key, result.version()));
            case NOT_FOUND -> Arrays.asList(false, null);
        };
    }

    private long written(final int key, final long version, final int value)
    {
        noteVersion(key, version, value);
        return known(key, version);
    }

    /** A version is of one value for ever, lost or not. */
    private void noteVersion(final int key, final long version, final int value)
    {
        final Integer other = valuesOfVersions.put(List.of((long)key, version), value);
        if (other != null && other != value)
        {
            throw new AssertionError("version " + version + " of key " + key + " is of " + other + " and of " + value);
        }
    }

    private long known(final int key, final long version)
    {
        knownVersions[key] = version;
        return version;
    }

    /** Values of several lengths, so that blocks of several size classes are reused. */
    private static byte[] valueOf(final int number)
    {
        final byte[] value = new byte[Integer.BYTES + number % 5 * 60];
        Arrays.fill(value, (byte)number);
        return ByteBuffer.wrap(value).putInt(number).array();
    }

    /** Looks at each byte, so that no two values were mixed. */
    private static int numberOf(final byte[] value)
    {
        final int number = ByteBuffer.wrap(value).getInt();
        assertThat(value).isEqualTo(valueOf(number));
        return number;
    }

    private static long countOf(final byte[] value)
    {
        assertThat(value).hasSize(Long.BYTES);
        return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
}
