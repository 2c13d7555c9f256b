package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Index chunks that no table has come back whatever question or answer is lost on the way, and only once. */
class IndexReturnSimTest
{
    private static final int CHUNKS = 24;
    private static final long STEP_NS = 500;
    private static final int STEPS_BEFORE_A_RETURN = 24;
    private static final long CREATE_STEP_NS = 1_500;
    private static final int CREATE_STEPS = 64;
    private static final long CREATE_TIMEOUT_NS = 100_000_000;
    private static final Duration PUT_TIMEOUT = Duration.ofNanos(20_000_000);
    private static final long ANSWER_DELAY_NS = SimCluster.LEASE_NS / 2 + 500_000;
    private static final int CREATIONS = 60;
    /** Before a creation begins again. */
    private static final long LATE_NS = 50_000;
    /** More than a creation takes that does not begin again. */
    private static final long AGAIN_NS = 1_000_000;
    private static final long CREATION_PAUSE_NS = 1_000_000;
    private static final long MAX_STEPS = 20_000_000;

    /** The call that returns the chunks is cut off at each moment of its way, so that it is lost, or its answer. */
    @Test
    void shouldReturnTheIndexOfADroppedTableWhenTheConnectionBreaksMeanwhile()
    {
        final long returnedAtNs;
        try (SimCluster cluster = cluster())
        {
            returnedAtNs = whenDroppedIsReturned(cluster);
        }
        for (int i = 0; i <= STEPS_BEFORE_A_RETURN; i++)
        {
            try (SimCluster cluster = cluster())
            {
                final long brokenAtNs = returnedAtNs - i * STEP_NS;
                dropAt(cluster);
                cluster.world().runUntil(() -> cluster.world().clock().nanoTime() >= brokenAtNs, MAX_STEPS);
                breakAll(cluster);
                assertNothingIsTaken(cluster, "broken " + i * STEP_NS + " ns before the return");
            }
        }
    }

    /** Its answer is lost, and before it is asked for again the chunk is another table's. */
    @Test
    void shouldLeaveAChunkAloneThatIsSomebodyElsesWhenItIsReturnedAgain()
    {
        try (SimCluster cluster = cluster())
        {
            whenDroppedIsReturned(cluster);
            cluster.computes().getFirst().machine().device().breakConnections(
                cluster.memoryMachines().getFirst().device());
            final List<String> names = new ArrayList<>();
            ControlRequest created;
            do
            {
                names.add("table-" + names.size());
                created = cluster.asked(cluster.computes().getLast(), ControlRequest.Kind.CREATE_TABLE,
                    names.getLast(), 50, CREATE_TIMEOUT_NS);
            }
            while (ControlRequest.Status.OK == created.status() && names.size() < 4 * CHUNKS);
            assertThat(created.status()).as(created.detail()).isEqualTo(ControlRequest.Status.NO_MEMORY);

            cluster.settle();
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
            assertThat(check.spaces().getFirst().freeChunkBytes).isZero();
            assertThat(check.lostBytes()).as("%s", check).isZero();
        }
    }

    /** Who split it asks again after the answer to its publication was lost; the table is dropped, its memory used. */
    @Test
    void shouldLeaveSubtablesAloneThatWereReturnedWithTheirTable()
    {
        try (SimCluster cluster = new SimCluster(3, new SimFabricOptions(), 1, 1, CHUNKS))
        {
            final KvTable table = cluster.createTable("t", 50);
            final SimCluster.Compute other = cluster.addComputeNode();
            cluster.world().runUntil(other::isServing, MAX_STEPS);
            cluster.forget(other); // by the client: only the splitter works on the table
            fillUntilPublished(cluster, table);
            cluster.metaMachine().pause(); // it has written the descriptor, and answers too late
            cluster.world().after(ANSWER_DELAY_NS, cluster.metaMachine()::resume);
            cluster.control(other, ControlRequest.Kind.DROP_TABLE, "t");
            int created = 0;
            for (int i = 0; i < CREATIONS; i++)
            {
                created += ControlRequest.Status.OK == cluster.asked(other, ControlRequest.Kind.CREATE_TABLE,
                    "table-" + i, 50, CREATE_TIMEOUT_NS).status() ? 1 : 0;
                cluster.runFor(CREATION_PAUSE_NS);
            }
            cluster.settle();
            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
            // The old subtable is back too, though the answer was lost; the chunk of the records may be.
            assertThat(created).as("tables of a chunk each").isBetween(CHUNKS - 1, CHUNKS);
        }
    }

