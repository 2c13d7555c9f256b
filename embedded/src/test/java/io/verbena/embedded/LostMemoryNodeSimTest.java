package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.meta.MetaServerStat;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static io.verbena.embedded.OneGroup.awaitMembers;
import static io.verbena.embedded.OneGroup.putLarge;
import static io.verbena.embedded.OneGroup.requireLarge;
import static org.assertj.core.api.Assertions.assertThat;

/** A memory node is lost while a compute node ends: memory is used again, and nothing wrong is read. */
class LostMemoryNodeSimTest
{
    private static final int KEYS = 6;
    private static final int CLIENTS = 3;
    private static final int OPERATIONS = 500;
    private static final int FAULTS = 3;
    private static final int FILLED_KEYS = 60;
    private static final long FILL_PAUSE_NS = 20_000;
    private static final long TIMEOUT_NS = 8_000_000;
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 200_000_000;
    private static final int LARGE_RECORDS = 8;

    /** Seeds 1 to 4, or as many as the system property verbena.mirror.clusterSeeds says. */
    static LongStream seeds()
    {
        final long only = Long.getLong("verbena.mirror.clusterSeed", 0);
        return 0 != only ? LongStream.of(only) :
            LongStream.rangeClosed(1, Long.getLong("verbena.mirror.clusterSeeds", 4));
    }

    private static boolean isFenceWaiting(final SimCluster cluster)
    {
        final MetaServerStat stat = cluster.metaServer().stat();
        return stat.fencingNodes() > 0 && stat.lostMemoryNodes() > 0;
    }

    /** What is overwritten is some times the memory of all nodes. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldOverwriteForEverWhileAMemoryNodeIsLostForGood(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 3, 24))
        {
            final KvTable table = cluster.createTable("t", 100, 3);
            putLarge(cluster, table, 0, 0);
            cluster.memoryMachines().get((int)(seed % 3)).kill();
            final SimCluster.Compute ended = cluster.computes().getLast();
            ended.machine().kill();
            cluster.forget(ended);
            awaitMembers(cluster, 2);
            for (int round = 1; round <= 600; round++)
            {
                putLarge(cluster, table, round % LARGE_RECORDS, round);
            }
            assertThat(cluster.metaServer().stat().fencingNodes()).as("is fenced still").isOne();
            for (int round = 593; round <= 600; round++)
            {
                requireLarge(cluster, table, round % LARGE_RECORDS, round);
            }
        }
    }

    /**
     * The memory node stands still, so that its memory can be written by whoever has a connection: by the compute node
     * that is fenced, which goes on later, too. Of the two tables one is on that memory node alone, or on another one.
     */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBeLinearizableWhenWhoWasLeftOrFencedGoesOn(final long seed)
    {
        try (SimCluster cluster = SimCluster.durable(seed, new SimFabricOptions(), 3, 3, Flaw.NONE))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable copied = cluster.createTable("copied", 50, 2);
            final KvTable single = cluster.createTable("single", 50);
            final List<SimClients> clients = new ArrayList<>();
            for (final KvTable table : List.of(copied, single))
            {
                clients.add(new SimClients(cluster.world(), table, KEYS, OPERATIONS, TIMEOUT_NS));
                clients.getLast().start(CLIENTS, MAX_PAUSE_NS);
            }
            int passedOver = 0;
            for (int fault = 0; fault < FAULTS; fault++)
            {
                cluster.runFor(random.nextLong(8_000_000));
                passedOver += loseBoth(cluster, random) ? 1 : 0;
            }
            clients.forEach((each) -> each.finish(MAX_STEPS));
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(passedOver).as("epochs passed beside a fence").isEqualTo(FAULTS);
        }
    }

    /** @return whether epochs have passed while a fence waited for the memory node. */
    private static boolean loseBoth(final SimCluster cluster, final RandomGenerator random)
    {
        final SimMemoryHost host = cluster.memoryHosts().get(random.nextInt(cluster.memoryHosts().size()));
        final boolean isPaused = random.nextBoolean();
        final SimCluster.Compute compute = cluster.computes().stream().filter(SimCluster.Compute::isServing)
            .skip(random.nextInt(2)).findFirst().orElseThrow();
        if (random.nextBoolean())
        {
            compute.machine().pause();
        }
        cluster.runFor(random.nextLong(2_000_000));
        if (isPaused)
        {
            host.machine().pause();
        }
        else
        {
            host.killProcess();
        }
        cluster.runFor(random.nextLong(2_000_000));
        compute.machine().pause();
        cluster.runFor(5 * SimCluster.LEASE_NS / 2);
        final long before = cluster.metaServer().stat().safeEpoch();
        final boolean isWaiting = isFenceWaiting(cluster);
        cluster.runFor(5 * SimCluster.LEASE_NS);
        final boolean havePassed =
            isWaiting && isFenceWaiting(cluster) && cluster.metaServer().stat().safeEpoch() > before + 3;
        goOn(cluster, host, compute.machine(), isPaused, random);
        return havePassed;
    }

    private static void goOn(
        final SimCluster cluster, final SimMemoryHost host, final SimNode compute, final boolean isPaused,
        final RandomGenerator random)
    {
        final boolean isComputeFirst = random.nextBoolean();
        if (isComputeFirst)
        {
            compute.resume();
            cluster.runFor(random.nextLong(1_000_000));
        }
        if (isPaused)
        {
            host.machine().resume();
        }
        else
        {
            host.start();
        }
        cluster.world().runUntil(host::isReady, MAX_STEPS);
        cluster.runFor(random.nextLong(SimCluster.LEASE_NS));
        if (!isComputeFirst)
        {
            compute.resume();
        }
        cluster.world().runUntil(() -> 0 == cluster.metaServer().stat().fencingNodes(), MAX_STEPS);
        cluster.world().runUntil(
            () -> cluster.computes().stream().allMatch(SimCluster.Compute::isServing), MAX_STEPS);
    }

    /** A table with one copy there fails meanwhile, and works again with the next incarnation. */
    @Test
    void shouldReachAMemoryNodeAgainThatWasLeft()
    {
        try (SimCluster cluster = SimCluster.durable(1, new SimFabricOptions(), 1, 2, Flaw.NONE))
        {
            final KvTable table = cluster.createTable("t", 50);
            final SimFiller filler = new SimFiller(cluster.world(), table, FILLED_KEYS, FILL_PAUSE_NS);
            filler.start();
            cluster.world().runUntil(filler::isFinished, MAX_STEPS);
            final SimNode memory = cluster.memoryMachines().getFirst();
            final SimNode ended = cluster.computes().getLast().machine();
            memory.pause();
            ended.pause();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(isFenceWaiting(cluster)).isTrue();
            final long safeEpoch = cluster.metaServer().stat().safeEpoch();
            cluster.runFor(4 * SimCluster.LEASE_NS);
            assertThat(cluster.metaServer().stat().safeEpoch()).isGreaterThan(safeEpoch + 3);
            memory.resume();
            ended.resume();
            cluster.world().runUntil(() -> 0 == cluster.metaServer().stat().fencingNodes(), MAX_STEPS);
            filler.assertComplete(MAX_STEPS);
        }
    }
}
