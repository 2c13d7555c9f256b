package io.verbena.compute;

import com.sun.management.ThreadMXBean;
import io.verbena.control.TableEntry;
import io.verbena.raas.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.sim.SimFabricOptions;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.table.TableEngine;
import io.verbena.table.TableEngineConfiguration;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** Which siblings are looked at, when, and what that costs a node that has many; without a memory node. */
class MergeWatchTest
{
    private static final int DEPTH = 10;
    private static final int SUBTABLE_BYTES = 4096;
    private static final int MEMORY_NODE = 7;
    private static final long PAUSE_NS = 1_000_000_000;
    /** An object for each subtable would be megabytes. */
    private static final long MOST_BYTES_A_LOOK = 32 << 10;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final SimWorld world = new SimWorld(1, new SimFabricOptions());
    private final SimNode node = world.addNode("compute");
    private final RaasContext context =
        RaasContext.open(node.device(), new RaasConfiguration().identity(new PeerIdentity(3, 1)));
    private final TableEngine engine = TableEngine.open(
        context.protectionDomain(), node.device().attributes(), context.clock(), new TableEngineConfiguration()
            .operationSlots(1).operationListener((operation) -> { }).chunkSource((memoryNodeId) -> { }));
    private final TableRegistry tables = new TableRegistry(null, engine::openTable, () -> 0, 1);
    private final MergeWatch watch = new MergeWatch(PAUSE_NS);
    private long nowNs = 1;

    @AfterEach
    void tearDown()
    {
        engine.close();
        context.close();
        world.close();
    }

    private void open(final int tableId, final int depth, final int leastDepth)
    {
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            entries[i] = DirectoryEntry.stable(depth, MEMORY_NODE, (i + 1L) * SUBTABLE_BYTES);
        }
        tables.open(new TableEntry("t" + tableId, tableId,
            new TableDescriptor("t" + tableId, tableId, depth, leastDepth, 4, 1, entries).encode()));
    }

    /** As the desk does, until a look has begun; its memory node is away, so that it ends at once. */
    private MergeWatch.Pair nextLook()
    {
        for (int i = 0; i < 10_000; i++)
        {
            nowNs = Math.max(nowNs, watch.nextAtNs());
            if (watch.begin(engine, nowNs))
            {
                engine.poll(nowNs);
                assertThat(watch.isDone()).isTrue();
                return watch.looked();
            }
        }
        throw new AssertionError("no look begins: " + watch);
    }

    @Test
    void shouldLookAtEachPairOfATableOnceInARound()
    {
        open(1, 5, 3);
        open(2, 4, 4);
        watch.open(tables, 3, nowNs);
        final Set<MergeWatch.Pair> first = new HashSet<>();
        for (int i = 0; i < 2 * 16; i++)
        {
            first.add(nextLook());
        }
        assertThat(first).hasSize(16);
        final Set<MergeWatch.Pair> second = new HashSet<>();
        final long beganNs = nowNs;
        for (int i = 0; i < 16; i++)
        {
            second.add(nextLook());
        }
        assertThat(second).isEqualTo(first);
        assertThat(nowNs - beganNs).isEqualTo(16 * PAUSE_NS);
    }

    @Test
    void shouldNotLookAtOnceAgainWhenThereIsNothingToLookAt()
    {
        open(1, 4, 4);
        watch.open(tables, 3, nowNs);
        for (int i = 0; i < 10; i++)
        {
            nowNs = watch.nextAtNs();
            assertThat(watch.begin(engine, nowNs)).isFalse();
            assertThat(watch.nextAtNs()).isEqualTo(nowNs + PAUSE_NS);
        }
    }

    @Test
    void shouldLeaveAPairAloneThatWasFull()
    {
        open(1, 1, 0);
        watch.open(tables, 3, nowNs);
        final MergeWatch.Pair pair = nextLook();
        final long fullNs = nowNs;
        watch.onFull(pair.table(), pair.first(), nowNs);
        assertThat(nextLook()).isEqualTo(pair);
        assertThat(nowNs - fullNs).isBetween(64 * PAUSE_NS, 66 * PAUSE_NS);
    }

    @Test
    void shouldCostNoMoreWhereThereAreManySubtables()
    {
        final int tableCount = 32;
        for (int i = 1; i <= tableCount; i++)
        {
            open(i, DEPTH, 0);
        }
        watch.open(tables, 3, nowNs);
        nextLook();
        final int looks = 200;
        final long beganNs = nowNs;
        final long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < looks; i++)
        {
            nextLook();
        }
        assertThat((THREADS.getCurrentThreadAllocatedBytes() - before) / looks).as("bytes a look")
            .isLessThan(MOST_BYTES_A_LOOK);
        assertThat((nowNs - beganNs) / looks).as("from one to the next").isEqualTo(PAUSE_NS / 50);
    }
}
