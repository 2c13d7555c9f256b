package io.verbena.embedded;

import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Where copies are put of tables that are made, beside memory nodes that are connected or not. */
class FailureDomainSimTest
{
    private static final long MAX_STEPS = 100_000_000;
    /** How long a table that is made waits for a memory node to be connected: half of the time it has. */
    private static final long PATIENCE_NS = SimCluster.CONTROL_TIMEOUT_NS / 2;

    /** The last of the memory nodes is alone in its failure domain. */
    private static SimCluster cluster(final long seed, final int maxMemoryNodes)
    {
        final SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 0, 0);
        cluster.maxMemoryNodes(maxMemoryNodes);
        cluster.failureDomain("rack-1");
        cluster.addMemoryNode("memory-1");
        cluster.addMemoryNode("memory-2");
        cluster.addMemoryNode("memory-3");
        final SimCluster.Compute compute = cluster.addComputeNode();
        cluster.world().runUntil(compute::isServing, MAX_STEPS);
        cluster.failureDomain("rack-2");
        cluster.addMemoryNode("memory-4");
        return cluster;
    }

    private static void awaitReached(final SimCluster cluster, final int memoryNodes)
    {
        cluster.world().runUntil(
            () -> memoryNodes == cluster.computes().getFirst().node().reachedMemoryNodes(), MAX_STEPS);
    }

    private static List<Integer> memoryNodeIds(final SimCluster cluster)
    {
        return cluster.memoryHosts().stream().map(SimMemoryHost::nodeId).toList();
    }

    private static List<Integer> members(final View view)
    {
        return view.members().stream().map(PeerIdentity::nodeId).toList();
    }

    @Test
    void shouldPutCopiesInDifferentFailureDomainsWhileThereAreAny()
    {
        try (SimCluster cluster = cluster(1, 4))
        {
            awaitReached(cluster, 4);
            final List<Integer> ids = memoryNodeIds(cluster);
            final int other = ids.getLast();
            for (int table = 0; table < 3; table++)
            {
                cluster.createTable("two-" + table, 100, 2);
            }
            assertThat(cluster.metaServer().views()).hasSize(3).allSatisfy((view) ->
                assertThat(members(view)).hasSize(2).contains(other));
            assertThat(cluster.metaServer().views()).as("the others in turn")
                .extracting((view) -> members(view).stream().filter((id) -> id != other).findFirst().orElseThrow())
                .containsExactlyInAnyOrderElementsOf(ids.subList(0, 3));
            cluster.createTable("three", 100, 3);
            assertThat(cluster.metaServer().views()).filteredOn((view) -> 3 == view.members().size()).singleElement()
                .satisfies((view) -> assertThat(members(view)).contains(other));
        }
    }

    /** Else copies would be in one failure domain for ever only because the table was made a moment too early. */
    @Test
    void shouldWaitForAMemoryNodeInAnotherFailureDomain()
    {
        for (int seed = 1; seed <= 20; seed++)
        {
            try (SimCluster cluster = cluster(seed, 4))
            {
                assertThat(cluster.computes().getFirst().node().reachedMemoryNodes()).as("seed " + seed).isLessThan(4);
                cluster.createTable("t", 100, 2);
                assertThat(members(cluster.metaServer().views().getFirst())).as("seed " + seed)
                    .contains(memoryNodeIds(cluster).getLast());
            }
        }
    }

    @Test
    void shouldNotWaitLongForAMemoryNodeThatIsNotConnected()
    {
        try (SimCluster cluster = cluster(1, 3))
        {
            awaitReached(cluster, 3);
            final long begunNs = cluster.world().clock().nanoTime();
            cluster.createTable("t", 100, 2);
            assertThat(cluster.world().clock().nanoTime() - begunNs).isBetween(PATIENCE_NS, PATIENCE_NS * 3 / 2);
            assertThat(members(cluster.metaServer().views().getFirst())).hasSize(2)
                .doesNotContain(memoryNodeIds(cluster).getLast());
        }
    }

    @Test
    void shouldNotWaitWhereAllFailureDomainsAreConnected()
    {
        try (SimCluster cluster = cluster(1, 4))
        {
            awaitReached(cluster, 4);
            final long begunNs = cluster.world().clock().nanoTime();
            cluster.createTable("t", 100, 3);
            assertThat(cluster.world().clock().nanoTime() - begunNs).isLessThan(PATIENCE_NS);
        }
    }
}
