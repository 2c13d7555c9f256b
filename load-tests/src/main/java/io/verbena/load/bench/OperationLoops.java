package io.verbena.load.bench;

import com.sun.management.ThreadMXBean;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.agrona.concurrent.NanoClock;

/** Operations of an engine on the records of a table, in a given order, and the time that one takes. Single thread. */
final class OperationLoops
{
    /** Operations of a group. */
    static final int GROUP = 16;
    /** Never anything but 0, which the compiler does not know. */
    private static volatile long zero;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final EngineRig rig;
    private final OpenTable table;
    private final int[] order;
    private final NanoClock clock;
    private final MemorySegment key;
    private final MemorySegment value;
    private double allocatedBytes;

    /** @param arena of keys and values; open as long as this is used. */
    OperationLoops(
        final EngineRig rig, final OpenTable table, final int[] order, final Arena arena, final NanoClock clock)
    {
        this.rig = rig;
        this.table = table;
        this.order = order;
        this.clock = clock;
        key = arena.allocate(BenchmarkRecords.KEY_BYTES, Long.BYTES);
        value = arena.allocate(BenchmarkRecords.VALUE_BYTES, Long.BYTES);
        rig.target(arena.allocate(BenchmarkRecords.VALUE_BYTES, Long.BYTES));
    }

    /** Puts every record, in the order of their numbers. */
    void load()
    {
        for (int i = 0; i < order.length; i++)
        {
            one(OperationKind.PUT, i, OperationResult.STORED);
        }
    }

    /** Updates records; no epoch passes meanwhile, so that what is cached stays current. @return ns for one. */
    double update(final int count)
    {
        final double ns = oneByOneNs(OperationKind.PUT, count);
        rig.reuseBlocks();
        return ns;
    }

    /** Runs operations one after the other, each GET deciding about the next key. @return nanoseconds for one. */
    double oneByOneNs(final int kind, final int count)
    {
        final int expected = kind == OperationKind.GET ? OperationResult.FOUND : OperationResult.STORED;
        final long mask = zero;
        final long bytesBefore = THREADS.getCurrentThreadAllocatedBytes();
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            one(kind, order[i % order.length] + (rig.seen() & mask), expected);
        }
        final long elapsed = clock.nanoTime() - start;
        // Less than a byte for each is what the measuring itself, and a figure of the JVM, may cost.
        allocatedBytes = Math.floor((double)(THREADS.getCurrentThreadAllocatedBytes() - bytesBefore) / count);
        return (double)elapsed / count;
    }

    /** Bytes that an operation of the last call of {@link #oneByOneNs} allocated. */
    double allocatedBytes()
    {
        return allocatedBytes;
    }

    /** Runs operations on cached keys that do not wait for each other, in groups. @return nanoseconds for one. */
    double groupsNs(final int kind, final int count)
    {
        final int groups = count / GROUP;
        final long start = clock.nanoTime();
        for (int group = 0; group < groups; group++)
        {
            final long before = rig.completed();
            rig.engine().beginGroup();
            for (int i = 0; i < GROUP; i++)
            {
                key.set(ValueLayout.JAVA_LONG, 0, order[(group * GROUP + i) % order.length]);
                rig.begin(kind, table, key, value, 0);
            }
            rig.engine().endGroup();
            rig.await(before + GROUP);
        }
        return (double)(clock.nanoTime() - start) / ((long)groups * GROUP);
    }

    private void one(final int kind, final long number, final int expected)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        final int result = rig.run(kind, table, key, value, 0);
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " ended with " + OperationResult.name(result));
        }
    }
}
