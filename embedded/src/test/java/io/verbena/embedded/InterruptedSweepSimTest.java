package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.Sweeps;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.check.StoreCheck;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One sweep of all chunks finds every lost byte, also when the connection breaks while the chunks are claimed, and when
 * a node that ended has left more chunks than are claimed at a time.
 */
class InterruptedSweepSimTest
{
    private static final int CHUNKS = 24;
    /** More than two nodes claim at a time, 254 each. */
    private static final int MANY_CHUNKS = 560;
    private static final int VALUE_BYTES = 1_000;
    /** Three in each chunk. */
    private static final int LONG_VALUE_BYTES = 16_384;
    private static final long PUT_STEP_NS = 700;
    private static final Duration TIMEOUT = Duration.ofNanos(8_000_000);
    private static final long MAX_STEPS = 20_000_000;

    /** @param delayNs from the claim to the break: before the claim arrives, or before its answer does. */
    @ParameterizedTest
    @ValueSource(longs = {0, 300, 1_000, 3_000, 10_000})
    void shouldSweepAllChunksWhenTheConnectionBreaksDuringTheClaim(final long delayNs)
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, CHUNKS))
        {
            final SimCluster.Compute node = cluster.computes().getFirst();
            final SimDevice memory = cluster.memoryMachines().getFirst().device();
            loseBytes(cluster, cluster.createTable("t", 50), node, memory);

            cluster.control(node, ControlRequest.Kind.SWEEP, null);
            cluster.world().runUntil(() -> Sweeps.isClaiming(node.node()), MAX_STEPS);
            cluster.runFor(delayNs);
            node.machine().device().breakConnections(memory);
            assertSweeps(cluster, node, 0);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            cluster.settle();
            assertSweeps(cluster, node, 1);

            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
            assertThat(check.lostBytes() + check.unreclaimedBytes()).as("%s", check).isZero();
        }
    }

    /** The chunks of the ended node come first in the memory node, and are more than both nodes claim at a time. */
    @Test
    void shouldSweepOwnChunksBehindTheManyOfANodeThatEnded()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, MANY_CHUNKS + 4 * CHUNKS))
        {
            final SimCluster.Compute victim = cluster.computes().getFirst();
            final KvTable table = cluster.createTable("t", 2_000);
            fill(cluster, table);
            cluster.forget(victim);
            final SimCluster.Compute node = cluster.addComputeNode();
            cluster.world().runUntil(node::isServing, MAX_STEPS);
            loseBytes(cluster, table, node, cluster.memoryMachines().getFirst().device());

            final SimCluster.Compute other = cluster.addComputeNode();
            cluster.world().runUntil(other::isServing, MAX_STEPS);
            victim.machine().kill();
            // One more epoch passes without it, and the next one when it was declared dead: the same lookup of chunk
            // headers shows the node that it may begin, and what the victim left.
            cluster.control(other, ControlRequest.Kind.SWEEP, null);
            cluster.runFor(SimCluster.LEASE_NS / 2);
            cluster.control(node, ControlRequest.Kind.SWEEP, null);
            cluster.settle();
            assertSweeps(cluster, node, 1);

            final StoreCheck check = cluster.check(cluster.tables());
            assertThat(check.isSound()).as("%s", check).isTrue();
            assertThat(check.lostBytes() + check.unreclaimedBytes()).as("%s", check).isZero();
        }
    }

    private static void fill(final SimCluster cluster, final KvTable table)
    {
        for (int i = 0; i < 3 * MANY_CHUNKS; i++)
        {
            final byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(i).array();
            final CompletableFuture<Long> put = table.withTimeout(TIMEOUT).putAsync(key, new byte[LONG_VALUE_BYTES]);
            cluster.world().runUntil(put::isDone, MAX_STEPS);
            assertThat(put).isCompleted();
        }
    }

    /** One was asked for; it has not ended while the memory node cannot be reached. */
    private static void assertSweeps(final SimCluster cluster, final SimCluster.Compute node, final long ended)
    {
        final SpaceFigures figures = (SpaceFigures)cluster.control(node, ControlRequest.Kind.SPACE_FIGURES, null);
        assertThat(figures.sweepsAsked()).isEqualTo(1);
        assertThat(figures.sweepsEnded()).isEqualTo(ended);
    }

    /** Breaks the connection during one update after the other, until the block of one is lost. */
    private static void loseBytes(
        final SimCluster cluster, final KvTable table, final SimCluster.Compute node, final SimDevice memory)
    {
        for (int i = 1; 0 == cluster.check(cluster.tables()).lostBytes(); i++)
        {
            assertThat(i).as("breaks that lost nothing").isLessThan(40);
            final CompletableFuture<Long> put =
                table.withTimeout(TIMEOUT).putAsync(new byte[]{1}, new byte[VALUE_BYTES]);
            cluster.runFor(i * PUT_STEP_NS);
            node.machine().device().breakConnections(memory);
            cluster.world().runUntil(put::isDone, MAX_STEPS);
            cluster.runFor(2 * SimCluster.LEASE_NS);
            cluster.settle();
        }
    }
}
