package io.verbena.embedded;

import com.sun.management.ThreadMXBean;
import io.verbena.client.KvTable;
import io.verbena.compute.figures.NodeSpace;
import io.verbena.compute.figures.SpaceFigures;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.allocation.HeldConsumer;
import io.verbena.table.allocation.HeldRange;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** What a node says that it holds: the sums are those of the list, and cost it nothing that grows with the list. */
class SpaceFiguresSimTest
{
    private static final int KEYS = 2_000;
    private static final long TIMEOUT_NS = 1_000_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long MAX_STEPS = 1_000_000;
    /** An object for each block would be some 100 kB. */
    private static final long MOST_BYTES = 4096;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    /** Notes what the thread has allocated in all when it was answered. */
    private static final class Asked extends ControlRequest
    {
        private boolean isAnswered;
        private long allocatedBytes;

        Asked(final Kind kind, final SimCluster cluster)
        {
            super(kind, null, 0, cluster.world().clock().nanoTime() + TIMEOUT_NS);
        }

        @Override
        protected void onDone()
        {
            allocatedBytes = THREADS.getCurrentThreadAllocatedBytes();
            isAnswered = true;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldAgreeWithTheListWhileOperationsAreUnderWay(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 1))
        {
            final KvTable table = cluster.createTable("t", KEYS);
            for (int i = 0; i < KEYS; i++)
            {
                final byte[] value = new byte[cluster.world().random().nextInt(2_000)];
                table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)(i % 50), 1}, value);
                table.withTimeout(TIMEOUT).deleteAsync(new byte[]{(byte)(i % 7), 1});
                if (i % 20 == 0)
                {
                    cluster.runFor(2_000 + cluster.world().random().nextLong(20_000));
                    agree(cluster);
                }
            }
        }
    }

    @Test
    void shouldCostLittleHoweverMuchIsHeld()
    {
        try (SimCluster cluster = new SimCluster(4, new SimFabricOptions(), 1, 1))
        {
            final KvTable table = cluster.createTable("t", KEYS);
            for (int i = 0; i < 2 * KEYS; i++)
            {
                // the second time around, the block of the first is retired
                table.withTimeout(TIMEOUT).putAsync(new byte[]{(byte)(i % KEYS), (byte)(i % KEYS >> 8)}, new byte[1]);
            }
            cluster.runFor(2 * SimCluster.LEASE_NS);
            assertThat(cluster.spaces().getFirst().held()).hasSizeGreaterThanOrEqualTo(KEYS);
            long least = Long.MAX_VALUE;
            for (int i = 0; i < 5; i++)
            {
                final Asked before = new Asked(ControlRequest.Kind.SPACE_FIGURES, cluster);
                final Asked sums = new Asked(ControlRequest.Kind.SPACE_FIGURES, cluster);
                ask(cluster, before, sums);
                least = Math.min(least, sums.allocatedBytes - before.allocatedBytes);
            }
            assertThat(least).as("bytes allocated from one answer to the next").isLessThan(MOST_BYTES);
        }
    }

    private static void agree(final SimCluster cluster)
    {
        final Asked list = new Asked(ControlRequest.Kind.SPACE, cluster);
        final Asked sums = new Asked(ControlRequest.Kind.SPACE_FIGURES, cluster);
        ask(cluster, list, sums);
        final NodeSpace space = (NodeSpace)list.result();
        assertThat(sums.result()).isEqualTo(new SpaceFigures(
            space.held().stream().mapToLong(HeldRange::lengthBytes).sum(), space.isReclaiming(),
            space.unknownBytes(),
            space.held().stream().filter((range) -> HeldConsumer.QUARANTINED == range.kind())
                .mapToLong(HeldRange::lengthBytes).sum(), 0, 0));
    }

    /** Both are answered in one turn of the node: nothing else happens in between. */
    private static void ask(final SimCluster cluster, final Asked first, final Asked second)
    {
        final SimCluster.Compute compute = cluster.computes().getFirst();
        compute.node().endpoint().submit(first);
        compute.node().endpoint().submit(second);
        cluster.world().runUntil(() -> first.isAnswered && second.isAnswered, MAX_STEPS);
    }
}
