package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;

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
    /** Between two duty cycles of a node that is awake. */
    private static final long AWAKE_NS = 50_000;
    private static final long WATCHED_NS = 20 * SimCluster.LEASE_NS;
    private static final long LOOK_PAUSE_NS = SimCluster.LEASE_NS;

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

    /** What came and went again leaves nothing behind that keeps a node awake. */
    @ParameterizedTest
    @ValueSource(longs = {9, 10})
    void shouldSleepAsBeforeWhenATableHasGrownAndShrunk(final long seed)
    {
        try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), 1, 0))
        {
            cluster.fillLookPauseNs(LOOK_PAUSE_NS);
            final SimCluster.Compute compute = cluster.addComputeNode();
            cluster.world().runUntil(compute::isServing, 1_000_000);
            final KvTable table = cluster.createTable("t", 50);
            cluster.runFor(3 * SimCluster.LEASE_NS);
            final int before = wakeUps(cluster, compute);

            final SimFiller filler = new SimFiller(cluster.world(), table, 600, 20_000);
            filler.start();
            cluster.world().runUntil(filler::isFinished, 50_000_000);
            final int grown = cluster.tables().getFirst().distinctSubtables();
            filler.drain();
            cluster.world().runUntil(filler::isFinished, 50_000_000);
            cluster.runFor(60 * LOOK_PAUSE_NS);
            cluster.settle();
            assertThat(cluster.tables().getFirst().distinctSubtables()).isLessThan(grown);

            final int after = wakeUps(cluster, compute);
            System.out.println("wake-ups before " + before + ", after " + after);
            assertThat(after).as("wake-ups; before %d", before)
                .isLessThanOrEqualTo(before + 2 * (int)(WATCHED_NS / LOOK_PAUSE_NS));
        }
    }

    /** As a thread does that runs the node: it sleeps as long as the node says that nothing is due. */
    private static int wakeUps(final SimCluster cluster, final SimCluster.Compute compute)
    {
        final long endNs = cluster.world().clock().nanoTime() + WATCHED_NS;
        int count = 0;
        while (cluster.world().clock().nanoTime() < endNs)
        {
            count++;
            cluster.runFor(Math.max(AWAKE_NS, compute.node().isBusy() ? 0 : compute.node().idleNs()));
        }
        return count;
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
