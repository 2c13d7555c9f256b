package io.verbena.embedded;

import io.verbena.client.KvTable;
import io.verbena.compute.ComputeNode;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.Test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** An error of a compute node's own code fails the request that meets it, and ends no node. */
class UnexpectedFailureSimTest
{
    private static final long MAX_STEPS = 20_000_000;
    private static final long TIMEOUT_NS = 100_000_000;
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final int SCANS = 8;
    /** Outlasts the move of the meta server. */
    private static final long LONG_LEASE_NS = 1_000_000_000;
    private static final byte[] KEY = {1, 2, 3};
    private static final int CHUNKS = 60;

    private boolean refusesMemory;
    private int registered;
    private int mostRegistered = Integer.MAX_VALUE;

    private static final class Asked extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            // polled
        }
    }

    private static Asked run(
        final SimCluster cluster, final ComputeNode node, final RequestKind kind, final TableReference table)
    {
        final Asked asked = submit(cluster, node, kind, table);
        cluster.world().runUntil(() -> NodeRequest.DONE == asked.state(), MAX_STEPS);
        return asked;
    }

    private static Asked submit(
        final SimCluster cluster, final ComputeNode node, final RequestKind kind, final TableReference table)
    {
        final Asked asked = new Asked();
        asked.ask(kind, table, KEY, RequestKind.PUT == kind ? KEY : null, 0,
            cluster.world().clock().nanoTime() + TIMEOUT_NS);
        assertThat(node.endpoint().submit(asked)).isZero();
        return asked;
    }

    /** A device that registers no memory while that is planted. */
    private Device device(final Device device)
    {
        return (Device)Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[]{Device.class},
            (self, method, arguments) ->
            {
                final Object made = invoke(() -> method.invoke(device, arguments));
                return made instanceof final ProtectionDomain domain ? domain(domain) : made;
            });
    }

    private ProtectionDomain domain(final ProtectionDomain domain)
    {
        return (ProtectionDomain)Proxy.newProxyInstance(
            Device.class.getClassLoader(), new Class<?>[]{ProtectionDomain.class}, (self, method, arguments) ->
            {
                final boolean registers = MemoryRegion.class == method.getReturnType();
                registered += registers ? 1 : 0;
                if (registers && (refusesMemory || registered > mostRegistered))
                {
                    throw new RdmaException("planted: no memory can be registered");
                }
                return invoke(() -> method.invoke(domain, arguments));
            });
    }

    private interface Call
    {
        Object make() throws InvocationTargetException, IllegalAccessException;
    }

    private static Object invoke(final Call call) throws Throwable
    {
        try
        {
            return call.make();
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }

    private static void assertServing(final SimCluster cluster, final KvTable table)
    {
        assertThat(cluster.computes()).allMatch(SimCluster.Compute::isServing);
        final CompletableFuture<?> put = table.withTimeout(TIMEOUT).putAsync(KEY, KEY);
        cluster.world().runUntil(put::isDone, MAX_STEPS);
        assertThat(put).isCompleted();
    }

    @Test
    void shouldFailScansForWhichNoMemoryCanBeRegistered()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 0, CHUNKS))
        {
            cluster.computeDevices(this::device);
            final ComputeNode node = cluster.addComputeNode().node();
            cluster.world().runUntil(() -> ComputeNode.State.SERVING == node.state(), MAX_STEPS);
            final KvTable table = cluster.createTable("t", 50);
            assertServing(cluster, table);
            final TableReference reference = new TableReference("t", cluster.tables().getFirst().tableId());

            refusesMemory = true;
            for (final RequestKind kind : new RequestKind[]{RequestKind.SCAN, RequestKind.COUNT})
            {
                final Asked failed = run(cluster, node, kind, reference);
                assertThat(failed.answer()).isEqualTo(OperationAnswer.UNREACHABLE);
                assertThat(failed.detail()).contains("failed on this request").contains("planted");
            }
            refusesMemory = false;

            assertThat(node.failures().requestCount()).isEqualTo(2);
            assertThat(run(cluster, node, RequestKind.SCAN, reference).answer()).isEqualTo(OperationAnswer.FOUND);
            assertServing(cluster, table);
        }
    }

    /** A memory node that is added while there is no memory to reach it with is connected to later. */
    @Test
    void shouldFailOperationsOnAMemoryNodeForWhichNoMemoryCanBeRegistered()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 0, 0, CHUNKS))
        {
            final ComputeNode other = cluster.addComputeNode().node();
            cluster.world().runUntil(() -> ComputeNode.State.SERVING == other.state(), MAX_STEPS);
            cluster.computeDevices(this::device);
            final ComputeNode node = cluster.addComputeNode().node();
            cluster.world().runUntil(() -> ComputeNode.State.SERVING == node.state(), MAX_STEPS);

            refusesMemory = true;
            cluster.addMemoryNode("memory-1");
            cluster.world().runUntil(
                () -> node.failures().requestCount() > 0 && 1 == other.reachedMemoryNodes(), MAX_STEPS);
            final KvTable table = cluster.createTable("t", 50);
            final TableReference reference = new TableReference("t", cluster.tables().getFirst().tableId());
            final Asked failed = run(cluster, node, RequestKind.PUT, reference);
            assertThat(failed.answer()).isEqualTo(OperationAnswer.UNREACHABLE);
            assertThat(failed.detail()).contains("failed on this request").contains("planted");
            refusesMemory = false;

            cluster.world().runUntil(() -> 1 == node.reachedMemoryNodes(), MAX_STEPS);
            assertThat(run(cluster, node, RequestKind.PUT, reference).answer()).isEqualTo(OperationAnswer.STORED);
            assertServing(cluster, table);
        }
    }

    /** A table on a memory node that is not there, and cannot be looked for, is opened by an operation later. */
    @Test
    void shouldJoinWhereATableCannotBeOpened()
    {
        try (SimCluster cluster = new SimCluster(1, new SimFabricOptions(), 1, 1, CHUNKS))
        {
            final KvTable served = cluster.createTable("t", 50);
            cluster.addMemoryNode("memory-2");
            cluster.world().runUntil(
                () -> 2 == cluster.computes().getFirst().node().reachedMemoryNodes(), MAX_STEPS);
            final int lostId = cluster.memoryHosts().getLast().node().nodeId();
            TableDescriptor lost = null;
            for (int i = 0; null == lost; i++)
            {
                cluster.createTable("lost" + i, 50);
                final String name = "lost" + i;
                lost = cluster.tables().stream().filter((table) -> name.equals(table.name()) &&
                    IntStream.range(0, table.subtableCount()).anyMatch(
                    (entry) -> lostId == DirectoryEntry.memoryNodeId(table.entry(entry)))).findFirst().orElse(null);
            }
            cluster.memoryMachines().getLast().kill();
            cluster.world().runUntil(() -> 1 == cluster.metaServer().stat().lostMemoryNodes(), MAX_STEPS);
            cluster.computeDevices(this::device);
            final SimCluster.Compute whole = cluster.addComputeNode();
            cluster.world().runUntil(whole::isServing, MAX_STEPS);
            final int registrations = registered;

            // The connection that a table asks for comes last, and is refused its last piece.
            registered = 0;
            mostRegistered = registrations - 1;
            final SimCluster.Compute joined = cluster.addComputeNode();
            cluster.world().runUntil(joined::isServing, MAX_STEPS);
            assertThat(joined.node().failures().requestCount()).isEqualTo(1);
            final TableReference reference = new TableReference(lost.name(), lost.tableId());
            final Asked failed = run(cluster, joined.node(), RequestKind.GET, reference);
            assertThat(failed.answer()).isEqualTo(OperationAnswer.UNREACHABLE);
            assertThat(failed.detail()).contains("planted");
            mostRegistered = Integer.MAX_VALUE;
            // Absent, or in a part of the table that is lost.
            assertThat(String.valueOf(run(cluster, joined.node(), RequestKind.GET, reference).detail()))
                .doesNotContain("planted");
            assertServing(cluster, served);
        }
    }

    /** A newer descriptor that nobody can read: operations say so, and not that there is no such table. */
    @Test
    void shouldFailOperationsOnATableThatCannotBeReadAnyMore()
    {
        try (SimCluster cluster = SimCluster.growingOnLeases(
            1, new SimFabricOptions(), 1, 1, LONG_LEASE_NS))
        {
            cluster.createTable("odd", 50);
            final KvTable table = cluster.createTable("t", 50);
            final TableDescriptor odd =
                cluster.tables().stream().filter((each) -> "odd".equals(each.name())).findFirst().orElseThrow();
            final TableReference reference = new TableReference("odd", odd.tableId());
            final ComputeNode node = cluster.computes().getFirst().node();
            assertThat(run(cluster, node, RequestKind.PUT, reference).answer()).isEqualTo(OperationAnswer.STORED);
            cluster.publish("odd", odd.tableId(), new byte[9]);
            // Nodes read descriptors again when the version has changed; some scans wait for others by then.
            cluster.addComputeNode();
            final List<Asked> scans = new ArrayList<>();
            while (scans.stream().allMatch((scan) -> null == scan.answer() || OperationAnswer.FOUND == scan.answer()))
            {
                while (scans.stream().filter((scan) -> null == scan.answer()).count() < SCANS)
                {
                    scans.add(submit(cluster, node, RequestKind.SCAN, reference));
                }
                cluster.runFor(20_000);
                scans.removeIf((scan) -> OperationAnswer.FOUND == scan.answer());
            }
            cluster.world().runUntil(
                () -> scans.stream().allMatch((scan) -> NodeRequest.DONE == scan.state()), MAX_STEPS);

            final List<Asked> failed = scans.stream().filter((each) -> OperationAnswer.FOUND != each.answer()).toList();
            assertThat(failed).hasSizeGreaterThan(1)
                .allMatch((each) -> OperationAnswer.UNREACHABLE == each.answer())
                .allMatch((each) -> each.detail().contains("not a table descriptor"));
            assertServing(cluster, table);
        }
    }
}
