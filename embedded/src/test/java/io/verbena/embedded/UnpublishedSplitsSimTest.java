package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.SplitFigures;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** The meta server stands still while tables grow: what was split meanwhile is made known afterwards. */
class UnpublishedSplitsSimTest
{
    private static final int KEYS = 4_000;
    private static final int KEYS_BEFORE = 300;
    private static final long FILLER_PAUSE_NS = 20_000;
    private static final long STANDSTILL_NS = 200_000_000;
    private static final long LEASE_NS = 3 * STANDSTILL_NS;
    private static final long MAX_STEPS = 100_000_000;
    /** Of a node that dies with splits that nobody knows of. */
    private static final int SEVERAL = 3;

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 4));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldSplitWhileTheMetaServerStandsStill(final long seed)
    {
        try (SimCluster cluster = SimCluster.growingOnLeases(seed, new SimFabricOptions(), 2, 2, LEASE_NS))
        {
            final SimFiller filler = beginToFill(cluster);
            final int named = subtables(cluster);
            final long splitsBefore = splits(cluster);

            cluster.metaMachine().pause();
            cluster.runFor(STANDSTILL_NS);

            assertThat(subtables(cluster)).isEqualTo(named);
            // One at a node, if each waited until it is known.
            assertThat(splits(cluster) - splitsBefore).as("splits meanwhile, seed %d", seed).isGreaterThan(2 * 2);
            cluster.computes().forEach((compute) -> assertThat(SplitFigures.unpublished(compute.node()))
                .isBetween(1, SplitFigures.MOST_UNPUBLISHED));
            cluster.metaMachine().resume();
            finish(cluster, filler, seed);
        }
    }

    /** Its links lead on: whoever meets them makes known what it had made. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldMakeKnownWhatANodeHadSplitThatDied(final long seed)
    {
        try (SimCluster cluster = SimCluster.growingOnLeases(seed, new SimFabricOptions(), 2, 2, LEASE_NS))
        {
            final SimFiller filler = beginToFill(cluster);
            final SimCluster.Compute victim = cluster.computes().getFirst();

            cluster.metaMachine().pause();
            cluster.world().runUntil(() -> SplitFigures.unpublished(victim.node()) >= SEVERAL, MAX_STEPS);
            victim.machine().kill();
            cluster.forget(victim);
            cluster.runFor(STANDSTILL_NS / 4);
            cluster.metaMachine().resume();
            finish(cluster, filler, seed);
        }
    }

    /** Nobody learns of them by the meta server: nodes that come later find the way as well. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldMakeKnownWhatNodesHadSplitThatAllDied(final long seed)
    {
        try (SimCluster cluster = SimCluster.growingOnLeases(seed, new SimFabricOptions(), 2, 2, LEASE_NS))
        {
            final SimFiller filler = beginToFill(cluster);

            cluster.metaMachine().pause();
            cluster.world().runUntil(() -> cluster.computes().stream()
                .allMatch((compute) -> SplitFigures.unpublished(compute.node()) >= SEVERAL), MAX_STEPS);
            cluster.computes().forEach((compute) ->
            {
                compute.machine().kill();
                cluster.forget(compute);
            });
            cluster.metaMachine().resume();
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            finish(cluster, filler, seed);
        }
    }

    private static SimFiller beginToFill(final SimCluster cluster)
    {
        final KvTable table = cluster.createTable("t", 50);
        final SimFiller filler = new SimFiller(cluster.world(), table, KEYS, FILLER_PAUSE_NS);
        filler.start();
        cluster.world().runUntil(() -> filler.kept().cardinality() >= KEYS_BEFORE, MAX_STEPS);
        return filler;
    }

    /** All is known then, every record is there, and all memory in one hand. */
    private static void finish(final SimCluster cluster, final SimFiller filler, final long seed)
    {
        cluster.world().runUntil(filler::isFinished, MAX_STEPS);
        filler.assertComplete(MAX_STEPS);
        cluster.world().runUntil(() -> cluster.computes().stream().filter(SimCluster.Compute::isServing)
            .allMatch((compute) -> 0 == SplitFigures.unpublished(compute.node())), MAX_STEPS);
        // Whoever met a split leaves it to who began it, for a while.
        cluster.runFor(2 * STANDSTILL_NS);
        cluster.settle();
        cluster.sweep();
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.problems()).as("seed %d", seed).isEmpty();
        assertThat(check.tables().get("t").problems()).as("seed %d", seed).isEmpty();
        assertThat(check.tables().get("t").splitsUnderWay).as("seed %d", seed).isZero();
        check.spaces().forEach((space) -> assertThat(space.unnamedIndexBytes).as("seed %d", seed).isZero());
    }

    private static int subtables(final SimCluster cluster)
    {
        return cluster.tables().stream().mapToInt(TableDescriptor::distinctSubtables).sum();
    }

    private static long splits(final SimCluster cluster)
    {
        return cluster.computes().stream().mapToLong((compute) -> SplitFigures.splitCount(compute.node())).sum();
    }
}
