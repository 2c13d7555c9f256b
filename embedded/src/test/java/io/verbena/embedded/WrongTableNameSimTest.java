package io.verbena.embedded;

import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A request whose table name does not belong to its table id fails alone. */
class WrongTableNameSimTest
{
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final long MAX_STEPS = 10_000_000;

    private static final class Get extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            // polled
        }
    }

    @Test
    void shouldRefuseOnlyTheRequestWithTheWrongName()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 2, 24))
        {
            cluster.createTable("t", 10);
            final int id = cluster.tables().getFirst().tableId();
            final Get wrong = get(cluster, new TableReference("other", id));
            final Get right = get(cluster, new TableReference("t", id));
            cluster.world().runUntil(
                () -> NodeRequest.DONE == wrong.state() && NodeRequest.DONE == right.state(), MAX_STEPS);
            assertThat(right.answer()).isEqualTo(OperationAnswer.NOT_FOUND);
            assertThat(wrong.answer()).isEqualTo(OperationAnswer.NO_SUCH_TABLE);
        }
    }

    private static Get get(final SimCluster cluster, final TableReference table)
    {
        final Get get = new Get();
        get.ask(RequestKind.GET, table, new byte[]{1}, null, 0, cluster.world().clock().nanoTime() + TIMEOUT_NS);
        assertThat(cluster.computes().getLast().node().endpoint().submit(get)).isZero();
        return get;
    }
}
