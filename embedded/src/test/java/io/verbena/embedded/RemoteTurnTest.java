package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

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
            final long waitedBefore = waitedCount("verbena-client");
            for (int i = 0; i < ROUNDS; i++)
            {
                assertThat(table.get(key)).isPresent();
            }
            // Handed over, each call would have woken that thread, or kept it awake by giving way all the time.
            assertThat(waitedCount("verbena-client") - waitedBefore).isLessThan(ROUNDS / 5);
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
            final Thread caller = Thread.ofPlatform().start(() ->
            {
                while (answered.get() < ROUNDS && table.get(key).isPresent())
                {
                    answered.incrementAndGet();
                }
            });
            while (caller.isAlive())
            {
                caller.interrupt();
                Thread.sleep(1);
            }
            assertThat(answered.get()).isEqualTo(ROUNDS);
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

    private static long waitedCount(final String namePrefix)
    {
        final long id = Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(namePrefix) && !thread.getName().contains("sweeper"))
            .findFirst().orElseThrow(() -> new AssertionError("threads: " + Thread.getAllStackTraces().keySet()))
            .threadId();
        return ManagementFactory.getThreadMXBean().getThreadInfo(id).getWaitedCount();
    }
}
