package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.memory.MemoryNode;
import io.verbena.rdma.sim.SimFabricOptions;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.table.StoreCheck;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What outlives what. A memory node whose process ends at any moment has its region again, with all that was
 * acknowledged; one whose host ends has what its last checkpoint holds, each key as it was at some moment since that
 * began. The meta server knows what it knew.
 */
class DurabilitySimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 3;
    private static final int OPERATIONS = 400;
    private static final int FAULTS = 8;
    private static final int ROUNDS = 6;
    private static final long TIMEOUT_NS = 8_000_000;
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 50_000_000;

    /** Seeds 1 to 5, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 5));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldLoseNothingAcknowledgedWhenProcessesEndAtAnyMoment(final long seed)
    {
        try (SimCluster cluster = SimCluster.durable(seed, options(seed), 2, 3))
        {
            final SimClients clients = clients(cluster);
            for (int i = 0; i < FAULTS; i++)
            {
                at(cluster, i * 7_000_000L + cluster.world().random().nextLong(5_000_000), () -> hurt(cluster));
            }
            clients.finish(MAX_STEPS);
            finish(cluster, clients);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRestoreEachKeyAsItWasSinceTheCheckpointBegan(final long seed)
    {
        try (SimCluster cluster = SimCluster.durable(seed, options(seed), 1, 2))
        {
            final SimClients clients = clients(cluster);
            final Host host = new Host(cluster, clients);
            host.checkpoint(0);
            for (int i = 0; i < ROUNDS; i++)
            {
                host.round();
            }
            clients.finish(MAX_STEPS);
            finish(cluster, clients);
        }
    }

    private static SimFabricOptions options(final long seed)
    {
        return new SimFabricOptions().namedMemoryAfterDeathNs(seed % 3 == 0 ? 0 : 2_000_000);
    }

    private static SimClients clients(final SimCluster cluster)
    {
        final SimClients clients =
            new SimClients(cluster.world(), cluster.createTable("t", 50), KEYS, OPERATIONS, TIMEOUT_NS).withCounters();
        clients.start(CLIENTS, MAX_PAUSE_NS);
        return clients;
    }

    private static void finish(final SimCluster cluster, final SimClients clients)
    {
        assertThat(clients.failures()).as("seed %d: %s", cluster.world().seed(), clients.messages())
            .doesNotContainKey(KvException.Category.INVALID_REQUEST)
            .doesNotContainKey(KvException.Category.CORRUPT)
            .doesNotContainKey(KvException.Category.NO_SPACE);
        assertThat(clients.succeeded()).isGreaterThan(OPERATIONS / 8);
        cluster.world().runUntil(
            () -> cluster.memoryHosts().stream().allMatch(SimMemoryHost::isReady), MAX_STEPS);
        cluster.runFor(5 * SimCluster.LEASE_NS);
        cluster.settle();
        assertSound(cluster, cluster.check(cluster.tables()));
        cluster.sweep();
        final StoreCheck check = cluster.check(cluster.tables());
        assertSound(cluster, check);
        assertThat(check.unreclaimedBytes() + check.lostBytes()).as("seed %d: %s", cluster.world().seed(), check)
            .isZero();
    }

    private static void assertSound(final SimCluster cluster, final StoreCheck check)
    {
        assertThat(check.problems()).as("seed %d: %s", cluster.world().seed(), check).isEmpty();
        assertThat(check.isSound()).as("seed %d: %s", cluster.world().seed(), check).isTrue();
    }

    private static void at(final SimCluster cluster, final long delayNs, final Runnable action)
    {
        cluster.world().after(delayNs, action);
    }

    private static void hurt(final SimCluster cluster)
    {
        final RandomGenerator random = cluster.world().random();
        final SimCluster.Compute victim = cluster.computes().get(random.nextInt(cluster.computes().size()));
        final SimMemoryHost host = cluster.memoryHosts().get(random.nextInt(cluster.memoryHosts().size()));
        switch (random.nextInt(8))
        {
            case 0, 1, 2, 3 -> killAndStart(cluster, host, 2);
            case 4 -> cluster.moveMetaServer();
            case 5 ->
            {
                if (victim.isServing())
                {
                    victim.machine().device().killAfterRequests(random.nextInt(6));
                    at(cluster, 1 + random.nextLong(3_000_000), () -> cluster.forget(victim));
                    cluster.addComputeNode();
                }
            }
            case 6 -> cluster.pause(victim.machine(), 3 * SimCluster.LEASE_NS);
            default -> victim.machine().device().breakConnections(host.machine().device());
        }
    }

    /** The next process may end as well, at any moment of its adoption. */
    private static void killAndStart(final SimCluster cluster, final SimMemoryHost host, final int more)
    {
        if (host.isDead())
        {
            return;
        }
        final RandomGenerator random = cluster.world().random();
        host.killProcess();
        at(cluster, random.nextLong(4_000_000), () ->
        {
            host.start();
            if (more > 0 && random.nextInt(2) == 0)
            {
                at(cluster, random.nextLong(500_000), () -> killAndStart(cluster, host, more - 1));
            }
        });
    }

    /** One host, with its checkpoints, ends and beginnings. */
    private static final class Host
    {
        private final SimCluster cluster;
        private final SimWorld world;
        private final RandomGenerator random;
        private final SimClients clients;
        private final SimMemoryHost host;
        private boolean isLost;

        private Host(final SimCluster cluster, final SimClients clients)
        {
            this.cluster = cluster;
            this.clients = clients;
            world = cluster.world();
            random = world.random();
            host = cluster.memoryHosts().getFirst();
            host.onReady(this::onReady);
        }

        private void onReady(final MemoryNode node)
        {
            if (isLost)
            {
                isLost = false;
                clients.restored((int[])host.disk().database().lastComplete(), SimRecord.of(node, cluster.tables()));
            }
        }

        private void round()
        {
            cluster.runFor(random.nextLong(4_000_000));
            checkpoint(random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 0);
            if (random.nextBoolean())
            {
                cluster.runFor(random.nextLong(2_000_000));
            }
            end(random.nextInt(3));
            for (int crashes = random.nextInt(3); host.isDead(); crashes--)
            {
                cluster.runFor(random.nextLong(3_000_000));
                start(crashes > 0);
            }
        }

        private void checkpoint(final long diskSteps)
        {
            if (diskSteps > 0)
            {
                host.killInDiskSteps(diskSteps);
            }
            host.checkpoint(clients.positions(), (region) -> new SteppedLoads(world, region));
            host.disk().calm();
        }

        private void end(final int how)
        {
            if (how == 0)
            {
                isLost = true;
                host.loseHost();
            }
            else if (how == 1)
            {
                host.killProcess();
            }
        }

        private void start(final boolean endsSoon)
        {
            if (endsSoon)
            {
                host.killInDiskSteps(1 + random.nextInt(40));
            }
            host.start();
            if (endsSoon)
            {
                final long untilNs = world.clock().nanoTime() + random.nextLong(1_000_000);
                world.after(1_000_000, () -> { });
                world.runUntil(() -> host.isDead() || world.clock().nanoTime() > untilNs, MAX_STEPS);
                end(host.isDead() ? 2 : random.nextInt(3));
                host.disk().calm();
            }
            world.runUntil(() -> host.isDead() || host.isReady(), MAX_STEPS);
        }
    }
}
