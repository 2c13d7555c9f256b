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
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.linear.LinearChecker;
import io.verbena.elle.linear.LinearOptions;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.rdma.sim.SimWorld;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
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

    private final SimWorld world;
    private final RandomGenerator random;
    private final KvTable table;
    private final HistoryBuilder history;
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
        this.table = table;
        this.keyCount = keyCount;
        this.timeoutNs = timeoutNs;
        random = world.random();
        operationsLeft = operationCount;
        knownVersions = new long[keyCount];
        history = new HistoryBuilder("seed " + world.seed());
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
        final LinearVerdict verdict =
            new LinearChecker<>(Models.versionedKvMap(), LinearOptions.defaults()).check(history());
        assertThat(verdict.validity()).as("seed %d: %s", world.seed(), verdict.explanation())
            .isEqualTo(Validity.VALID);
    }

    boolean isFinished()
    {
        return 0 == open;
    }

    History history()
    {
        return history.build();
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
        final int key = random.nextInt(keyCount);
        final byte[] keyBytes = {(byte)key};
        final long expected = 0 == knownVersions[key] ? 1 : knownVersions[key];
        final int value = nextValue++;
        switch (random.nextInt(10))
        {
            case 0, 1, 2 -> call(process, maxPauseNs, "get", key, null,
                table.getAsync(keyBytes, timeoutNs), (entry) -> entryOf(key, entry));
            case 3 -> call(process, maxPauseNs, "exists", key, null,
                table.existsAsync(keyBytes, timeoutNs), (found) -> found);
            case 4, 5 -> call(process, maxPauseNs, "put", key, value,
                table.putAsync(keyBytes, valueOf(value), timeoutNs), (version) -> known(key, version));
            case 6 -> call(process, maxPauseNs, "put-if-absent", key, value,
                table.putIfAbsentAsync(keyBytes, valueOf(value), timeoutNs), (result) -> putResultOf(key, result));
            case 7 -> call(process, maxPauseNs, "replace", key, Arrays.asList(expected, value),
                table.replaceAsync(keyBytes, valueOf(value), expected, timeoutNs),
                (result) -> replaceResultOf(key, result));
            case 8 -> call(process, maxPauseNs, "delete", key, null,
                table.deleteAsync(keyBytes, KvTable.ANY_VERSION, timeoutNs), DeleteResult::deleted);
            default -> call(process, maxPauseNs, "delete-version", key, expected,
                table.deleteAsync(keyBytes, expected, timeoutNs), (result) -> deleteResultOf(key, result));
        }
    }

    private <T> void call(
        final int process, final long maxPauseNs, final String function, final int key, final Object argument,
        final CompletableFuture<T> future, final Function<T, Object> outcome)
    {
        // Nothing is stepped while an operation is submitted, so this is before anything can have happened.
        history.invoke(process, function, key, argument);
        final long deadlineNs = world.clock().nanoTime() + timeoutNs;
        future.whenComplete((result, error) ->
        {
            longestOverrunNs = Math.max(longestOverrunNs, world.clock().nanoTime() - deadlineNs);
            if (longestOverrunNs > GRACE_NS)
            {
                throw new AssertionError(function + " ended " + longestOverrunNs + " ns after its deadline: " + error);
            }
            final int following = null == error ? ok(process, outcome.apply(result)) : failed(process, error);
            world.after(1 + random.nextLong(maxPauseNs), () -> next(following, maxPauseNs));
        });
    }

    private int ok(final int process, final Object value)
    {
        succeeded++;
        history.ok(process, value);
        return process;
    }

    private int failed(final int process, final Throwable error)
    {
        final KvException failure = (KvException)error;
        failures.merge(failure.category(), 1, Integer::sum);
        messages.merge(failure.getMessage(), 1, Integer::sum);
        if (KvException.Category.OUTCOME_UNKNOWN == failure.category())
        {
            history.complete(process, EventType.INFO, null);
            return nextProcess++;
        }
        history.complete(process, EventType.FAIL, null);
        return process;
    }

    private Object entryOf(final int key, final Optional<KvEntry> entry)
    {
        return entry.<Object>map((found) ->
            Arrays.asList(numberOf(found.value()), known(key, found.version()))).orElse(null);
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

    private long known(final int key, final long version)
    {
        knownVersions[key] = version;
        return version;
    }

    /** Values of several lengths, so that blocks of several size classes are reused. */
    private static byte[] valueOf(final int number)
    {
        return ByteBuffer.allocate(Integer.BYTES + number % 5 * 60).putInt(number).array();
    }

    private static int numberOf(final byte[] value)
    {
        return ByteBuffer.wrap(value).getInt();
    }
}
