package io.verbena.embedded;

import com.sun.management.ThreadMXBean;

import io.verbena.compute.ComputeNode;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.compute.ComputeNodeException;
import io.verbena.compute.DirectTable;
import io.verbena.rdma.verbs.Device;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The engine-level interface: a thread that owns its compute node, without hand-over and without garbage. */
@Timeout(60)
class DirectTableTest
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int KEY_BYTES = 8;
    private static final int VALUE_BYTES = 100;

    private final MemorySegment key = Arena.ofAuto().allocate(KEY_BYTES);
    private final MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES);
    private final MemorySegment found = Arena.ofAuto().allocate(VALUE_BYTES);
    private EmbeddedServers servers;
    private Device device;
    private ComputeNode node;
    private DirectTable table;

    @BeforeEach
    void setUp()
    {
        servers = EmbeddedServers.start(
            new EmbeddedClusterOptions().memoryNodes(1).memoryBytesPerNode(32 << 20).computeNodes(0));
        device = servers.openDevice("compute");
        // Heartbeats make garbage, a little, and so rarely that there are stretches without any.
        node = new ComputeNode(device, servers.metaServerAddress(),
            new ComputeNodeConfiguration().heartbeatIntervalNs(TimeUnit.MILLISECONDS.toNanos(500)), 0);
        while (ComputeNode.State.SERVING != node.state())
        {
            node.doWork();
        }
        DirectTable.create(node, "t", 1000, TIMEOUT_NS);
        table = DirectTable.open(node, "t", TIMEOUT_NS);
    }

    @AfterEach
    void tearDown()
    {
        node.leave();
        while (ComputeNode.State.LEFT != node.state())
        {
            node.doWork();
        }
        device.close();
        servers.close();
    }

    @Test
    void shouldRunEveryKindOfOperation()
    {
        value.set(ValueLayout.JAVA_LONG, 0, 77);
        assertThat(get(1)).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(put(1)).isEqualTo(OperationResult.STORED);
        final long version = table.version();
        assertThat(get(1)).isEqualTo(OperationResult.FOUND);
        assertThat(table.version()).isEqualTo(version);
        assertThat(table.valueLength()).isEqualTo(VALUE_BYTES);
        assertThat(found.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(77);
        assertThat(table.roundTrips()).isEqualTo(1);
        assertThat(table.verbs()).isEqualTo(2);
        assertThat(table.doorbells()).isEqualTo(1);

        assertThat(run(OperationKind.PUT_IF_ABSENT, 1, value, 0)).isEqualTo(OperationResult.EXISTS);
        assertThat(run(OperationKind.REPLACE, 1, value, version + 1)).isEqualTo(OperationResult.VERSION_MISMATCH);
        assertThat(run(OperationKind.REPLACE, 1, value, version)).isEqualTo(OperationResult.STORED);
        assertThat(run(OperationKind.EXISTS, 1, null, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(run(OperationKind.DELETE, 1, null, 0)).isEqualTo(OperationResult.DELETED);
        assertThat(run(OperationKind.EXISTS, 1, null, 0)).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldLeaveAValueThatDoesNotFit()
    {
        put(1);

        assertThat(table.get(key, 0, KEY_BYTES, found.asSlice(0, 10), 0, TIMEOUT_NS)).isEqualTo(OperationResult.FOUND);
        assertThat(table.valueLength()).isEqualTo(VALUE_BYTES);
    }

    @Test
    void shouldSayThatThereIsNoSuchTable()
    {
        assertThatThrownBy(() -> DirectTable.open(node, "unknown", TIMEOUT_NS))
            .isInstanceOf(ComputeNodeException.class).hasMessageContaining("unknown");
        assertThatThrownBy(() -> DirectTable.create(node, "t", 1000, TIMEOUT_NS))
            .isInstanceOf(ComputeNodeException.class).hasMessageContaining("ALREADY_EXISTS");
    }

    @Test
    void shouldAllocateNothing()
    {
        for (int i = 0; i < 20_000; i++)
        {
            put(i % 100);
            get(i % 100);
        }

        assertThat(leastAllocatedBytes(() -> put(7))).as("put").isZero();
        assertThat(leastAllocatedBytes(() -> get(7))).as("get").isZero();
        assertThat(leastAllocatedBytes(() -> get(100_000))).as("get of an absent key").isZero();
        assertThat(leastAllocatedBytes(() -> run(OperationKind.DELETE, 8, null, 0) + put(8))).as("insert").isZero();
    }

    /** The least of several rounds: a heartbeat, or a lease of memory, falls into some of them. */
    private static long leastAllocatedBytes(final IntSupplier operation)
    {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 50; round++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 200; i++)
            {
                operation.getAsInt();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private int get(final long number)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        return table.get(key, 0, KEY_BYTES, found, 0, TIMEOUT_NS);
    }

    private int put(final long number)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        return table.put(key, 0, KEY_BYTES, value, 0, VALUE_BYTES, TIMEOUT_NS);
    }

    private int run(final int kind, final long number, final MemorySegment stored, final long expectedVersion)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        return table.run(kind, key, 0, KEY_BYTES, stored, 0, VALUE_BYTES, expectedVersion, TIMEOUT_NS);
    }
}
