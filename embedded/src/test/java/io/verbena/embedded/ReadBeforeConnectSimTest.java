package io.verbena.embedded;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A compute node joins while the memory nodes' processors stand still: it reads their tables all the same, over DC, out
 * of what the meta server's directory says of them. Changes and whatever needs an answer wait for the queue pair.
 */
class ReadBeforeConnectSimTest
{
    private static final long MAX_STEPS = 5_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(10_000_000);
    private static final int KEYS = 20;

    static LongStream seeds()
    {
        return LongStream.rangeClosed(1, 20);
    }

    private static byte[] key(final int number)
    {
        return ("key-" + number).getBytes();
    }

    private static <T> T await(final SimCluster cluster, final CompletableFuture<T> future)
    {
        cluster.world().runUntil(future::isDone, MAX_STEPS);
        return future.join();
    }

    private static VerbCounters counters(final SimCluster cluster, final SimCluster.Compute compute)
    {
        return (VerbCounters)cluster.control(compute, ControlRequest.Kind.VERB_COUNTERS, null);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldServeReadsWhileMemoryNodesStandStillAndChangesAfterwards(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 2, 1))
        {
            final KvTable table = cluster.createTable("t", 50);
            for (int i = 0; i < KEYS; i++)
            {
                await(cluster, table.withTimeout(TIMEOUT).putAsync(key(i), key(i)));
            }
            cluster.memoryMachines().forEach(SimNode::pause);
            final long beganNs = cluster.world().clock().nanoTime();

            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            cluster.forget(cluster.computes().getFirst());
            final VerbCounters before = counters(cluster, late);
            assertThat(await(cluster, table.withTimeout(TIMEOUT).getAsync(key(0))).map(KvEntry::value))
                .contains(key(0));
            final VerbCounters after = counters(cluster, late);
            // What is sent meanwhile goes to the meta server: nobody else listens.
            assertThat(after.doorbells - after.sends - before.doorbells + before.sends)
                .as("round trips of the first GET").isEqualTo(2);
            assertThat(after.writes + after.compareSwaps + after.fetchAdds).isZero();
            for (int i = 1; i < KEYS; i++)
            {
                final Optional<KvEntry> found = await(cluster, table.withTimeout(TIMEOUT).getAsync(key(i)));
                assertThat(found.map(KvEntry::value)).as("seed %d", seed).contains(key(i));
            }
            final CompletableFuture<Long> put = table.withTimeout(TIMEOUT).putAsync(key(1), key(2));
            cluster.runFor(1_000_000);
            assertThat(put).as("a change without a queue pair").isNotDone();
            assertThat(cluster.world().clock().nanoTime() - beganNs).as("within a lease").isLessThan(
                SimCluster.LEASE_NS);

            cluster.memoryMachines().forEach(SimNode::resume);
            await(cluster, put);
            assertThat(await(cluster, table.withTimeout(TIMEOUT).getAsync(key(1))).map(KvEntry::value))
                .contains(key(2));
        }
    }
}
