package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest.Kind;
import io.verbena.protocol.request.ControlRequest.Status;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Creations that find too few chunks: they wait for what is being returned, and for nothing else. */
class CreationMemorySimTest
{
    private static final int CHUNKS = 8;
    private static final int ROUNDS = 200;
    private static final long TIMEOUT_NS = 1_000_000_000;
    private static final long SHORT_NS = 1_000_000;
    private static final long RECORDS = 50;
    private static final long TOO_MANY_RECORDS = 100_000;

    /** Made through one node and dropped through the other, as fast as they answer. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldCreateAndDropInALoop(final long seed)
    {
        try (SimCluster cluster = cluster(seed))
        {
            for (int i = 0; i < ROUNDS; i++)
            {
                final ControlRequest created = create(cluster, i % 2, "t" + i, RECORDS, TIMEOUT_NS);
                assertThat(created.status()).as("round %d: %s", i, created.detail()).isEqualTo(Status.OK);
                cluster.control(cluster.computes().get(i / 2 % 2), Kind.DROP_TABLE, "t" + i);
            }
            assertNothingIsLost(cluster);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldSayThatThereIsNoMemoryLongBeforeTheDeadlineWhenNoneIsReturned(final long seed)
    {
        try (SimCluster cluster = cluster(seed))
        {
            final List<ControlRequest> created = fill(cluster);
            final long beganNs = cluster.world().clock().nanoTime();
            final ControlRequest refused = create(cluster, 0, "more", RECORDS, TIMEOUT_NS);

            assertThat(refused.status()).isEqualTo(Status.NO_MEMORY);
            assertThat(cluster.world().clock().nanoTime() - beganNs).isLessThan(TIMEOUT_NS / 4);
            assertThat(created).hasSize(CHUNKS);
            cluster.dropTable("t0");
            final ControlRequest waited = create(cluster, 0, "more", RECORDS, TIMEOUT_NS);
            assertThat(waited.status()).as(waited.detail()).isEqualTo(Status.OK);
            assertThat(((TableReference)waited.result()).id()).as("what finds no memory takes no number")
                .isEqualTo(((TableReference)created.getLast().result()).id() + 1);
            assertNothingIsLost(cluster);
        }
    }

    @Test
    void shouldWaitNoLongerThanItsDeadline()
    {
        try (SimCluster cluster = cluster(1))
        {
            fill(cluster);
            cluster.dropTable("t0");
            final long beganNs = cluster.world().clock().nanoTime();
            final ControlRequest refused = create(cluster, 0, "more", RECORDS, SHORT_NS);

            assertThat(refused.status()).isEqualTo(Status.NO_MEMORY);
            assertThat(refused.detail()).contains("memory was being returned, but not enough until the deadline");
            assertThat(cluster.world().clock().nanoTime() - beganNs).isBetween(SHORT_NS, 2 * SHORT_NS);
            assertNothingIsLost(cluster);
        }
    }

    /** A node that leaves does not stay for a creation that waits: another node may try. */
    @Test
    void shouldLeaveWhileACreationWaits()
    {
        try (SimCluster cluster = cluster(1))
        {
            fill(cluster);
            final SimCluster.Compute leaver = cluster.computes().getFirst();
            cluster.dropTable("t0");
            cluster.world().after(SHORT_NS / 10, leaver.node()::leave);
            final long beganNs = cluster.world().clock().nanoTime();
            final ControlRequest asked = create(cluster, 0, "more", RECORDS, TIMEOUT_NS);

            assertThat(asked.status()).isEqualTo(Status.NOT_SERVING);
            assertThat(cluster.world().clock().nanoTime() - beganNs).isLessThan(2 * SHORT_NS);
            assertThat(create(cluster, 1, "more", RECORDS, TIMEOUT_NS).status()).isEqualTo(Status.OK);
        }
    }

    /** What can never be is not waited for. */
    @Test
    void shouldRefuseAtOnceWhatIsLargerThanTheMemory()
    {
        try (SimCluster cluster = cluster(1))
        {
            final long beganNs = cluster.world().clock().nanoTime();
            final ControlRequest refused = create(cluster, 0, "large", TOO_MANY_RECORDS, TIMEOUT_NS);

            assertThat(refused.status()).isEqualTo(Status.NO_MEMORY);
            assertThat(refused.detail()).contains("which has " + CHUNKS);
            assertThat(cluster.world().clock().nanoTime() - beganNs).isLessThan(SHORT_NS);
            assertThat(create(cluster, 0, "small", RECORDS, TIMEOUT_NS).status()).isEqualTo(Status.OK);
            assertNothingIsLost(cluster);
        }
    }

    private static SimCluster cluster(final long seed)
    {
        return new SimCluster(seed, new SimFabricOptions(), 1, 2, CHUNKS);
    }

    private static List<ControlRequest> fill(final SimCluster cluster)
    {
        final List<ControlRequest> created = new ArrayList<>();
        for (int i = 0; i < CHUNKS; i++)
        {
            created.add(create(cluster, i % 2, "t" + i, RECORDS, TIMEOUT_NS));
            assertThat(created.getLast().status()).as(created.getLast().detail()).isEqualTo(Status.OK);
        }
        return created;
    }

    private static ControlRequest create(
        final SimCluster cluster, final int node, final String name, final long expectedRecords, final long timeoutNs)
    {
        return cluster.asked(cluster.computes().get(node), Kind.CREATE_TABLE, name, expectedRecords, timeoutNs);
    }

    private static void assertNothingIsLost(final SimCluster cluster)
    {
        cluster.settle();
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("%s", check).isTrue();
        assertThat(check.lostBytes()).as("%s", check).isZero();
    }
}
