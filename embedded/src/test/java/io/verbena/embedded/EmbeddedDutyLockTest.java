package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Threads that wait for answers and the node's own thread work on the node one after the other. */
@Timeout(60)
class EmbeddedDutyLockTest
{
    private static final int ROUNDS = 20_000;

    @Test
    void shouldAnswerABlockingCallOnAnIdleNodeInTheCallingThread()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(32 << 20)))
        {
            final KvTable table = cluster.client().createTable("inline", new TableOptions(100));
            final byte[] key = "key".getBytes(UTF_8);
            table.put(key, key);
            final long nodeThread = threadId("verbena-compute");
            final long blockedBefore = waitedCount(nodeThread);

            for (int i = 0; i < ROUNDS; i++)
            {
                assertThat(table.get(key)).isPresent();
            }

            // Handed over, each call would have woken the node's thread once.
            assertThat(waitedCount(nodeThread) - blockedBefore).isLessThan(ROUNDS / 10);
        }
    }

    @Test
    void shouldAnswerEveryCallWhenBlockingAndAsynchronousCallersCompeteForTheLock()
    {
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().memoryBytesPerNode(32 << 20)))
        {
            final KvTable table = cluster.client().createTable("turns", new TableOptions(100));
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

    private static long threadId(final String namePrefix)
    {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(namePrefix))
            .findFirst().orElseThrow(() -> new AssertionError("threads: " + Thread.getAllStackTraces().keySet()))
            .threadId();
    }

    private static long waitedCount(final long threadId)
    {
        return ManagementFactory.getThreadMXBean().getThreadInfo(threadId).getWaitedCount();
    }
}
