package io.verbena.embedded;

import io.verbena.compute.SpaceFigures;
import io.verbena.rdma.sim.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.request.ControlRequest;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Nodes that do nothing renew their leases seldom, and yet nobody waits for them. */
class RestingNodeSimTest
{
    /** At rest a node's heartbeats are eighty times as rare. */
    private static final long HEARTBEAT_NS = SimCluster.LEASE_NS / 400;
    /** Three epochs, if each waited for two heartbeats of a node at rest, would take longer. */
    private static final int BLOCKED_HEARTBEATS = 60;
    private static final long MOST_NS = SimCluster.LEASE_NS / 2;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldNotHoldUpWhoWaitsForEpochs(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 0))
        {
            cluster.heartbeatNs(HEARTBEAT_NS);
            for (int i = 0; i < 3; i++)
            {
                final SimCluster.Compute compute = cluster.addComputeNode();
                cluster.world().runUntil(compute::isServing, 1_000_000);
            }
            cluster.createTable("t", 100);
            cluster.runFor(3 * SimCluster.LEASE_NS);

            // The index of a dropped table goes back three epochs later: the first node waits for them.
            cluster.dropTable("t");
            final long droppedNs = cluster.world().clock().nanoTime();
            while (isReclaiming(cluster))
            {
                assertThat(cluster.world().clock().nanoTime() - droppedNs).as("still reclaiming").isLessThan(MOST_NS);
                cluster.runFor(HEARTBEAT_NS);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {6, 7})
    void shouldKeepItsLease(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2))
        {
            cluster.runFor(50 * SimCluster.LEASE_NS);
            assertThat(cluster.computes()).allMatch(SimCluster.Compute::isServing);
            assertThat(cluster.computes()).extracting((compute) -> compute.node().failure()).containsOnly("");
        }
    }

    /** What it said last is all that it can say: asked again and again, it would say the same. */
    @Test
    void shouldNotBeatAsOneAtWorkWhenItHoldsUpAnEpochThatSomebodyWaitsFor()
    {
        try (SimCluster cluster = new SimCluster(8, new SimFabricOptions(), 1, 0))
        {
            cluster.heartbeatNs(HEARTBEAT_NS);
            for (int i = 0; i < 2; i++)
            {
                final SimCluster.Compute compute = cluster.addComputeNode();
                cluster.world().runUntil(compute::isServing, 1_000_000);
            }
            cluster.createTable("t", 100);
            cluster.runFor(3 * SimCluster.LEASE_NS);

            // No look at the memory ends any more, so nobody passes the epochs that the first node waits for.
            cluster.memoryMachines().getFirst().kill();
            cluster.control(cluster.computes().getFirst(), ControlRequest.Kind.SWEEP, null);
            cluster.runFor(40 * HEARTBEAT_NS);
            final SimCluster.Compute resting = cluster.computes().getLast();
            final long before = sends(cluster, resting);
            cluster.runFor(BLOCKED_HEARTBEATS * HEARTBEAT_NS);
            assertThat(sends(cluster, resting) - before).as("heartbeats, and requests for news")
                .isBetween(1L, (long)BLOCKED_HEARTBEATS);
        }
    }

    private static long sends(final SimCluster cluster, final SimCluster.Compute compute)
    {
        return ((VerbCounters)cluster.control(compute, ControlRequest.Kind.VERB_COUNTERS, null)).sends;
    }

    private static boolean isReclaiming(final SimCluster cluster)
    {
        return ((SpaceFigures)cluster.control(
            cluster.computes().getFirst(), ControlRequest.Kind.SPACE_FIGURES, null)).isReclaiming();
    }
}
