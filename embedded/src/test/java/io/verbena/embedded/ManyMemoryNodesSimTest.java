package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** How many memory nodes a compute node connects to. */
class ManyMemoryNodesSimTest
{
    private static final int MEMORY_NODES = 20;
    private static final int CHUNKS = 24;
    private static final int KEYS = 400;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final long MAX_STEPS = 100_000_000;

    @Test
    void shouldReachTwentyMemoryNodesFromEachComputeNode()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), MEMORY_NODES, 2, CHUNKS))
        {
            cluster.computes().forEach((compute) ->
            {
                assertThat(compute.node().memoryNodeFailures()).isEmpty();
                assertThat(compute.node().reachedMemoryNodes()).isEqualTo(MEMORY_NODES);
            });
            final KvTable table = cluster.createTable("t", 20 * KEYS);
            for (int key = 0; key < KEYS; key++)
            {
                put(cluster, table, key);
            }
            assertThat(cluster.tables().getFirst().subtableCount()).isGreaterThanOrEqualTo(MEMORY_NODES);
        }
    }

    @Test
    void shouldNameTheSettingWhenThereIsOneMemoryNodeMoreThanItConnectsTo()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), MEMORY_NODES, 0, CHUNKS))
        {
            cluster.maxMemoryNodes(MEMORY_NODES - 1);
            final SimCluster.Compute compute = cluster.addComputeNode();
            cluster.world().runUntil(compute::isServing, MAX_STEPS);
            assertThat(compute.node().reachedMemoryNodes()).isEqualTo(MEMORY_NODES - 1);
            assertThat(compute.node().memoryNodeFailures()).hasSize(1);
            assertThat(compute.node().memoryNodeFailures().values().iterator().next())
                .contains("compute-1 does not connect to memory node").contains("raise --max-memory-nodes (19)");
            final KvTable table = cluster.createTable("t", KEYS);
            put(cluster, table, 1);
        }
    }

    /** More than one answer of the meta server lists; each of them is connected to, by those who come later, too. */
    @Test
    void shouldReachMoreMemoryNodesThanOneMessageLists()
    {
        final int many = 34;
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), many, 1, CHUNKS))
        {
            assertThat(cluster.computes().getFirst().node().reachedMemoryNodes()).isEqualTo(many);
        }
    }

    private static void put(final SimCluster cluster, final KvTable table, final int number)
    {
        final byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
        final Throwable[] failure = new Throwable[1];
        final boolean[] isDone = new boolean[1];
        table.withTimeout(TIMEOUT).putAsync(key, key).whenComplete((version, error) ->
        {
            failure[0] = error;
            isDone[0] = true;
        });
        cluster.world().runUntil(() -> isDone[0], MAX_STEPS);
        assertThat(failure[0]).isNull();
    }
}
