package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableExistsException;
import io.verbena.client.TableOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** Many threads create tables at once, on a cluster of real threads. */
@Timeout(60)
class ConcurrentCreationTest
{
    private static final long CHECK_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] KEY = {1, 2, 3};

    @Test
    void shouldCreateTablesFromManyThreads() throws Exception
    {
        final int threads = 8;
        final int each = 4;
        try (EmbeddedCluster cluster = cluster())
        {
            final KvClient client = cluster.client();
            inThreads(threads, (thread) ->
            {
                for (int i = 0; i < each; i++)
                {
                    final KvTable table = client.createTable("t" + thread + "-" + i, TableOptions.DEFAULTS);
                    table.put(KEY, KEY);
                    assertThat(table.get(KEY)).isPresent();
                }
            });
            assertThat(client.tables()).hasSize(threads * each);
            assertThat(cluster.check(false, CHECK_TIMEOUT_NS).isSound()).isTrue();
        }
    }

    @Test
    void shouldCreateOneOfTablesOfOneName() throws Exception
    {
        final int threads = 8;
        final AtomicInteger created = new AtomicInteger();
        final AtomicInteger refused = new AtomicInteger();
        try (EmbeddedCluster cluster = cluster())
        {
            final KvClient client = cluster.client();
            inThreads(threads, (thread) ->
            {
                try
                {
                    client.createTable("t", TableOptions.DEFAULTS);
                    created.incrementAndGet();
                }
                catch (final KvTableExistsException ex)
                {
                    refused.incrementAndGet();
                }
            });
            assertThat(created.get()).isEqualTo(1);
            assertThat(refused.get()).isEqualTo(threads - 1);
            client.table("t").put(KEY, KEY);
            assertThat(cluster.check(false, CHECK_TIMEOUT_NS).isSound()).isTrue();
        }
    }

    private static EmbeddedCluster cluster()
    {
        return EmbeddedCluster.start(new EmbeddedClusterOptions().memoryNodes(2).memoryBytesPerNode(64 << 20));
    }

    /** What one thread does; may throw. */
    private interface Work
    {
        void run(int thread) throws Exception;
    }

    private static void inThreads(final int count, final Work work) throws Exception
    {
        final CountDownLatch start = new CountDownLatch(1);
        final List<CompletableFuture<Void>> ended = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            final int thread = i;
            final CompletableFuture<Void> end = new CompletableFuture<>();
            ended.add(end);
            Thread.ofPlatform().daemon().start(() ->
            {
                try
                {
                    start.await();
                    work.run(thread);
                    end.complete(null);
                }
                catch (final Throwable ex)
                {
                    end.completeExceptionally(ex);
                }
            });
        }
        start.countDown();
        for (final CompletableFuture<Void> end : ended)
        {
            end.get(50, TimeUnit.SECONDS);
        }
    }
}
