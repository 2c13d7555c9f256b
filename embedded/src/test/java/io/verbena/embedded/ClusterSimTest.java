package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The whole cluster under the simulated fabric, agents and all: what threads hide shows here, and replays from its
 * seed.
 */
class ClusterSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 3;
    private static final int OPERATIONS = 400;
    private static final long TIMEOUT_NS = 8_000_000;
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 50_000_000;

    /** Seeds 1 to 12, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 12));
    }

    /** Compute nodes come and go in order: every operation succeeds. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldFailNoOperationWhenComputeNodesComeAndGo(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 2))
        {
            final SimClients clients = start(cluster);
            for (int i = 0; i < 3; i++)
            {
                final int index = i;
                at(cluster, i * 10_000_000L, cluster::addComputeNode);
                at(cluster, i * 10_000_000L + 5_000_000, () -> leave(cluster, cluster.computes().get(index)));
            }

            clients.finish(MAX_STEPS);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages()).isEmpty();
        }
    }

    /** Compute nodes crash, all nodes pause beyond their leases, connections break, at random instants. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldStayLinearizableWhenComputeNodesCrashAndPause(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 3))
        {
            final SimClients clients = start(cluster);
            for (int i = 0; i < 8; i++)
            {
                at(cluster, i * 7_000_000L + cluster.world().random().nextLong(5_000_000), () -> hurt(cluster));
            }

            clients.finish(MAX_STEPS);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
                .doesNotContainKey(KvException.Category.INVALID_REQUEST)
                .doesNotContainKey(KvException.Category.CORRUPT)
                .doesNotContainKey(KvException.Category.NO_SPACE);
            assertThat(clients.succeeded()).isGreaterThan(OPERATIONS / 2);
        }
    }

    private static SimClients start(final SimCluster cluster)
    {
        final SimClients clients =
            new SimClients(cluster.world(), cluster.createTable("t", 50), KEYS, OPERATIONS, TIMEOUT_NS);
        clients.start(CLIENTS, MAX_PAUSE_NS);
        return clients;
    }

    private static void at(final SimCluster cluster, final long delayNs, final Runnable action)
    {
        cluster.world().after(delayNs, action);
    }

    private static void leave(final SimCluster cluster, final SimCluster.Compute compute)
    {
        cluster.forget(compute);
        compute.node().leave();
    }

    private static void hurt(final SimCluster cluster)
    {
        final RandomGenerator random = cluster.world().random();
        final SimCluster.Compute victim =
            cluster.computes().get(random.nextInt(cluster.computes().size()));
        if (!victim.isServing())
        {
            return;
        }
        switch (random.nextInt(7))
        {
            case 0 ->
            {
                victim.machine().kill();
                at(cluster, random.nextLong(3_000_000), () -> cluster.forget(victim));
                cluster.addComputeNode();
            }
            case 1 ->
            {
                victim.machine().device().killAfterRequests(random.nextInt(4));
                at(cluster, 1 + random.nextLong(3_000_000), () -> cluster.forget(victim));
                cluster.addComputeNode();
            }
            case 2, 3 -> cluster.pause(victim.machine(), 3 * SimCluster.LEASE_NS);
            case 4 -> cluster.pause(cluster.metaMachine(), 3 * SimCluster.LEASE_NS);
            case 5 -> cluster.pause(
                cluster.memoryMachines().get(random.nextInt(cluster.memoryMachines().size())),
                3 * SimCluster.LEASE_NS);
            default -> victim.machine().device().breakConnections(
                cluster.memoryMachines().get(random.nextInt(cluster.memoryMachines().size())).device());
        }
    }
}
