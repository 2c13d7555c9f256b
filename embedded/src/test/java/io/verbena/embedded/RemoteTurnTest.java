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
class RemoteTurnTest
{
    private static final int ROUNDS = 10_000;

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
            final long ownBeforeNs = processorNs(Thread.currentThread().threadId());
            final long otherBeforeNs = processorNs(clientThread());
            for (int i = 0; i < ROUNDS; i++)
            {
                assertThat(table.get(key)).isPresent();
            }
            final long ownNs = processorNs(Thread.currentThread().threadId()) - ownBeforeNs;
            // Handed over, each call would have kept that thread awake for longer than this one.
            assertThat(processorNs(clientThread()) - otherBeforeNs).isLessThan(ownNs / 3);
        }
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
    void shouldGoOnWhenAThreadIsInterruptedInItsTurn() throws InterruptedException
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
                RemoteCluster.await(() -> answered.get() > before + ROUNDS || !caller.isAlive());
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