    private static void fillUntilPublished(final SimCluster cluster, final KvTable table)
    {
        final int depth = cluster.tables().getFirst().depth();
        for (int i = 0; cluster.tables().getFirst().depth() == depth; i++)
        {
            final byte[] key = ("key-" + i).getBytes(StandardCharsets.US_ASCII);
            final boolean[] isEnded = {false};
            table.withTimeout(PUT_TIMEOUT).putAsync(key, key).whenComplete((version, error) -> isEnded[0] = true);
            cluster.world().runUntil(
                () -> isEnded[0] || cluster.tables().getFirst().depth() > depth, MAX_STEPS);
        }
    }

    /** Nothing that a creation has leased stays taken, whether it begins again or its deadline is over by then. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void shouldReturnWhatACreationHasLeasedWhenItIsHurt(final boolean isProcessKilled, final boolean isLate)
    {
        int hurt = 0;
        for (int i = 0; i < CREATE_STEPS; i++)
        {
            try (SimCluster cluster = isProcessKilled ?
                SimCluster.durable(3, new SimFabricOptions(), 2, 1, Flaw.NONE) : cluster())
            {
                final long hurtNs = 1 + i * CREATE_STEP_NS;
                final long beganNs = cluster.world().clock().nanoTime();
                cluster.world().after(hurtNs, () -> hurt(cluster, isProcessKilled));
                final ControlRequest created = cluster.asked(cluster.computes().getLast(),
                    ControlRequest.Kind.CREATE_TABLE, "t", 50, isLate ? hurtNs + LATE_NS : CREATE_TIMEOUT_NS);
                final boolean isMade = ControlRequest.Status.OK == created.status();
                assertThat(isLate || isMade).as("hurt after %d ns: %s", hurtNs, created.detail()).isTrue();
                hurt += !isMade || cluster.world().clock().nanoTime() - beganNs > AGAIN_NS ? 1 : 0;
                cluster.runFor(2 * SimCluster.LEASE_NS);
                assertNothingIsTaken(cluster, "hurt after " + hurtNs + " ns: " + created.status());
            }
        }
        assertThat(hurt).as("creations that began again, or were given up").isPositive();
    }

    private static SimCluster cluster()
    {
        return new SimCluster(3, new SimFabricOptions(), 1, 2, CHUNKS);
    }

    private static void dropAt(final SimCluster cluster)
    {
        cluster.createTable("t", 50);
        cluster.dropTable("t");
    }

    private static long whenDroppedIsReturned(final SimCluster cluster)
    {
        dropAt(cluster);
        cluster.world().runUntil(
            () -> 0 == cluster.memoryHosts().getFirst().node().stat().indexChunkCount(), MAX_STEPS);
        return cluster.world().clock().nanoTime();
    }

    private static void hurt(final SimCluster cluster, final boolean isProcessKilled)
    {
        if (isProcessKilled)
        {
            final SimMemoryHost host = cluster.memoryHosts().getLast();
            host.killProcess();
            cluster.world().after(SimCluster.LEASE_NS / 4, host::start);
        }
        else
        {
            breakAll(cluster);
        }
    }

    private static void breakAll(final SimCluster cluster)
    {
        for (final SimCluster.Compute compute : cluster.computes())
        {
            for (final SimNode memory : cluster.memoryMachines())
            {
                compute.machine().device().breakConnections(memory.device());
            }
        }
    }

    private static void assertNothingIsTaken(final SimCluster cluster, final String when)
    {
        cluster.settle();
        final StoreCheck check = cluster.check(cluster.tables());
        assertThat(check.isSound()).as("%s: %s", when, check).isTrue();
        assertThat(check.lostBytes()).as("%s: %s", when, check).isZero();
    }
}
