package io.verbena.embedded;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Threads that work on a few keys until they are told to stop, and write down what they called and were told. */
final class ThreadedClients
{
    private final KvTable table;
    private final int keyCount;
    private final long timeoutNs;
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicInteger nextProcess = new AtomicInteger();
    private final AtomicInteger nextValue = new AtomicInteger(1);
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final Queue<KvException> failures = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> surprises = new ConcurrentLinkedQueue<>();
    private final AtomicLong succeeded = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;
    private long pauseNs;

    ThreadedClients(final KvTable table, final int keyCount, final long timeoutNs)
    {
        this.table = table.withTimeout(Duration.ofNanos(timeoutNs));
        this.keyCount = keyCount;
        this.timeoutNs = timeoutNs;
    }

    /** Between two operations of a thread, so that a long history stays short. */
    ThreadedClients pausing(final long betweenNs)
    {
        pauseNs = betweenNs;
        return this;
    }

    ThreadedClients start(final int threadCount)
    {
        for (int i = 0; i < threadCount; i++)
        {
            final SplittableRandom random = new SplittableRandom(i);
            final Thread thread = new Thread(() -> run(random), "test-client-" + i);
            thread.start();
            threads.add(thread);
        }
        return this;
    }

    /** Waits until that many more operations have succeeded. */
    void awaitMore(final int count)
    {
        final long target = succeeded.get() + count;
        while (succeeded.get() < target && surprises.isEmpty())
        {
            Thread.yield();
        }
    }

    ThreadedClients stop() throws InterruptedException
    {
        stopped = true;
        for (final Thread thread : threads)
        {
            thread.join();
        }
        return this;
    }

    History history()
    {
        final HistoryBuilder builder = new HistoryBuilder("threads");
        final List<Event> sorted = new ArrayList<>(events);
        sorted.sort(Comparator.comparingLong(Event::timeNs));
        sorted.forEach(builder::add);
        return builder.build();
    }

    Queue<KvException> failures()
    {
        return failures;
    }

    /** What no operation may throw. */
    Queue<Throwable> surprises()
    {
        return surprises;
    }

    long succeeded()
    {
        return succeeded.get();
    }

    private void run(final SplittableRandom random)
    {
        int process = nextProcess.getAndIncrement();
        final long[] known = new long[keyCount];
        Arrays.fill(known, 1);
        while (!stopped)
        {
            process = step(process, random, known);
            if (pauseNs > 0)
            {
                LockSupport.parkNanos(pauseNs);
            }
        }
    }

    private int step(final int process, final SplittableRandom random, final long[] known)
    {
        final int key = random.nextInt(keyCount);
        final int value = nextValue.getAndIncrement();
        final int choice = random.nextInt(10);
        final String function = choice < 4 ? "get" : choice < 6 ? "put" : choice < 7 ? "put-if-absent" :
            choice < 8 ? "replace" : choice < 9 ? "delete" : "delete-version";
        note(process, EventType.INVOKE, function, key, argument(function, value, known[key]));
        try
        {
            final Object result = call(function, key, value, known);
            note(process, EventType.OK, function, key, result);
            succeeded.incrementAndGet();
            return process;
        }
        catch (final KvException ex)
        {
            failures.add(ex);
            final boolean unknown = KvException.Category.OUTCOME_UNKNOWN == ex.category();
            note(process, unknown ? EventType.INFO : EventType.FAIL, function, key, null);
            return unknown ? nextProcess.getAndIncrement() : process;
        }
        catch (final RuntimeException | Error ex)
        {
            surprises.add(ex);
            stopped = true;
            return process;
        }
    }

    private static Object argument(final String function, final int value, final long expected)
    {
        return switch (function)
        {
            case "put", "put-if-absent" -> value;
            case "replace" -> Arrays.asList(expected, value);
            case "delete-version" -> expected;
            default -> null;
        };
    }

    private Object call(final String function, final int key, final int value, final long[] known)
    {
        final byte[] keyBytes = {(byte)key};
        final byte[] valueBytes = ByteBuffer.allocate(Integer.BYTES + value % 7 * 40).putInt(value).array();
        return switch (function)
        {
            case "get" -> entryOf(key, table.get(keyBytes), known);
            case "put" -> know(key, table.put(keyBytes, valueBytes), known);
            case "put-if-absent" -> putResultOf(key, table.putIfAbsent(keyBytes, valueBytes), known);
            case "replace" ->
                replaceResultOf(key, table.replace(keyBytes, valueBytes, known[key]), known);
            case "delete" -> table.delete(keyBytes);
            default -> deleteResultOf(key, table.delete(keyBytes, known[key]), known);
        };
    }

    private static Object entryOf(final int key, final Optional<KvEntry> entry, final long[] known)
    {
        return entry.<Object>map((found) -> Arrays.asList(
            ByteBuffer.wrap(found.value()).getInt(), know(key, found.version(), known))).orElse(null);
    }

    private static Object putResultOf(final int key, final PutResult result, final long[] known)
    {
        final long version = know(key, result.version(), known);
        return result.stored() ? version : Arrays.asList(false, version);
    }

    private static Object replaceResultOf(final int key, final ReplaceResult result, final long[] known)
    {
        return switch (result.outcome())
        {
            case REPLACED -> know(key, result.version(), known);
            case VERSION_MISMATCH -> Arrays.asList(false, know(key, result.version(), known));
            case NOT_FOUND -> Arrays.asList(false, null);
        };
    }

    private static Object deleteResultOf(final int key, final DeleteResult result, final long[] known)
    {
        return switch (result.outcome())
        {
            case DELETED -> true;
            case VERSION_MISMATCH -> Arrays.asList(false, know(key, result.version(), known));
            case NOT_FOUND -> Arrays.asList(false, null);
        };
    }

    private static long know(final int key, final long version, final long[] known)
    {
        known[key] = version;
        return version;
    }

    /** The sequence number stands for time: taken before a call and after an answer, it orders what did not overlap. */
    private void note(
        final int process, final EventType type, final String function, final Object key, final Object value)
    {
        events.add(new Event(process, type, function, key, value, sequence.getAndIncrement(), -1, 0));
    }
}
