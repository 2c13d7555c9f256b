package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.ControlRequest.Kind;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.rdma.sim.schedule.SimFabricOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Requests about tables, asked of compute nodes that do not know yet that their meta server ended. */
class MetaServerMoveSimTest
{
    /** Shorter than what is left of a lease. */
    private static final long TIMEOUT_NS = 10_000_000;

    /** A broken connection is found while leases last. */
    private static SimFabricOptions options()
    {
        return new SimFabricOptions().retryTimeoutNs(1_000_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldAnswerAsIfTheMetaServerHadNotMoved(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, options(), 1, 4))
        {
            cluster.createTable("t", 50);
            cluster.moveMetaServer();
            assertThat(cluster.control(cluster.computes().get(0), Kind.LIST_TABLES, null)).isEqualTo(List.of("t"));
            assertThat(cluster.control(cluster.computes().get(1), Kind.FIND_TABLE, "t")).isNotNull();
            final ControlRequest missing =
                cluster.asked(cluster.computes().get(2), Kind.FIND_TABLE, "none", 0, TIMEOUT_NS);
            assertThat(missing.status()).isEqualTo(Status.NOT_FOUND);
            final ControlRequest created =
                cluster.asked(cluster.computes().get(3), Kind.CREATE_TABLE, "more", 50, TIMEOUT_NS);
            assertThat(created.status()).as(created.detail()).isEqualTo(Status.OK);
            assertThat(cluster.control(cluster.computes().get(0), Kind.LIST_TABLES, null))
                .isEqualTo(List.of("more", "t"));
        }
    }

    @Test
    void shouldTryUntilTheDeadlineAndSayWhyItWasInVain()
    {
        try (SimCluster cluster = new SimCluster(7, options(), 1, 1))
        {
            cluster.metaMachine().kill();
            final long beganAtNs = cluster.world().clock().nanoTime();
            final ControlRequest listed =
                cluster.asked(cluster.computes().getFirst(), Kind.LIST_TABLES, null, 0, TIMEOUT_NS);
            assertThat(listed.status()).isEqualTo(Status.TIMED_OUT);
            assertThat(listed.detail()).startsWith("tables: ");
            assertThat(cluster.world().clock().nanoTime() - beganAtNs).isBetween(TIMEOUT_NS, 2 * TIMEOUT_NS);
        }
    }
}
