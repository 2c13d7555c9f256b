package io.verbena.load.demo;

import io.verbena.client.Expiry;
import io.verbena.client.KvClient;
import io.verbena.client.KvEntry;
import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.TableOptions;
import io.verbena.elle.history.HistoryReader;
import io.verbena.load.InMemoryStore;
import io.verbena.load.InMemoryStore.Call;
import io.verbena.load.InMemoryStore.Interception;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

class RegisterWorkloadTest
{
    private static final int ROUNDS = 400;

    @TempDir
    private Path folder;

    private final RunCounters counters = new RunCounters();

    @Test
    void shouldFindACorrectStoreLinearizable() throws IOException, InterruptedException
    {
        final RegisterFigures figures = run(1_000_000, (name, args, call) -> call.proceed());

        assertThat(figures.linearizable()).as(figures.explanation()).isTrue();
        assertThat(figures.operations()).isEqualTo(ROUNDS * RegisterCalls.CLIENTS);
        assertThat(figures.deadlines()).isGreaterThan(50);
        assertThat(counters.errors.sum()).isZero();
    }

    @Test
    void shouldFindAStaleRead() throws IOException, InterruptedException
    {
        // What was found first of all: by the time of a later read, a write that has ended took its place.
        final Map<String, Object> firstRead = new HashMap<>();
        final int[] reads = new int[1];

        final RegisterFigures figures = run((name, args, call) ->
        {
            final Object result = call.proceed();
            if (!name.equals("get") || ((Optional<?>)result).isEmpty())
            {
                return result;
            }
            synchronized (firstRead)
            {
                final Object before = firstRead.putIfAbsent(new String((byte[])args[0]), result);
                return ++reads[0] % 50 == 0 && null != before ? before : result;
            }
        });

        assertThat(figures.linearizable()).isFalse();
        assertThat(figures.explanation()).contains("get");
    }

    @Test
    void shouldFindALostUpdate() throws IOException, InterruptedException
    {
        final long[] version = {1L << 40};
        final int[] puts = new int[1];

        final RegisterFigures figures = run((name, args, call) ->
        {
            synchronized (puts)
            {
                return name.equals("put") && ++puts[0] % 50 == 0 ? (Object)(++version[0]) : call.proceed();
            }
        });

        assertThat(figures.linearizable()).isFalse();
    }

    @Test
    void shouldNotBlameTheStoreForWritesOfUnknownOutcome() throws IOException, InterruptedException
    {
        final int[] puts = new int[1];

        final RegisterFigures figures = run((name, args, call) ->
        {
            synchronized (puts)
            {
                if (!name.equals("put") || ++puts[0] % 20 != 0)
                {
                    return call.proceed();
                }
                if (puts[0] % 40 == 0)
                {
                    call.proceed();
                }
                throw new KvOutcomeUnknownException("unknown");
            }
        });

        assertThat(figures.linearizable()).as(figures.explanation()).isTrue();
        assertThat(counters.errors.sum()).isPositive();
        assertThat(counters.firstError()).matches("put(-until)? of (register|expiring)-\\d+: unknown");
    }

    /** A store that ends records too late, or too early, or for some readers only, is found out. */
    @ParameterizedTest
    @ValueSource(strings = {"late", "early", "never", "seen again"})
    void shouldFindAWrongDeadline(final String fault) throws IOException, InterruptedException
    {
        final Map<String, Optional<?>> lastRead = new HashMap<>();
        // Slowly, so that records meet their deadlines.
        final RegisterFigures figures = run(3_000_000, (name, args, call) -> switch (fault)
        {
            case "late" -> call(name, args, call, 40);
            case "early" -> call(name, args, call, -40);
            case "never" -> call(name, args, call, 100_000);
            default -> seenAgain(name, args, call, lastRead);
        });
        assertThat(figures.linearizable()).as(fault).isFalse();
    }

    /** Moves the deadline that a write names, but not what the client believes. */
    private static Object call(final String name, final Object[] args, final Call call, final long ms) throws Throwable
    {
        for (int i = 0; null != args && i < args.length; i++)
        {
            if (args[i] instanceof final Expiry.At at)
            {
                args[i] = Expiry.at(at.deadline().plusMillis(ms));
            }
        }
        final Object result = call.proceed();
        return result instanceof final Optional<?> found && found.isPresent() &&
            found.get() instanceof final KvEntry entry && 0 != entry.deadlineMs() ?
            Optional.of(new KvEntry(entry.value(), entry.version(), entry.deadlineMs() - ms)) : result;
    }

    /** One reader in ten finds what was there before. */
    private static Object seenAgain(
        final String name, final Object[] args, final Call call, final Map<String, Optional<?>> lastRead)
        throws Throwable
    {
        final Object result = call.proceed();
        final String key = null == args ? "" : new String((byte[])args[0]);
        if (!name.equals("get") || !key.startsWith("expiring"))
        {
            return result;
        }
        synchronized (lastRead)
        {
            final Optional<?> before = lastRead.put(key, (Optional<?>)result);
            return ((Optional<?>)result).isEmpty() && null != before ? before : result;
        }
    }

    private RegisterFigures run(final Interception interception) throws IOException, InterruptedException
    {
        return run(0, interception);
    }

    private RegisterFigures run(final long pauseNs, final Interception interception)
        throws IOException, InterruptedException
    {
        final KvClient client = InMemoryStore.intercepted(new InMemoryStore().client(), interception);
        final Path history = folder.resolve("history");
        final RegisterWorkload workload = new RegisterWorkload(
            client.createTable("t", TableOptions.DEFAULTS), history, SystemNanoClock.INSTANCE, counters);
        final List<Thread> threads = new ArrayList<>();
        for (final RegisterClient registerClient : workload.clients())
        {
            threads.add(Thread.ofPlatform().start(() ->
            {
                for (int i = 0; i < ROUNDS; i++)
                {
                    registerClient.step();
                    LockSupport.parkNanos(pauseNs);
                }
            }));
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        workload.finishRecording();
        return RegisterCheck.check(HistoryReader.read(history), workload.deadlines());
    }
}
