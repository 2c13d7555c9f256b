package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.ComputeNode;
import io.verbena.protocol.request.ControlRequest.Kind;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Requests about tables: many at once, for more memory than there is, and such as nobody has checked. */
class ControlTasksSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long TIMEOUT_NS = 1_000_000_000;
    private static final int CHUNKS = 24;
    private static final byte[] KEY = {1, 2, 3};

    /** A request whose end is polled. */
    private static final class Asked extends ControlRequest
    {
        Asked(final Kind kind, final String name, final long expectedRecords, final long deadlineNs)
        {
            super(kind, name, expectedRecords, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            // polled
        }
    }

    /** More creations than calls that a node may have under way, from two nodes. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldCreateManyTablesAskedForAtOnce(final long seed)
    {
        final int count = 100;
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 2, 127))
        {
            final List<Asked> creations = new ArrayList<>();
            for (int i = 0; i < count; i++)
            {
                creations.add(asked(cluster, i % 2, Kind.CREATE_TABLE, "t" + i, 50, TIMEOUT_NS));
            }
            final Asked list = asked(cluster, 0, Kind.LIST_TABLES, null, 0, TIMEOUT_NS);
            awaitAll(cluster, creations);
            awaitAll(cluster, List.of(list));

            assertThat(creations).allMatch((creation) -> Status.OK == creation.status());
            assertThat(list.status()).isEqualTo(Status.OK);
            assertThat(cluster.tables()).hasSize(count);
            assertSoundAndServing(cluster);
        }
    }

    /** The deadlines of some pass while they wait; those have changed nothing. */
    @Test
    void shouldFailWhatItCannotBeginInTime()
    {
        final int count = 60;
        try (SimCluster cluster = new SimCluster(7, new SimFabricOptions(), 2, 1, 127))
        {
            cluster.metaMachine().pause();
            final List<Asked> creations = new ArrayList<>();
            for (int i = 0; i < count; i++)
            {
                creations.add(asked(cluster, 0, Kind.CREATE_TABLE, "t" + i, 50, SimCluster.LEASE_NS / 10));
            }
            cluster.world().after(SimCluster.LEASE_NS / 5, cluster.metaMachine()::resume);
            awaitAll(cluster, creations);

            assertThat(creations).allMatch((creation) -> Status.TIMED_OUT == creation.status());
            assertThat(creations.getLast().detail()).contains("waited for other requests about tables");
            assertThat(cluster.tables()).isEmpty();
            cluster.createTable("after", 50);
            assertSoundAndServing(cluster);
        }
    }

    /** Whoever is in the node's process can give it what no client and no message would let through. */
    @Test
    void shouldFailRequestsAloneThatNobodyChecked()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, CHUNKS))
        {
            final KvTable table = cluster.createTable("t", 50);
            final int tableId = cluster.tables().getFirst().tableId();
            final ComputeNode node = cluster.computes().getFirst().node();
            for (final Kind kind : new Kind[] {Kind.FIND_TABLE, Kind.CREATE_TABLE})
            {
                final Asked nameless = asked(cluster, 0, kind, null, 50, TIMEOUT_NS);
                awaitAll(cluster, List.of(nameless));
                assertThat(nameless.status()).isEqualTo(Status.REFUSED);
                assertThat(nameless.detail()).contains("failed on this request").contains("NullPointerException");
            }
            for (final int keyBytes : new int[] {0, RequestLimits.MAX_KEY_BYTES + 1, 2 * RequestLimits.MAX_KEY_BYTES})
            {
                final OperationRequest operation = new OperationRequest()
                {
                    @Override
                    protected void onDone()
                    {
                        // polled
                    }
                };
                operation.ask(RequestKind.PUT, new TableReference("t", tableId), new byte[keyBytes], KEY, 0,
                    cluster.world().clock().nanoTime() + TIMEOUT_NS);
                node.endpoint().submit(operation);
                cluster.world().runUntil(() -> NodeRequest.DONE == operation.state(), MAX_STEPS);
                assertThat(operation.answer()).isEqualTo(OperationAnswer.UNREACHABLE);
                assertThat(operation.detail()).contains("keyBytes=" + keyBytes);
            }

            assertThat(node.failures().requestCount()).isEqualTo(5);
            assertThat(table.putAsync(KEY, KEY)).isNotCompletedExceptionally();
            assertSoundAndServing(cluster);
        }
    }

    private static Asked asked(
        final SimCluster cluster, final int node, final Kind kind, final String name, final long expectedRecords,
        final long timeoutNs)
    {
        final Asked request = new Asked(kind, name, expectedRecords, cluster.world().clock().nanoTime() + timeoutNs);
        cluster.computes().get(node).node().endpoint().submit(request);
        return request;
    }

    private static void awaitAll(final SimCluster cluster, final List<Asked> requests)
    {
        cluster.world().runUntil(
            () -> requests.stream().allMatch((request) -> NodeRequest.DONE == request.state()), MAX_STEPS);
    }

    private static void assertSoundAndServing(final SimCluster cluster)
    {
        assertThat(cluster.computes()).allMatch(SimCluster.Compute::isServing);
        cluster.settle();
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("%s", check).isTrue();
        assertThat(check.lostBytes()).as("%s", check).isZero();
    }
}
