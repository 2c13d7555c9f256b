package io.verbena.embedded;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvException;
import io.verbena.client.routing.ComputeNodeSet;
import io.verbena.client.routing.RemoteNodes;
import io.verbena.client.routing.RoutedKvClient;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.remote.RemoteEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.protocol.request.Waker;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.agrona.concurrent.Agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;

import static io.verbena.embedded.SpareNodeSimTest.activate;
import static io.verbena.embedded.SpareNodeSimTest.addSpare;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients are connected to spares before these are activated: they send nothing there, use the connection at once when
 * the spare is activated, and close it when the spare ends.
 */
class SpareConnectionsSimTest
{
    private static final long MAX_STEPS = 80_000_000;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final long SECOND_NS = 1_000_000_000;
    /** A client lists the nodes once a second, and looks at each node twice. */
    private static final long LISTED_NS = 17 * SECOND_NS / 10;
    private static final long PAUSE_NS = 40_000_000;
    private static final long SHORT_PAUSE_NS = 1_000_000;
    private static final int OPERATIONS = 300;
    private static final long HEARD_NS = 20_000_000;
    /** From the list that shows the spare as activated; to be connected takes longer. */
    private static final long AT_ONCE_NS = 100_000;

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 2));
    }

    private record StepAgent(IntSupplier step) implements Agent
    {
        @Override
        public int doWork()
        {
            return step.getAsInt();
        }

        @Override
        public String roleName()
        {
            return "step";
        }
    }

    /** Clients, each on a machine and on a table of its own. */
    private static final class Clients
    {
        private final SimCluster cluster;
        private final List<SimClients> workloads = new ArrayList<>();
        private final List<RemoteNodes> remote = new ArrayList<>();
        private final List<ComputeNodeSet> sets = new ArrayList<>();

        Clients(final SimCluster cluster, final int count)
        {
            this.cluster = cluster;
            add(cluster.remoteNodes(), cluster.nodes(), cluster.client());
            for (int i = 1; i < count; i++)
            {
                final SimNode machine = cluster.world().addNode("client-" + i);
                final ComputeNodeSet set = new ComputeNodeSet();
                final RemoteNodes nodes = new RemoteNodes(machine.device(), cluster.locator(), set, new Waker(),
                    SimCluster.LEASE_NS / 2, (error) -> {});
                final RoutedKvClient client = RoutedKvClient.openStepped(
                    set, cluster.world().clock(), new KvClientOptions().completionExecutor(Runnable::run));
                machine.addAgent(nodes).addAgent(new StepAgent(() ->
                {
                    client.sweep();
                    return 0;
                }));
                add(nodes, set, client);
            }
        }

        private void add(final RemoteNodes nodes, final ComputeNodeSet set, final RoutedKvClient client)
        {
            final String name = "t" + workloads.size();
            cluster.createTable(name, 50);
            final Object table = cluster.control(cluster.computes().getFirst(), ControlRequest.Kind.FIND_TABLE, name);
            remote.add(nodes);
            sets.add(set);
            workloads.add(new SimClients(
                cluster.world(), client.table((TableReference)table), 8, OPERATIONS, TIMEOUT_NS));
        }

        void start()
        {
            start(PAUSE_NS);
        }

        void start(final long pauseNs)
        {
            workloads.forEach((workload) -> workload.start(2, pauseNs));
        }

        boolean haveFinished()
        {
            return workloads.stream().allMatch(SimClients::isFinished);
        }

        /** What each client was told is linearizable, and nothing has failed. */
        void finish()
        {
            for (final SimClients workload : workloads)
            {
                workload.finish(MAX_STEPS);
                assertThat(workload.failures()).as("seed %d: %s", cluster.world().seed(), workload.messages())
                    .isEmpty();
            }
        }
    }

    private static List<Integer> connections(final List<SimCluster.Compute> spares)
    {
        return spares.stream().map((spare) -> spare.server().connections()).toList();
    }

    private static List<SimCluster.Compute> addSpares(final SimCluster cluster, final int count)
    {
        final List<SimCluster.Compute> spares = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            spares.add(addSpare(cluster));
        }
        return spares;
    }

    /** A client that has nothing to do, and takes the room of one. */
    private static void connect(final SimCluster cluster, final int number, final SimCluster.Compute to)
    {
        final SimNode machine = cluster.world().addNode("idle-" + number);
        final RaasContext raas = RaasContext.open(machine.device(), RemoteEndpoint.configure(1));
        raas.connect(new PeerAddress(to.machine().device().address(), SimCluster.CLIENT_PORT, to.node().nodeId(),
            to.node().incarnation()), BatchListener.CALLS_ONLY, TIMEOUT_NS);
        machine.addAgent(new StepAgent(raas::poll));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldConnectToTheTwoOldestSparesAndSendThemNothing(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final List<SimCluster.Compute> spares = addSpares(cluster, 4);
            final Clients clients = new Clients(cluster, 1);
            clients.start();
            cluster.runFor(LISTED_NS);
            assertThat(connections(spares)).as("seed %d", seed).containsExactly(1, 1, 0, 0);
            assertThat(spares).allMatch((spare) -> 0 == spare.server().served());

            activate(cluster, spares.getFirst());
            cluster.world().runUntil(() -> spares.getFirst().server().served() > 0, MAX_STEPS);
            assertThat(connections(spares)).as("the third has time").containsExactly(1, 1, 0, 0);
            cluster.runFor(LISTED_NS);
            assertThat(connections(spares)).containsExactly(1, 1, 1, 0);

            // It is to end, which its status word says before the meta server shows it.
            spares.get(1).server().drain();
            cluster.runFor(LISTED_NS);
            assertThat(connections(spares)).as("while it is listed").containsExactly(1, 0, 1, 0);
            spares.get(1).node().leave();
            spares.get(2).machine().kill();
            cluster.runFor(LISTED_NS);
            assertThat(connections(spares)).element(3).isEqualTo(1);
            assertThat(spares.subList(1, 4)).allMatch((spare) -> 0 == spare.server().served());
            clients.finish();
        }
    }

    /** It registers anew when it goes on, under another incarnation: the connection to the former one is closed. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldCloseTheConnectionToASpareThatWasFenced(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            cluster.runFor(LISTED_NS);
            final int incarnation = spare.node().incarnation();
            assertThat(spare.server().connections()).as("seed %d", seed).isEqualTo(1);
            spare.machine().pause();
            cluster.runFor(3 * SimCluster.LEASE_NS);
            spare.machine().resume();
            cluster.world().runUntil(() -> spare.isServing() && incarnation < spare.node().incarnation(), MAX_STEPS);
            cluster.world().runUntil(() -> 0 == spare.server().connections(), MAX_STEPS);
            cluster.runFor(LISTED_NS);
            assertThat(spare.server().connections()).isEqualTo(1);
            activate(cluster, spare);
            cluster.runFor(HEARD_NS);
            assertThat(cluster.nodes().count()).isEqualTo(2);
        }
    }

    /** Its clients have not noticed, and the meta server has not: what they sent would have an unknown outcome. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldSendNothingOverTheConnectionToASpareThatDiedJustBefore(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            final Clients clients = new Clients(cluster, 2);
            cluster.runFor(LISTED_NS);
            assertThat(spare.server().connections()).as("seed %d", seed).isEqualTo(2);
            clients.start(SHORT_PAUSE_NS);
            cluster.runFor(PAUSE_NS);
            spare.machine().kill();
            final ControlCall<Void> call = activate(cluster, spare);
            clients.finish();
            assertThat(call.status()).as("while it has a lease").isEqualTo(ControlStatus.OK);
        }
    }

    /** A node has no room for more clients: were connections made anew, one would be refused. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldUseTheConnectionsOfManyClientsAtOnce(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            final Clients clients = new Clients(cluster, SimCluster.MAX_CLIENTS);
            cluster.runFor(LISTED_NS);
            assertThat(spare.server().connections()).isEqualTo(SimCluster.MAX_CLIENTS);
            clients.start();
            cluster.runFor(PAUSE_NS);
            assertThat(spare.server().served()).isZero();
            assertThat(clients.sets).allMatch((set) -> 1 == set.count());

            final List<Long> before = clients.remote.stream().map(RemoteNodes::listings).toList();
            final ControlCall<Void> call = activate(cluster, spare);
            for (int i = 0; i < before.size(); i++)
            {
                final int client = i;
                cluster.world().runUntil(
                    () -> clients.remote.get(client).listings() > before.get(client), MAX_STEPS);
            }
            final long listedNs = cluster.world().clock().nanoTime();
            cluster.world().runUntil(() -> clients.sets.stream().allMatch((set) -> 2 == set.count()), MAX_STEPS);
            final long takenNs = cluster.world().clock().nanoTime() - listedNs;
            assertThat(takenNs).as("seed %d", seed).isLessThan(AT_ONCE_NS);
            clients.finish();
            assertThat(call.status()).isEqualTo(ControlStatus.OK);
            assertThat(spare.server().served()).isPositive();
            assertThat(spare.server().refusals()).isZero();
            assertThat(spare.server().refusedRequests()).isZero();
        }
    }

    /** A client asks for a notification for 60 s. Then it asks anew, with a list, and not a second later. */
    @Test
    void shouldHearOfAnActivationRightAfterAMinuteWithoutAny()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            cluster.runFor(2 * SECOND_NS);
            awaitList(cluster);
            final long beganNs = cluster.world().clock().nanoTime();
            long sinceNs = beganNs;
            while (awaitList(cluster) - sinceNs > SECOND_NS - HEARD_NS)
            {
                sinceNs = cluster.world().clock().nanoTime();
                assertThat(sinceNs - beganNs).as("no list but once a second").isLessThan(62 * SECOND_NS);
            }
            assertThat(sinceNs - beganNs).isGreaterThan(50 * SECOND_NS);
            activate(cluster, spare);
            cluster.runFor(HEARD_NS);
            assertThat(cluster.nodes().count()).isEqualTo(2);
        }
    }

    /** Until the nodes are listed once more; returns the time. */
    private static long awaitList(final SimCluster cluster)
    {
        final long before = cluster.remoteNodes().listings();
        cluster.world().runUntil(() -> cluster.remoteNodes().listings() > before, MAX_STEPS);
        return cluster.world().clock().nanoTime();
    }

    /** Clients that are refused there work with the other node, before and after, and ask again now and then. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldDoWithoutASpareThatHasNoRoom(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            for (int i = 0; i < SimCluster.MAX_CLIENTS; i++)
            {
                connect(cluster, i, spare);
            }
            cluster.world().runUntil(() -> spare.server().connections() == SimCluster.MAX_CLIENTS, MAX_STEPS);
            final Clients clients = new Clients(cluster, 2);
            clients.start();
            cluster.runFor(LISTED_NS);
            assertThat(spare.server().refusals()).as("seed %d", seed).isBetween(2L, 6L);
            assertThat(clients.remote).allMatch((client) -> client.failure().isEmpty());
            activate(cluster, spare);
            clients.finish();
            assertThat(spare.server().served()).isZero();
        }
    }

    /** Spares are killed, leave, stand still until they are fenced, are activated, or none of that, at any moment. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldFailNothingWhateverBecomesOfSpares(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final List<SimCluster.Compute> spares = addSpares(cluster, 3);
            final Set<SimCluster.Compute> activated = new HashSet<>();
            final Clients clients = new Clients(cluster, SimCluster.MAX_CLIENTS);
            cluster.runFor(cluster.world().random().nextLong(LISTED_NS));
            clients.start();
            spares.forEach((spare) -> plan(cluster, spare, activated));
            cluster.world().runUntil(() ->
            {
                assertThat(spares).as("seed %d", seed)
                    .allMatch((spare) -> activated.contains(spare) || 0 == spare.server().served());
                return clients.haveFinished();
            }, MAX_STEPS);
            clients.finish();
        }
    }

    private static void plan(
        final SimCluster cluster, final SimCluster.Compute spare, final Set<SimCluster.Compute> activated)
    {
        final RandomGenerator random = cluster.world().random();
        final long atNs = random.nextLong(2 * SECOND_NS);
        final Runnable activation = () ->
        {
            activated.add(spare);
            activate(cluster, spare);
        };
        switch (random.nextInt(6))
        {
            case 0 -> cluster.world().after(atNs, spare.machine()::kill);
            case 1 ->
            {
                cluster.world().after(atNs, spare.server()::drain);
                cluster.world().after(atNs + random.nextLong(SECOND_NS), spare.node()::leave);
            }
            case 2 -> cluster.world().after(atNs, () -> cluster.pause(spare.machine(), 4 * SimCluster.LEASE_NS));
            case 3 -> cluster.world().after(atNs, activation);
            case 4 ->
            {
                // Who knows that it is dead only when the lease is over activates it.
                cluster.world().after(atNs, spare.machine()::kill);
                cluster.world().after(atNs + random.nextLong(SimCluster.LEASE_NS), activation);
            }
            default ->
            {
                // never
            }
        }
    }
}
