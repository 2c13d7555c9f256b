package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Tables with several copies on production nodes: memory nodes are lost, and nothing that was acknowledged is. */
class MirroredTableSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 8;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_PAUSE_NS = 200_000;
    private static final long MAX_STEPS = 80_000_000;

    /** Seeds 1 to 6, or as many as the system property verbena.mirror.clusterSeeds says. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.mirror.clusterSeeds", 6));
    }

    private static void put(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Long> put =
            table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)key}, new byte[]{(byte)value});
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        assertThat(put).as("put %d", key).isCompleted();
    }

    private static void requireValue(final SimCluster cluster, final KvTable table, final int key, final int value)
    {
        final CompletableFuture<Optional<KvEntry>> get =
            table.withTimeout(TIMEOUT).getAsync(new byte[]{(byte)key});
        cluster.world().runUntil(get::isDone, MAX_STEPS);
        assertThat(get).as("get %d", key).isCompleted();
        assertThat(get.resultNow()).as("key %d", key).isPresent();
        assertThat(get.resultNow().get().value()).as("key %d", key).containsExactly(value);
    }

    private static View view(final SimCluster cluster)
    {
        return cluster.metaServer().views().getFirst();
    }

    private static void awaitMembers(final SimCluster cluster, final int members)
    {
        cluster.world().runUntil(() -> ViewState.ACTIVE == view(cluster).state() &&
            view(cluster).members().size() == members, MAX_STEPS);
    }

    @Test
    void shouldHaveAllRecordsWhenAMemoryNodeIsLost()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 2, 2))
        {
            final KvTable table = cluster.createTable("t", 100, 2);
            for (int key = 0; key < 20; key++)
            {
                put(cluster, table, key, key);
            }
            cluster.memoryMachines().getFirst().kill();
            put(cluster, table, 20, 20);
            awaitMembers(cluster, 1);
            for (int key = 0; key <= 20; key++)
            {
                requireValue(cluster, table, key, key);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldBeLinearizableWhileMembersAreLost(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 3, 2))
        {
            final RandomGenerator random = cluster.world().random();
            final KvTable table = cluster.createTable("t", 100, 3);
            final SimClients clients = new SimClients(cluster.world(), table, KEYS, 400, TIMEOUT_NS);
            clients.start(CLIENTS, MAX_PAUSE_NS);
            cluster.runFor(random.nextLong(4_000_000));
            final int first = random.nextInt(3);
            cluster.memoryMachines().get(first).kill();
            awaitMembers(cluster, 2);
            cluster.runFor(random.nextLong(4_000_000));
            cluster.memoryMachines().get((first + 1 + random.nextInt(2)) % 3).kill();
            awaitMembers(cluster, 1);
            clients.finish(MAX_STEPS);
        }
    }
}
