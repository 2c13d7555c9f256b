package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.group.GroupMutation;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.test.Mutation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Tables with several copies grow and shrink while memory nodes are lost and compute nodes end. */
class MirroredGrowthSimTest
{
    private static final int CLIENTS = 3;
    private static final int KEYS = 6;
    private static final int OPERATIONS = 300;
    private static final int FILLED_KEYS = 1_200;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 200_000_000;
    private static final int MOST_MUTATION_SEEDS = 20;
    private static final long LEFT_NS = 600_000_000;

    /** Seeds 1 to 4, or as many as the system property verbena.mirror.clusterSeeds says. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.mirror.clusterSeeds", 4));
    }

    private static void awaitMembers(final SimCluster cluster, final int members)
    {
        cluster.world().runUntil(() ->
        {
            final View view = cluster.metaServer().views().getFirst();
            return ViewState.ACTIVE == view.state() && view.members().size() == members;
        }, MAX_STEPS);
    }

    private static int subtables(final SimCluster cluster)
    {
        return cluster.tables().getFirst().distinctSubtables();
    }

    /** Nothing is lost: each member has as many index chunks as tables have subtables. */
    private static void assertIndexes(final SimCluster cluster, final long seed)
    {
        final long named = cluster.tables().stream().mapToLong((table) -> table.distinctSubtables()).sum();
        assertThat(MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX)).as("seed %d: index chunks", seed)
            .allMatch((count) -> count == named, "as many as the tables' subtables, which are " + named);
    }

    private static void assertSound(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = MirroredStore.check(cluster);
        assertThat(check.isSound()).as("seed %d: %s %s", seed, check.problems(), check.differences()).isTrue();
    }

    private static List<Long> indexesAfterATide(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), 3, 2);
            ReturnedChunks returned = ReturnedChunks.watchAtOnce(cluster))
        {
            final KvTable table = cluster.createTable("t", 50, copies);
            final int least = subtables(cluster);
            final SimTide tide = new SimTide(cluster.world(), table, FILLED_KEYS);
            tide.rise();
            tide.finish();
            tide.fall();
            tide.finish();
            cluster.world().runUntil(() -> subtables(cluster) == least, MAX_STEPS);
            cluster.settle();
            assertThat(returned.reached()).as("seed %d: requests to memory that went back", seed).isEmpty();
            return MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX).stream()
                .map((count) -> count - least).toList();
        }
    }

    /** Chunks whose leases were not known when they went out of use stay taken. */
    @Test
    void shouldKeepWhatIsNotNeededWhenItIsNotLookedFirst()
    {
        List<Long> lost = List.of(0L);
        long seed = 0;
        try (Mutation.Opened _ = GroupMutation.LOOK_FIRST.mutation().open())
        {
            while (lost.contains(0L) && ++seed <= MOST_MUTATION_SEEDS)
            {
                lost = indexesAfterATide(seed);
            }
        }
        assertThat(lost).as("in %d seeds", MOST_MUTATION_SEEDS).allMatch((count) -> count > 0);
        assertThat(indexesAfterATide(seed)).allMatch((count) -> 0 == count);
    }

    /** Somebody looks in memory that is free by then. */
    @Test
    void shouldReachWhatWentBackWhenNobodyWaits()
    {
        List<Long> lost = List.of();
        String found = "";
        long seed = 0;
        try (Mutation.Opened _ = GroupMutation.GROUP_INDEX_WAIT.mutation().open())
        {
            while (found.isEmpty() && ++seed <= MOST_MUTATION_SEEDS)
            {
                lost = indexesAfterATide(seed);
            }
        }
        catch (final AssertionError ex)
        {
            found = String.valueOf(ex.getMessage());
        }
        System.out.println("GROUP_INDEX_WAIT seed " + seed + ": " + found + lost);
        assertThat(found).contains("went back");
    }

    /** Nobody ends: splits and merges, and in the end each chunk of what was replaced is free on all members. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGrowAndShrinkOnAllMembers(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), 3, 2))
        {
            final KvTable table = cluster.createTable("t", 50, copies);
            final int least = subtables(cluster);
            final SimTide tide = new SimTide(cluster.world(), table, FILLED_KEYS);
            tide.rise();
            tide.finish();
            assertThat(subtables(cluster)).as("seed %d", seed).isGreaterThan(4 * least);
            tide.fall();
            tide.finish();
            cluster.world().runUntil(() -> subtables(cluster) == least, MAX_STEPS);
            assertThat(tide.failures()).as("seed %d", seed).isEmpty();
            tide.assertRight();
            cluster.settle();
            assertIndexes(cluster, seed);
            assertSound(cluster, seed);
        }
    }

    /** Members are lost, while the table is split: it goes on with those that are left. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGrowWhileMembersAreLost(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), copies, 2))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 50, copies);
            final int least = subtables(cluster);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final SimFiller filler = new SimFiller(cluster.world(), table, FILLED_KEYS, 100_000);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            filler.start();
            final int first = random.nextInt(copies);
            for (int lost = 1; lost < copies; lost++)
            {
                cluster.runFor(5_000_000 + random.nextLong(20_000_000));
                cluster.memoryMachines().get((first + lost) % copies).kill();
                awaitMembers(cluster, copies - lost);
            }
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            clients.finish(MAX_STEPS);
            assertThat(subtables(cluster)).as("seed %d", seed).isGreaterThan(4 * least);
            filler.assertComplete(MAX_STEPS);
            cluster.runFor(LEFT_NS);
            assertSound(cluster, seed);
        }
    }
}
