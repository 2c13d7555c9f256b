package io.verbena.embedded;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.routing.ComputeNodeSet;
import io.verbena.client.routing.RemoteNodes;
import io.verbena.client.routing.RoutedKvClient;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.request.Waker;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Device;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Duration;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients on a machine of their own, under the simulated fabric: compute nodes that come, go and die are seen by nobody
 * but in typed errors, every operation ends by its deadline, and what clients were told is linearizable.
 */
class RemoteClientSimTest
{
    private static final int CLIENTS = 4;
    private static final int KEYS = 3;
    private static final int OPERATIONS = 300;
    private static final long TIMEOUT_NS = 30_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_PAUSE_NS = 400_000;
    private static final long MAX_STEPS = 100_000_000;

    /** Seeds 1 to 8, or as many as the system property verbena.sim.seeds says, for a longer search. */
    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 8));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldFailNoOperationWhenComputeNodesComeAndGo(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2, true))
        {
            final SimClients clients = start(cluster);
            for (int i = 0; i < 3; i++)
            {
                final int index = i;
                at(cluster, i * 15_000_000L, cluster::addComputeNode);
                at(cluster, i * 15_000_000L + 10_000_000, () -> cluster.computes().get(index).node().leave());
            }

            clients.finish(MAX_STEPS);

            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldStayLinearizableWhenComputeNodesDieAndConnectionsBreak(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 3, true))
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

    /**
     * A caller hears first that its connection is lost. Until the background thread is told, the lost node refuses each
     * try, and nobody looks for another one.
     */
    @Test
    void shouldCallTheBackgroundThreadWhenACallerLosesTheConnection()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, true))
        {
            cluster.createTable("t", 50);
            final Object table =
                cluster.control(cluster.computes().getFirst(), ControlRequest.Kind.FIND_TABLE, "t");
            final ComputeNodeSet nodes = new ComputeNodeSet();
            final RemoteNodes caller = new RemoteNodes(cluster.world().addNode("caller").device(), cluster.locator(),
                nodes, new Waker(), SimCluster.LEASE_NS / 2, (error) -> {});
            final RoutedKvClient client = RoutedKvClient.openStepped(
                nodes, cluster.world().clock(), new KvClientOptions().completionExecutor(Runnable::run));
            cluster.world().runUntil(() -> caller.doWork() >= 0 && 1 == nodes.count() && !caller.isBusy(), MAX_STEPS);
            assertThat(caller.isDutyDue()).isFalse();
            cluster.computes().getFirst().machine().kill();

            client.table((TableReference)table).withTimeout(TIMEOUT).getAsync(new byte[]{1});
            caller.serve();
            assertThat(caller.isDutyDue()).as("sent").isFalse();
            cluster.world().runUntil(() -> caller.poll() > 0, MAX_STEPS);

            assertThat(caller.isDutyDue()).isTrue();
            caller.onClose();
        }
    }

    /** A listener that takes no connection, as a process that was stopped for a moment: once is no reason to end. */
    @Test
    void shouldCallTheMetaServerSilentAfterTwoAttemptsInARow()
    {
        final long timeoutNs = SimCluster.LEASE_NS / 2;
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, true))
        {
            final Device silent = cluster.world().addNode("silent").device();
            try (ConnectionListener listener = silent.listen(1))
            {
                final RemoteNodes caller = new RemoteNodes(cluster.world().addNode("caller").device(),
                    MetaServerLocator.at(new PeerAddress(silent.address(), 1, 0, 0)), new ComputeNodeSet(),
                    new Waker(), timeoutNs, (error) -> {});
                final long startNs = cluster.world().clock().nanoTime();

                cluster.world().runUntil(() -> caller.doWork() >= 0 && !caller.failure().isEmpty(), MAX_STEPS);
                assertThat(caller.isMetaServerSilent()).isFalse();
                cluster.world().runUntil(() -> caller.doWork() >= 0 && caller.isMetaServerSilent(), MAX_STEPS);

                assertThat(caller.isMetaServerSilent()).isTrue();
                assertThat(cluster.world().clock().nanoTime() - startNs).as("two attempts, and the pause between")
                    .isBetween(3 * timeoutNs / 2, 3 * timeoutNs + 100_000_000);
                caller.onClose();
                assertThat(listener).isNotNull();
            }
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

    private static void hurt(final SimCluster cluster)
    {
        final RandomGenerator random = cluster.world().random();
        final SimCluster.Compute victim = cluster.computes().get(random.nextInt(cluster.computes().size()));
        if (!victim.isServing())
        {
            return;
        }
        switch (random.nextInt(6))
        {
            case 0 ->
            {
                victim.machine().kill();
                cluster.addComputeNode();
            }
            case 1 ->
            {
                victim.machine().device().killAfterRequests(random.nextInt(4));
                cluster.addComputeNode();
            }
            case 2 -> cluster.pause(victim.machine(), 2 * SimCluster.LEASE_NS);
            case 3 -> cluster.pause(cluster.metaMachine(), 2 * SimCluster.LEASE_NS);
            case 4 -> victim.machine().device().breakConnections(cluster.clientMachine().device());
            default -> cluster.clientMachine().device().breakConnections(victim.machine().device());
        }
    }
}
