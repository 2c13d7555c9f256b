package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.SplitFigures;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The connection to the memory node breaks at any moment of a split that has several groups under way. */
class BrokenSplitSimTest
{
    /** So many records that a subtable has more groups than are under way at a time. */
    private static final long EXPECTED_RECORDS = 600;
    private static final int KEYS = 800;
    private static final long FILLER_PAUSE_NS = 5_000;
    private static final int STRIDE = 97;
    private static final int RUNS = 24;
    private static final long LEFT_NS = 600_000_000;
    private static final long MAX_STEPS = 50_000_000;

    /** Nothing is thrown into the node's thread, the split is finished, and no record is lost. */
    @Test
    void shouldFinishASplitWhoseConnectionBreaks()
    {
        int broken = 0;
        for (int run = 0; run < RUNS; run++)
        {
            broken += breakAfter(1 + run * STRIDE) ? 1 : 0;
        }
        System.out.println("broken within a split: " + broken + " of " + RUNS);
        assertThat(broken).isGreaterThan(RUNS / 2);
    }

    private static boolean breakAfter(final int steps)
    {
        try (SimCluster cluster = SimCluster.growing(steps, new SimFabricOptions(), 1, 1))
        {
            final KvTable table = cluster.createTable("t", EXPECTED_RECORDS);
            final SimCluster.Compute compute = cluster.computes().getFirst();
            final SimFiller filler = new SimFiller(cluster.world(), table, KEYS, FILLER_PAUSE_NS);
            filler.start();
            cluster.world().runUntil(() -> SplitFigures.isWorking(compute.node()), MAX_STEPS);
            final int[] left = {steps};
            cluster.world().runUntil(() -> left[0]-- <= 0 || !SplitFigures.isWorking(compute.node()), MAX_STEPS);
            final boolean isBroken = SplitFigures.isWorking(compute.node());
            compute.machine().device().breakConnections(cluster.memoryMachines().getFirst().device());

            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            filler.assertComplete(MAX_STEPS);
            cluster.runFor(LEFT_NS);
            cluster.settle();
            cluster.sweep();
            assertThat(compute.isServing()).isTrue();
            assertThat(SplitFigures.splitCount(compute.node())).isPositive();
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.problems()).as("steps %d", steps).isEmpty();
            assertThat(check.tables().get("t").problems()).as("steps %d", steps).isEmpty();
            assertThat(check.tables().get("t").splitsUnderWay).as("steps %d", steps).isZero();
            check.spaces().forEach((space) -> assertThat(space.unnamedIndexBytes).as("steps %d", steps).isZero());
            return isBroken;
        }
    }
}
