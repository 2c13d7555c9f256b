package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvClientOptions;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Threads that wait for answers of remote nodes take turns with the client's own thread at driving the transport. */
@Timeout(120)
class RemoteDutyLockTest
{
    private static final int ROUNDS = 10_000;
    /** Calls that are measured together. */
    private static final int STRETCH = 50;

    @TempDir
    Path directory;

    @Test
    void shouldSendAndReceiveInTheThreadThatWaits()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(100));
            final byte[] key = "key".getBytes(UTF_8);
            table.put(key, key);
            // Handed over, each call would have kept the client's thread awake for longer than this one. On a busy
            // machine some are, as a caller gives up when its answer takes long: so there are ranges without.
            double leastShare = Double.MAX_VALUE;
            for (int i = 0; i < ROUNDS / STRETCH && leastShare >= 1.0 / 3; i++)
            {
                leastShare = Math.min(leastShare, shareOfTheClientsThread(table, key));
            }
            assertThat(leastShare).isLessThan(1.0 / 3);
        }
    }

    private static double shareOfTheClientsThread(final KvTable table, final byte[] key)
    {
        final long ownBeforeNs = processorNs(Thread.currentThread().threadId());
        final long otherBeforeNs = processorNs(clientThread());
        for (int i = 0; i < STRETCH; i++)
        {
            assertThat(table.get(key)).isPresent();
        }
        final long ownNs = processorNs(Thread.currentThread().threadId()) - ownBeforeNs;
        return (double)(processorNs(clientThread()) - otherBeforeNs) / ownNs;
    }

    @Test
    void shouldTellWhoWouldWaitForItself()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1);
            KvClient client = cluster.client(new KvClientOptions().completionExecutor(Runnable::run)))
        {
            final KvTable table = client.createTable("t", new TableOptions(100));
            final byte[] key = "key".getBytes(UTF_8);
            final byte[] other = "other".getBytes(UTF_8);
            final AtomicInteger nested = new AtomicInteger();
            long version = table.put(key, key);
            for (int i = 0; i < ROUNDS / 100; i++)
            {
                final CompletableFuture<Long> stage = table.putAsync(other, other)
                    .thenApply((before) -> table.put(other, other));
                final long next = table.put(key, key);
                assertThat(next).isGreaterThan(version);
                version = next;
                nested.addAndGet(stage.handle((result, failure) -> null != failure &&
                    failure.getCause() instanceof KvInvalidRequestException ? 1 : 0).join());
            }
            assertThat(nested.get()).isPositive();
            assertThat(table.get(key).orElseThrow().version()).isEqualTo(version);
        }
    }

    @Test
    void shouldAnswerEveryCallWhenCallersOfBothKindsCompete()
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 2); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(100));
            final AtomicInteger answered = new AtomicInteger();
            final CompletableFuture<?>[] callers = new CompletableFuture<?>[6];
            for (int i = 0; i < callers.length; i++)
            {
                final int caller = i;
                callers[i] = CompletableFuture.runAsync(
                    () -> call(table, caller, answered), command -> new Thread(command, "caller-" + caller).start());
            }
            CompletableFuture.allOf(callers).join();
            assertThat(answered.get()).isEqualTo(callers.length * ROUNDS / 10);
        }
    }

    @Test
    void shouldGoOnWhenAThreadIsInterruptedWhileItHoldsTheLock() throws InterruptedException
    {
        try (RemoteCluster cluster = new RemoteCluster(directory, 1); KvClient client = cluster.client())
        {
            final KvTable table = client.createTable("t", new TableOptions(100));
            final byte[] key = "key".getBytes(UTF_8);
            table.put(key, key);
            final AtomicInteger answered = new AtomicInteger();
            final AtomicBoolean isEnding = new AtomicBoolean();
            final AtomicInteger interrupts = new AtomicInteger();
            final Thread caller = Thread.ofPlatform().start(() ->
            {
                while (!isEnding.get() && table.get(key).isPresent())
                {
                    answered.incrementAndGet();
                }
            });
            final Thread interrupter = Thread.ofPlatform().start(() ->
            {
                while (caller.isAlive())
                {
                    caller.interrupt();
                    interrupts.incrementAndGet();
                    LockSupport.parkNanos(20_000);
                }
            });
            // Each is connected to while its clients' threads are interrupted.
            for (int i = 0; i < 3; i++)
            {
                cluster.addComputeNode();
                final int before = answered.get();
                // Where others are busy a call may take a slice of each of their times.
                RemoteCluster.await(() -> answered.get() > before + ROUNDS / 10 || !caller.isAlive());
            }
            assertThat(caller.isAlive()).isTrue();
            isEnding.set(true);
            interrupter.join();
            assertThat(interrupts.get()).isPositive();
            assertThat(table.get(key)).isPresent();
        }
    }

    private static void call(final KvTable table, final int caller, final AtomicInteger answered)
    {
        final byte[] key = ("key" + caller % 3).getBytes(UTF_8);
        for (int i = 0; i < ROUNDS / 10; i++)
        {
            if (caller % 2 == 0)
            {
                table.put(key, key);
            }
            else
            {
                table.putAsync(key, key).join();
            }
            answered.incrementAndGet();
        }
    }

    private static long clientThread()
    {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("verbena-client"))
            .findFirst().orElseThrow(() -> new AssertionError("threads: " + Thread.getAllStackTraces().keySet()))
            .threadId();
    }

    private static long processorNs(final long threadId)
    {
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(threadId);
    }
}
