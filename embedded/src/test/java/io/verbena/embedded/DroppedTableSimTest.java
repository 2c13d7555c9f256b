package io.verbena.embedded;

import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvTable;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** After a table was dropped and its memory has gone back, nobody reads or changes that memory on its account. */
class DroppedTableSimTest
{
    private static final int CHUNKS = 24;
    private static final int KEYS = 20;
    private static final int LARGE_BYTES = 15_000;
    private static final Duration TIMEOUT = Duration.ofNanos(400_000_000);
    private static final long RETURN_NS = 60_000_000;
    private static final long MAX_STEPS = 80_000_000;

    /** Each delete clears words that deletes before it have left, of whichever table. */
    @Test
    void shouldClearNoTombstoneOfATableThatIsDropped()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, CHUNKS);
            ReturnedChunks returned = watch(cluster))
        {
            final KvTable dropped = cluster.createTable("dropped", 50);
            final KvTable kept = cluster.createTable("kept", 50);
            put(cluster, kept);
            put(cluster, dropped);
            delete(cluster, dropped);
            cluster.dropTable("dropped");
            cluster.runFor(RETURN_NS);
            cluster.settle();
            delete(cluster, kept);

            assertThat(returned.reached()).isEmpty();
            assertSound(cluster);
        }
    }

    /** Puts that wait for memory delay no epoch, so that the memory they wait beside may be gone when they go on. */
    @Test
    void shouldEndAnOperationThatWaitsForMemoryWhenItsTableIsDropped()
    {
        try (SimCluster cluster = new SimCluster(2, new SimFabricOptions(), 1, 1, CHUNKS);
            ReturnedChunks returned = watch(cluster))
        {
            final KvTable dropped = cluster.createTable("dropped", 50);
            final KvTable kept = cluster.createTable("kept", 50);
            int filled = 0;
            CompletableFuture<Long> put;
            do
            {
                put = put(cluster, kept, filled++, LARGE_BYTES);
            }
            while (!put.isCompletedExceptionally());
            // What is dropped of it comes back some epochs later, and is waited for.
            for (int i = 0; i < filled - 1; i++)
            {
                await(cluster, kept.deleteAsync(key(i)));
            }
            final List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int i = 0; i < filled; i++)
            {
                waiting.add(dropped.withTimeout(TIMEOUT).putAsync(key(i), new byte[LARGE_BYTES]));
            }
            cluster.dropTable("dropped");
            waiting.forEach((each) -> cluster.world().runUntil(each::isDone, MAX_STEPS));
            cluster.runFor(RETURN_NS);
            cluster.settle();

            assertThat(waiting.stream().filter(CompletableFuture::isCompletedExceptionally)
                .map(CompletableFuture::exceptionNow))
                .isNotEmpty().hasOnlyElementsOfType(KvNoSuchTableException.class);
            assertThat(returned.reached()).isEmpty();
            assertSound(cluster);
        }
    }

    private static ReturnedChunks watch(final SimCluster cluster)
    {
        final ReturnedChunks returned = ReturnedChunks.watchAtOnce(cluster);
        cluster.forget(cluster.computes().getLast());
        return returned;
    }

    private static void put(final SimCluster cluster, final KvTable table)
    {
        for (int i = 0; i < KEYS; i++)
        {
            assertThat(put(cluster, table, i, 8)).isCompleted();
        }
    }

    private static void delete(final SimCluster cluster, final KvTable table)
    {
        for (int i = 0; i < KEYS; i++)
        {
            await(cluster, table.deleteAsync(key(i)));
        }
    }

    private static CompletableFuture<Long> put(
        final SimCluster cluster, final KvTable table, final int number, final int valueBytes)
    {
        final CompletableFuture<Long> put = table.withTimeout(TIMEOUT).putAsync(key(number), new byte[valueBytes]);
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        return put;
    }

    private static void await(final SimCluster cluster, final CompletableFuture<?> operation)
    {
        cluster.world().runUntil(operation::isDone, MAX_STEPS);
        assertThat(operation).isCompleted();
    }

    private static byte[] key(final int number)
    {
        return new byte[]{(byte)(number >>> 8), (byte)number};
    }

    private static void assertSound(final SimCluster cluster)
    {
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("%s", check).isTrue();
    }
}
