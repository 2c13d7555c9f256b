package io.verbena.embedded;

import io.verbena.client.KvException;
import io.verbena.client.routing.RemoteNodes;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.raas.BatchListener;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.agrona.concurrent.Agent;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Compute nodes that wait until clients are sent to them. */
class SpareNodeSimTest
{
    private static final long MAX_STEPS = 40_000_000;
    private static final long TIMEOUT_NS = 400_000_000;
    private static final int OPERATIONS = 300;
    private static final long MAX_PAUSE_NS = 2_000_000;
    private static final long HEARTBEAT_NS = SimCluster.LEASE_NS / 400;
    /** The goal; a client that lists the nodes by itself does so once a second. */
    private static final long MOST_NS = 20_000_000;

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, Long.getLong("verbena.sim.seeds", 2));
    }

    /** A process that activates a node, as an autoscaler does. */
    static ControlCall<Void> activate(final SimCluster cluster, final SimCluster.Compute spare)
    {
        final SimNode tool = cluster.world().addNode("tool-" + spare.node().incarnation());
        final RaasContext raas = RaasContext.open(tool.device(), new RaasConfiguration());
        final VirtualQp vqp = raas.connect(
            cluster.metaServer().address(), BatchListener.CALLS_ONLY, TIMEOUT_NS);
        final ControlCall<Void> call =
            new MetaClient(raas, vqp).activate(spare.node().nodeId(), spare.node().incarnation(), TIMEOUT_NS);
        tool.addAgent(new Agent()
        {
            @Override
            public int doWork()
            {
                return raas.poll();
            }

            @Override
            public String roleName()
            {
                return "tool";
            }
        });
        return call;
    }

    static SimCluster.Compute addSpare(final SimCluster cluster)
    {
        cluster.addsSpares = true;
        final SimCluster.Compute spare = cluster.addComputeNode();
        cluster.world().runUntil(spare::isServing, MAX_STEPS);
        cluster.addsSpares = false;
        return spare;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldServeItsFirstRequestWithinTwentyMillisecondsOfItsActivation(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            final SimClients clients = new SimClients(
                cluster.world(), cluster.createTable("t", 50), 8, OPERATIONS, TIMEOUT_NS);
            clients.start(4, MAX_PAUSE_NS);
            final RemoteNodes client = cluster.remoteNodes();
            final long before = client.listings();
            cluster.world().runUntil(() -> client.listings() > before, MAX_STEPS);
            cluster.runFor(10_000_000);
            assertThat(spare.node().operationFigures().answeredCount()).as("before it is activated").isZero();

            final long beganNs = cluster.world().clock().nanoTime();
            final ControlCall<Void> call = activate(cluster, spare);
            cluster.world().runUntil(() -> spare.node().operationFigures().answeredCount() > 0, MAX_STEPS);
            assertThat(call.isDone()).isTrue();
            assertThat(call.status()).isEqualTo(ControlStatus.OK);
            assertThat(cluster.world().clock().nanoTime() - beganNs).as("seed %d", seed).isLessThan(MOST_NS);
            clients.finish(MAX_STEPS);
            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages()).isEmpty();
        }
    }

    /** It can reach memory, so it counts for the epoch; it says what it passed as soon as anybody waits. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldNotDelayWhoWaitsForEpochs(final long seed)
    {
        reclaim(seed, false);
    }

    /** Nodes hear of that later than of anything else. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldNotDelayWhoWaitsForEpochsWhenItIsActivatedMeanwhile(final long seed)
    {
        reclaim(seed, true);
    }

    private static void reclaim(final long seed, final boolean isActivated)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 0))
        {
            cluster.heartbeatNs(HEARTBEAT_NS);
            final SimCluster.Compute compute = cluster.addComputeNode();
            cluster.world().runUntil(compute::isServing, MAX_STEPS);
            final SimCluster.Compute spare = addSpare(cluster);
            addSpare(cluster);
            cluster.createTable("t", 100);
            cluster.runFor(3 * SimCluster.LEASE_NS);
            cluster.dropTable("t");
            if (isActivated)
            {
                activate(cluster, spare);
            }
            final long droppedNs = cluster.world().clock().nanoTime();
            while (((SpaceFigures)cluster.control(compute, ControlRequest.Kind.SPACE_FIGURES, null)).isReclaiming())
            {
                assertThat(cluster.world().clock().nanoTime() - droppedNs).isLessThan(SimCluster.LEASE_NS / 2);
                cluster.runFor(HEARTBEAT_NS);
            }
        }
    }

    /** Killed while it waits, or at any moment of its activation: whoever works hears nothing of it. */
    @ParameterizedTest
    @MethodSource("seeds")
    void shouldFailNoOperationWhenASpareDiesBeforeItServes(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, true))
        {
            final SimCluster.Compute spare = addSpare(cluster);
            final SimClients clients = new SimClients(
                cluster.world(), cluster.createTable("t", 50), 8, OPERATIONS, TIMEOUT_NS);
            clients.start(4, MAX_PAUSE_NS);
            cluster.runFor(5_000_000);
            spare.machine().kill();
            cluster.runFor(cluster.world().random().nextLong(2 * SimCluster.LEASE_NS));
            activate(cluster, spare);
            clients.finish(MAX_STEPS);
            assertThat(clients.failures()).as("seed %d: %s", seed, clients.messages())
                .doesNotContainKeys(KvException.Category.OUTCOME_UNKNOWN, KvException.Category.CORRUPT);
        }
    }
}
