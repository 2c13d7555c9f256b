package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** What a compute node posts from its first message until it serves, and until it knows that it is up to date. */
class JoinMessagesSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long SETTLED_NS = 500_000;
    private static final Duration TIMEOUT = Duration.ofNanos(50_000_000);

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
            assertThat(joined.sends).as("REGISTER; USERS, REVOCATIONS and VIEWS beside the READs").isEqualTo(4);
            assertThat(joined.reads).as("of the nodes and of the tables").isEqualTo(2);
            assertThat(joined.doorbells).as("of the calls and of the READs").isEqualTo(5);
            assertThat(joined.verbs()).isEqualTo(joined.reads + joined.sends);

            cluster.runFor(SETTLED_NS);
            final VerbCounters settled = counters(cluster, late);
            assertThat(settled.sends).as("nothing was asked").isEqualTo(joined.sends);
            assertThat(settled.reads).isEqualTo(joined.reads);
        }
    }

    @ParameterizedTest
    @CsvSource({"0,1", "160,2", "400,4"})
    void shouldFetchTablesByCallsForWhichTheViewHasNoRoom(final int viewTableBytes, final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1))
        {
            cluster.createTable("a", 50);
            final KvTable table = cluster.createTable("b", 50);
            done(cluster, table.withTimeout(TIMEOUT).putAsync(new byte[]{1}, new byte[]{2}));
            cluster.metaOptions((options) -> options.viewTableBytes(viewTableBytes));
            cluster.moveMetaServer();
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            cluster.forget(cluster.computes().getFirst());
            assertThat(done(cluster, table.withTimeout(TIMEOUT).getAsync(new byte[]{1})).orElseThrow().value())
                .containsExactly(2);
        }
    }

    private static <T> T done(final SimCluster cluster, final CompletableFuture<T> future)
    {
        cluster.world().runUntil(future::isDone, MAX_STEPS);
        return future.join();
    }
}
