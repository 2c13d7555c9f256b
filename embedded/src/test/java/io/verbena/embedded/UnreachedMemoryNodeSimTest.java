package io.verbena.embedded;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node that a compute node has never reached: its tables fail at once, and others go on. */
class UnreachedMemoryNodeSimTest
{
    private static final int CHUNKS = 24;
    private static final int MANY = 100;
    private static final long DEADLINE_NS = 2_000_000_000L;
    private static final long FAST_NS = 60_000_000;
    private static final long MAX_STEPS = 100_000_000;

    private static final class Get extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            // polled
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldFailFastThereAndServeTheOthers(final long seed)
    {
        try (SimCluster cluster = new SimCluster(seed, new SimFabricOptions(), 1, 1, CHUNKS))
        {
            cluster.createTable("lost", 1);
            final SimMemoryHost second = cluster.newMemoryHost("memory-2", null);
            second.start();
            cluster.world().runUntil(second::isReady, MAX_STEPS);
            cluster.memoryMachines().getFirst().kill();
            final SimCluster.Compute late = cluster.addComputeNode();
            cluster.world().runUntil(late::isServing, MAX_STEPS);
            assertThat(cluster.asked(late, ControlRequest.Kind.CREATE_TABLE, "healthy", 1, DEADLINE_NS).status())
                .isEqualTo(ControlRequest.Status.OK);
            final TableDescriptor lost = table(cluster, "lost");
            final List<Get> gets = new ArrayList<>();
            for (int i = 0; i < MANY; i++)
            {
                gets.add(get(cluster, late, lost, i));
            }
            final Get other = get(cluster, late, table(cluster, "healthy"), 1);
            final long begunNs = cluster.world().clock().nanoTime();
            cluster.world().runUntil(() -> NodeRequest.DONE == other.state() &&
                gets.stream().allMatch((get) -> NodeRequest.DONE == get.state()), MAX_STEPS);
            assertThat(cluster.world().clock().nanoTime() - begunNs).isLessThan(FAST_NS);
            assertThat(other.answer()).isEqualTo(OperationAnswer.NOT_FOUND);
            assertThat(gets).allMatch((get) -> OperationAnswer.UNREACHABLE == get.answer());
            assertThat(late.node().memoryNodeFailures()).containsOnlyKeys(nodeId(lost));
        }
    }

    private static TableDescriptor table(final SimCluster cluster, final String name)
    {
        return cluster.tables().stream().filter((table) -> table.name().equals(name)).findFirst().orElseThrow();
    }

    private static int nodeId(final TableDescriptor table)
    {
        return DirectoryEntry.memoryNodeId(table.entry(0));
    }

    private static Get get(
        final SimCluster cluster, final SimCluster.Compute compute, final TableDescriptor table, final int key)
    {
        final Get get = new Get();
        get.ask(RequestKind.GET, new TableReference(table.name(), table.tableId()),
            ByteBuffer.allocate(Integer.BYTES).putInt(key).array(), null, 0,
            cluster.world().clock().nanoTime() + DEADLINE_NS);
        assertThat(compute.node().endpoint().submit(get)).isZero();
        return get;
    }
}
