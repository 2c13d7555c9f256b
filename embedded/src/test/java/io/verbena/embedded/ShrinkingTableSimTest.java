package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A table that grows, is emptied, and gives its memory back, under the simulated fabric, with all agents. */
class ShrinkingTableSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 3;
    private static final int OPERATIONS = 600;
    private static final int TIDE_KEYS = 1500;
    private static final int CHUNKS = 400;
    private static final int HURTS = 8;
    private static final long TIMEOUT_NS = 20_000_000;
    private static final long MAX_PAUSE_NS = 1_000_000;
    private static final long MAX_STEPS = 200_000_000;
    /** What somebody left is taken up 250 ms after it was found, and what that leads to, too: one after another. */
    private static final long SHRINK_NS = 2_000_000_000;
    private static final long QUIET_NS = 30_000_000;

    /** Seeds 1 to 4, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 4));
    }

    /** And seed 10: what dead nodes had split and not published kept the table at 24 subtables. */
    static LongStream crashSeeds()
    {
        return LongStream.concat(seeds(), LongStream.of(10)).distinct();
    }

    private static int subtables(final SimCluster cluster)
    {
        return cluster.tables().getFirst().distinctSubtables();
    }

    private static void awaitSubtables(final SimCluster cluster, final int count)
    {
        awaitSubtables(cluster, count, SHRINK_NS);
    }

    private static void awaitSubtables(final SimCluster cluster, final int count, final long mostNs)
    {
        final long beganNs = cluster.world().clock().nanoTime();
        final long untilNs = beganNs + mostNs;
        cluster.world().after(mostNs, () -> { });
        cluster.world().runUntil(() -> subtables(cluster) == count ||
            cluster.world().clock().nanoTime() > untilNs, MAX_STEPS);
        assertThat(subtables(cluster)).as("seed %d: subtables", cluster.world().seed()).isEqualTo(count);
    }

    /** Grows, shrinks to what it was made with, stays like that, and does all of it again; no operation fails. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGiveBackWhatItDoesNotNeedAnyMore(final long seed)
    {
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 50);
            final int least = subtables(cluster);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final SimTide tide = new SimTide(cluster.world(), table, TIDE_KEYS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            for (int round = 0; round < 2; round++)
            {
                tide.rise();
                tide.finish();
                assertThat(subtables(cluster)).as("seed %d", seed).isGreaterThan(4 * least);
                tide.fall();
                tide.finish();
                awaitSubtables(cluster, least);
            }
            clients.finish(MAX_STEPS);
            final TableDescriptor shrunk = cluster.tables().getFirst();
            cluster.runFor(QUIET_NS);
            assertThat(cluster.tables().getFirst()).as("seed %d: it stays as it is", seed).isEqualTo(shrunk);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages()).isEmpty();
            assertThat(tide.failures()).as("seed %d", seed).isEmpty();
            tide.assertRight();
            cluster.sweep();
            final StoreCheck check = check(cluster, seed);
            check.spaces().forEach((space) -> assertThat(space.unnamedIndexBytes).as("seed %d", seed).isZero());
        }
    }

    /** Nodes crash, also those that merge, or stand still beyond their leases; so does the meta server. */
    @ParameterizedTest
    @MethodSource("crashSeeds")
    void shouldStayLinearizableWhenMergersCrash(final long seed)
    {
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), 2, 3);
            ReturnedChunks returned = ReturnedChunks.watch(cluster))
        {
            final KvTable table = cluster.createTable("t", 50);
            final int least = subtables(cluster);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final SimTide tide = new SimTide(cluster.world(), table, TIDE_KEYS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            for (int round = 0; round < 2; round++)
            {
                tide.rise();
                hurtSometimes(cluster, 3);
                tide.finish();
                tide.fall();
                hurtSometimes(cluster, 6);
                tide.finish();
                cluster.runFor(20_000_000);
            }
            clients.finish(MAX_STEPS);
            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
                .doesNotContainKey(KvException.Category.INVALID_REQUEST)
                .doesNotContainKey(KvException.Category.CORRUPT)
                .doesNotContainKey(KvException.Category.NO_SPACE);
            assertThat(clients.succeeded()).isGreaterThan(OPERATIONS / 3);
            assertThat(returned.reached()).as("seed %d", seed).isEmpty();
            awaitSubtables(cluster, least);
            tide.assertRight();
            cluster.settle();
            check(cluster, seed);
        }
    }

    /**
     * While it is emptied and shrinks, processes of memory nodes end and begin again on the memory that they left, or
     * stand still, the meta server moves or stands still, and compute nodes end.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldShrinkThroughTheEndsOfMemoryNodesAndMetaServers(final long seed)
    {
        try (SimCluster cluster = SimCluster.durableShrinking(
            seed, new SimFabricOptions().namedMemoryAfterDeathNs(seed % 3 == 0 ? 0 : 2_000_000), 2, 3, Flaw.NONE,
            CHUNKS))
        {
            final KvTable table = cluster.createTable("t", 50);
            final int least = subtables(cluster);
            final SimTide tide = new SimTide(cluster.world(), table, TIDE_KEYS);
            tide.rise();
            tide.finish();
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            tide.fall();
            for (int i = 0; i < HURTS; i++)
            {
                final long delayNs = i * 5_000_000L + cluster.world().random().nextLong(4_000_000);
                cluster.world().after(delayNs, () -> hurtAnybody(cluster));
            }
            tide.finish();
            cluster.runFor(HURTS * 5_000_000L);
            clients.finish(MAX_STEPS);
            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
                .doesNotContainKey(KvException.Category.INVALID_REQUEST)
                .doesNotContainKey(KvException.Category.CORRUPT)
                .doesNotContainKey(KvException.Category.NO_SPACE);
            cluster.world().runUntil(
                () -> cluster.memoryHosts().stream().allMatch(SimMemoryHost::isReady), MAX_STEPS);
            cluster.runFor(4 * SimCluster.LEASE_NS);
            // Nobody uses the table: what those have left that ended is found by looks for merges.
            awaitSubtables(cluster, least, 4 * SHRINK_NS);
            tide.assertRight();
            cluster.settle();
            check(cluster, seed);
        }
    }

    private static void hurtAnybody(final SimCluster cluster)
    {
        final RandomGenerator random = cluster.world().random();
        final SimMemoryHost host = cluster.memoryHosts().get(random.nextInt(cluster.memoryHosts().size()));
        switch (random.nextInt(6))
        {
            case 0, 1 ->
            {
                if (host.isReady())
                {
                    host.killProcess();
                    cluster.world().after(random.nextLong(4_000_000), host::start);
                }
            }
            case 2 -> cluster.pause(host.machine(), 2 * SimCluster.LEASE_NS);
            case 3 ->
            {
                if (cluster.metaMachine().isRunning())
                {
                    cluster.moveMetaServer();
                }
            }
            case 4 -> cluster.pause(cluster.metaMachine(), 3 * SimCluster.LEASE_NS);
            default -> GrowingTableSimTest.hurt(cluster);
        }
    }

    /** A node that has never reached a memory node has nothing to look at there, and holds nobody up with that. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldPassEpochsWhileAMemoryNodeCannotBeReached(final long seed)
    {
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), 2, 1))
        {
            final SimTide tide = new SimTide(cluster.world(), cluster.createTable("t", 50), TIDE_KEYS);
            tide.rise();
            tide.finish();
            cluster.memoryMachines().getLast().kill();
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            cluster.runFor(5 * SimCluster.LEASE_NS);

            cluster.control(late, ControlRequest.Kind.SWEEP, null);
            cluster.runFor(SimCluster.LEASE_NS);
            assertThat(((SpaceFigures)cluster.control(late, ControlRequest.Kind.SPACE_FIGURES, null)).isReclaiming())
                .as("seed %d: still reclaiming", seed).isFalse();
        }
    }

    private static void hurtSometimes(final SimCluster cluster, final int times)
    {
        for (int i = 0; i < times; i++)
        {
            final long delayNs = i * 6_000_000L + cluster.world().random().nextLong(5_000_000);
            cluster.world().after(delayNs, () -> GrowingTableSimTest.hurt(cluster));
        }
    }

    private static StoreCheck check(final SimCluster cluster, final long seed)
    {
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.problems()).as("seed %d", seed).isEmpty();
        check.tables().forEach((name, table) -> assertThat(table.problems()).as("seed %d", seed).isEmpty());
        return check;
    }
}
