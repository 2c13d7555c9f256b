package io.verbena.embedded;

import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease counts from before the request that renewed it was sent: it ends at the node before it ends at the meta
 * server, however long the reply takes. Messages take long here, so that counting from their arrival shows.
 */
class LeaseSimTest
{
    private static final long DELAY_NS = SimCluster.LEASE_NS / 10;
    /** Until a node that is awake has seen that its lease is over. */
    private static final long STEP_NS = SimCluster.LEASE_NS / 100;
    private static final int MAX_STEPS = 10_000_000;

    /** The meta server cannot have heard a request that was sent later than one delay before its end. */
    private static long latestEndNs(final long metaServerEndedNs)
    {
        return metaServerEndedNs - DELAY_NS + SimCluster.LEASE_NS + STEP_NS;
    }

    private static SimCluster cluster(final long seed)
    {
        final SimCluster cluster =
            new SimCluster(seed, new SimFabricOptions().delayNs(DELAY_NS, DELAY_NS), 1, 1);
        cluster.runFor(3 * SimCluster.LEASE_NS + seed * SimCluster.LEASE_NS / 40);
        cluster.metaMachine().kill();
        return cluster;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldEndAtAComputeNodeBeforeItEndsAtTheMetaServer(final long seed)
    {
        try (SimCluster cluster = cluster(seed))
        {
            final long endedNs = cluster.world().clock().nanoTime();
            final SimCluster.Compute compute = cluster.computes().getFirst();
            assertThat(compute.isServing()).isTrue();
            cluster.world().runUntil(() -> !compute.isServing(), MAX_STEPS);
            assertThat(cluster.world().clock().nanoTime()).isLessThan(latestEndNs(endedNs));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldEndAtAMemoryNodeBeforeItEndsAtTheMetaServer(final long seed)
    {
        try (SimCluster cluster = cluster(seed))
        {
            final long endedNs = cluster.world().clock().nanoTime();
            final SimMemoryHost host = cluster.memoryHosts().getFirst();
            assertThat(host.isReady()).isTrue();
            cluster.world().runUntil(() -> !host.isReady(), MAX_STEPS);
            assertThat(cluster.world().clock().nanoTime()).isLessThan(latestEndNs(endedNs));
        }
    }
}
