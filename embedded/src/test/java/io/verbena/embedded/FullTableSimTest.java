package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.client.KvTableFullException;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** A table grows until there is no memory for it any more. */
class FullTableSimTest
{
    private static final int CHUNKS = 24;
    private static final int MOST_KEYS = 5_000;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    /** Some epochs, and a sweep of what nobody uses. */
    private static final long SOON_NS = TIMEOUT_NS / 20;
    private static final long AT_ONCE_NS = 8_000_000;
    /** Puts after the first one that was told: most of them know at once. */
    private static final int MORE = 40;
    private static final long MAX_STEPS = 100_000_000;

    private boolean isFull;
    private int toldAtOnce;

    /** Nothing can come back: nobody waits for it until a deadline of ten seconds. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldSoonTellThatATableIsFull(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2, CHUNKS))
        {
            final KvTable table = cluster.createTable("t", 50);
            int key = 0;
            while (!isFull)
            {
                put(cluster, table, key);
                assertThat(++key).isLessThan(MOST_KEYS);
            }
            toldAtOnce = 0;
            for (int more = 0; more < MORE; more++)
            {
                put(cluster, table, ++key);
            }
            assertThat(toldAtOnce).isGreaterThan(MORE / 2);
            cluster.settle();
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
        }
    }

    private void put(final SimCluster cluster, final KvTable table, final int number)
    {
        final boolean[] isDone = new boolean[1];
        final byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
        final long begunNs = cluster.world().clock().nanoTime();
        final Throwable[] failure = new Throwable[1];
        table.withTimeout(TIMEOUT).putAsync(key, key).whenComplete((version, error) ->
        {
            failure[0] = error;
            isDone[0] = true;
        });
        cluster.world().runUntil(() -> isDone[0], MAX_STEPS);
        final long tookNs = cluster.world().clock().nanoTime() - begunNs;
        assertThat(tookNs).as("key %d: %s", number, failure[0]).isLessThan(SOON_NS);
        toldAtOnce += tookNs < AT_ONCE_NS ? 1 : 0;
        if (null != failure[0])
        {
            assertThat(failure[0]).isInstanceOf(KvTableFullException.class);
            isFull = true;
        }
    }
}
