package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.agrona.concurrent.Agent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Clients fill the meta server and go on asking: nodes are fenced, join, and epochs go on all the same. */
class FullMetaServerSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long TIMEOUT_NS = 50_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long RETRY_NS = 2_000_000;
    /** Longer than the 2 s between the epochs of an idle cluster. */
    private static final long IDLE_EPOCHS_NS = 2_200_000_000L;
    private static final int PLACES = 3;
    private static final int CLIENTS = 6;

    /** Connects, and connects again when it was refused. */
    private static final class Caller implements Agent
    {
        private final SimCluster cluster;
        private final RaasContext raas;
        private VirtualQp vqp;
        private long retryAtNs;

        Caller(final SimCluster cluster, final int number)
        {
            this.cluster = cluster;
            final SimNode machine = cluster.world().addNode("caller-" + number);
            raas = RaasContext.open(machine.device(), new RaasConfiguration().identity(PeerIdentity.CLIENT));
            connect();
            machine.addAgent(this);
        }

        private void connect()
        {
            vqp = raas.connect(cluster.metaServer().address(), (on, cookie, status) -> {}, TIMEOUT_NS);
        }

        boolean isConnected()
        {
            return VirtualQp.State.READY == vqp.state();
        }

        @Override
        public int doWork()
        {
            final int workCount = raas.poll();
            final long nowNs = cluster.world().clock().nanoTime();
            if (VirtualQp.State.FAILED == vqp.state() && nowNs - retryAtNs >= 0)
            {
                vqp.close();
                connect();
                retryAtNs = nowNs + RETRY_NS;
                return workCount + 1;
            }
            return workCount;
        }

        @Override
        public void onClose()
        {
            raas.close();
        }

        @Override
        public String roleName()
        {
            return "caller";
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1})
    void shouldFenceAndGoOnWithEpochs(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 2))
        {
            final KvTable table = cluster.createTable("t", 50);
            cluster.metaOptions((options) -> options.maxClients(PLACES));
            cluster.moveMetaServer();
            cluster.runFor(2 * SimCluster.LEASE_NS);
            cluster.world().runUntil(() -> 2 == cluster.metaServer().stat().liveComputeNodes(), MAX_STEPS);
            final List<Caller> callers = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++)
            {
                callers.add(new Caller(cluster, i));
            }
            cluster.world().runUntil(() -> cluster.metaServer().refusedConnections() > 2 * CLIENTS, MAX_STEPS);
            assertThat(callers.stream().filter(Caller::isConnected)).as("seed %d", seed).hasSize(PLACES);

            final SimCluster.Compute dead = cluster.computes().getFirst();
            cluster.forget(dead);
            dead.machine().kill();
            cluster.world().runUntil(() -> 1 == cluster.metaServer().stat().liveComputeNodes() &&
                0 == cluster.metaServer().stat().fencingNodes(), MAX_STEPS);
            final long safeEpoch = cluster.metaServer().stat().safeEpoch();
            cluster.runFor(IDLE_EPOCHS_NS);
            assertThat(cluster.metaServer().stat().safeEpoch()).as("seed %d", seed).isGreaterThan(safeEpoch);
            cluster.world().runUntil(
                table.withTimeout(TIMEOUT).putAsync(new byte[]{1}, new byte[1])::isDone, MAX_STEPS);
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            assertThat(callers.stream().filter(Caller::isConnected)).as("seed %d", seed).hasSize(PLACES);
        }
    }
}
