package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What a compute node posts from its first message until it serves, and until it knows that it is up to date. */
class JoinMessagesSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long SETTLED_NS = 500_000;

    private static VerbCounters counters(final SimCluster cluster, final SimCluster.Compute compute)
    {
        return (VerbCounters)cluster.control(compute, ControlRequest.Kind.VERB_COUNTERS, null);
    }

    @ParameterizedTest
    @CsvSource({"1,0", "1,1", "2,3", "4,8"})
    void shouldJoin(final int memoryNodes, final int tables)
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), memoryNodes, 1))
        {
            for (int i = 0; i < tables; i++)
            {
                cluster.createTable("t" + i, 50);
            }
            // No heartbeat of the joining node is due meanwhile.
            cluster.heartbeatNs(SimCluster.LEASE_NS);
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            final VerbCounters joined = counters(cluster, late);
            assertThat(joined.reads).as("of the view").isEqualTo(1);
            assertThat(joined.sends).as("REGISTER, TABLES, and TABLE of each").isEqualTo(2 + tables);
            assertThat(joined.doorbells).isEqualTo(joined.reads + joined.sends);
            assertThat(joined.verbs()).isEqualTo(joined.reads + joined.sends);

            cluster.runFor(SETTLED_NS);
            final VerbCounters settled = counters(cluster, late);
            assertThat(settled.sends - joined.sends).as("TABLE of each once more").isEqualTo(tables);
            assertThat(settled.reads).isEqualTo(joined.reads);
        }
    }
}
