package io.verbena.embedded;

import io.verbena.meta.MetaServerStat;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Many compute nodes join at once: the view changes while all of them read it. */
class JoinTogetherSimTest
{
    private static final long MAX_STEPS = 40_000_000;
    private static final int NODES = 60;
    private static final int TABLES = 3;

    @ParameterizedTest
    @ValueSource(longs = {1})
    void shouldAllServeAndKeepEveryLease(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 1))
        {
            for (int i = 0; i < TABLES; i++)
            {
                cluster.createTable("t" + i, 50);
            }
            final long aloneBeganNs = cluster.world().clock().nanoTime();
            final SimCluster.Compute alone = cluster.addComputeNode();
            cluster.world().runUntil(alone::isServing, MAX_STEPS);
            final long aloneNs = cluster.world().clock().nanoTime() - aloneBeganNs;

            final long beganNs = cluster.world().clock().nanoTime();
            final List<SimCluster.Compute> joining = new ArrayList<>();
            for (int i = 0; i < NODES; i++)
            {
                joining.add(cluster.addComputeNode());
            }
            cluster.world().runUntil(() -> joining.stream().allMatch(SimCluster.Compute::isServing), MAX_STEPS);
            final long slowestNs = cluster.world().clock().nanoTime() - beganNs;
            long reads = 0;
            long sends = 0;
            for (final SimCluster.Compute each : joining)
            {
                final VerbCounters c = (VerbCounters)cluster.control(each, ControlRequest.Kind.VERB_COUNTERS, null);
                reads += c.reads;
                sends += c.sends;
            }
            final MetaServerStat stat = cluster.metaServer().stat();
            assertThat(stat.liveComputeNodes()).isEqualTo(NODES + 2);
            assertThat(stat.fencingNodes()).isZero();
            assertThat(cluster.metaServer().refusedConnections()).isZero();
            assertThat(sends).as("calls: REGISTER, USERS, REVOCATIONS and VIEWS of each").isEqualTo(4 * NODES);
            assertThat(reads).as("lists of two READs, some of them read again").isBetween(2L * NODES, 6L * NODES);
            assertThat(slowestNs).as("beside %d ns alone", aloneNs).isLessThan(NODES * aloneNs);
        }
    }
}
