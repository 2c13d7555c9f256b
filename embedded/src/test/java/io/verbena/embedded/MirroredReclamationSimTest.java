package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.LostMemory;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.format.ChunkDescriptor;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Memory of tables with several copies comes back on all members: of ended nodes, of dropped tables, of old ones. */
class MirroredReclamationSimTest
{
    private static final int CLIENTS = 3;
    private static final int KEYS = 6;
    private static final int OPERATIONS = 300;
    private static final int FILLED_KEYS = 900;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 200_000_000;
    private static final long LEFT_NS = 600_000_000;
    private static final int ROUNDS = 3;

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

    /** As many index chunks as tables have subtables, no chunk of an ended node, and each byte named or held. */
    private static List<String> lost(final SimCluster cluster)
    {
        final List<String> lost = new ArrayList<>();
        final long named = cluster.tables().stream().mapToLong((table) -> table.distinctSubtables()).sum();
        final List<Long> indexes = MirroredStore.chunks(cluster, ChunkDescriptor.STATE_INDEX);
        if (!indexes.stream().allMatch((count) -> count == named))
        {
            lost.add("tables have " + named + " subtables, and members have index chunks " + indexes);
        }
        final List<Long> orphans = MirroredStore.chunks(cluster, ChunkDescriptor.STATE_ORPHAN);
        if (!orphans.stream().allMatch((count) -> 0 == count))
        {
            lost.add("chunks that are left behind: " + orphans);
        }
        final StoreCheck space = MirroredStore.space(cluster);
        lost.addAll(space.problems());
        space.spaces().stream().filter((report) -> 0 != report.lostBytes).forEach((report) -> lost.add("" + report));
        final StoreCheck check = MirroredStore.check(cluster);
        if (!check.isSound())
        {
            lost.add("not sound: " + check.problems() + check.differences());
        }
        return lost;
    }

    private static void hurt(final SimCluster cluster, final RandomGenerator random)
    {
        final SimCluster.Compute compute = cluster.computes().get(random.nextInt(cluster.computes().size()));
        if (random.nextBoolean())
        {
            cluster.pause(compute.machine(), 3 * SimCluster.LEASE_NS);
        }
        else if (compute.isServing() &&
            cluster.computes().stream().filter(SimCluster.Compute::isServing).count() > 1)
        {
            compute.machine().kill();
            cluster.forget(compute);
            cluster.addComputeNode();
        }
    }

    /** No compute node is fenced everywhere while a memory node is lost; memory was used again all the same. */
    private static void forgetLost(final SimCluster cluster)
    {
        for (final SimMemoryHost host : cluster.memoryHosts())
        {
            if (!host.machine().isRunning())
            {
                final SimCluster.Compute serving =
                    cluster.computes().stream().filter(SimCluster.Compute::isServing).findFirst().orElseThrow();
                final ControlCall<?> call = LostMemory.forget(serving.node(), host.node().nodeId());
                cluster.world().runUntil(call::isDone, MAX_STEPS);
                assertThat(call.status()).as(call.failure()).isEqualTo(ControlStatus.OK);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBringBackWhatEndedNodesHad(final long seed)
    {
        assertThat(lostBesideEndings(seed)).as("seed %d", seed).isEmpty();
    }

    private static List<String> lostBesideEndings(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster cluster = SimCluster.shrinking(seed, new SimFabricOptions(), copies, 3))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 50, copies);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS);
            final SimFiller filler = new SimFiller(cluster.world(), table, FILLED_KEYS, 100_000);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            filler.start();
            int members = copies;
            for (int round = 0; round < ROUNDS; round++)
            {
                cluster.runFor(4_000_000 + random.nextLong(10_000_000));
                hurt(cluster, random);
                if (members > 1 && random.nextInt(3) == 0)
                {
                    cluster.memoryMachines().get(members - 1).kill();
                    members--;
                    awaitMembers(cluster, members);
                }
            }
            clients.finish(MAX_STEPS);
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            filler.drain();
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            filler.assertComplete(MAX_STEPS);
            forgetLost(cluster);
            cluster.runFor(LEFT_NS);
            cluster.settle();
            cluster.sweep();
            return lost(cluster);
        }
    }

    /** What it had goes back without a request: index chunks at once, and blocks when nodes sweep theirs. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBringBackWhatADroppedTableHad(final long seed)
    {
        assertThat(lostWithATable(seed)).as("seed %d", seed).isEmpty();
    }

    private static List<String> lostWithATable(final long seed)
    {
        final int copies = 2 + (int)(seed % 2);
        try (SimCluster cluster = SimCluster.growing(seed, new SimFabricOptions(), copies, 2))
        {
            final KvTable table = cluster.createTable("t", 50, copies);
            final SimFiller filler = new SimFiller(cluster.world(), table, FILLED_KEYS, 100_000);
            filler.start();
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            cluster.dropTable("t");
            cluster.runFor(SimCluster.LEASE_NS);
            cluster.settle();
            assertThat(cluster.tables()).isEmpty();
            final List<String> lost = lost(cluster);
            final List<Long> blocks = MirroredStore.chunks(cluster, ChunkDescriptor.STATE_BLOCKS);
            if (!blocks.stream().allMatch((count) -> count <= 2))
            {
                lost.add("more than one chunk of blocks for each node: " + blocks);
            }
            return lost;
        }
    }
}
