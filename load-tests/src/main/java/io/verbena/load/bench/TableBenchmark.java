package io.verbena.load.bench;

import com.sun.management.ThreadMXBean;
import io.verbena.table.OpenTable;
import io.verbena.table.OperationKind;
import io.verbena.table.OperationResult;
import io.verbena.table.TablePlan;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.SizeClasses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * How fast one engine is on the soft fabric, against the bare memory accesses on the same lines: records of 16-byte
 * keys and 100-byte values, one dependent operation after another, shuffled keys. One thread. The bare accesses are
 * measured right after the operations that they are compared with. Then the same in a Chronicle Map.
 */
public final class TableBenchmark
{
    /** Records of which the goals speak. */
    public static final int FULL_RECORDS = 10_000_000;
    /** Fewest records. */
    public static final int MIN_RECORDS = 1_000;
    static final int KEY_BYTES = 16;
    static final int VALUE_BYTES = 100;
    private static final int MAX_OPERATIONS = 2_000_000;
    private static final int OPERATIONS_PER_EPOCH = 1 << 16;
    private static final int ROUNDS = 3;
    private static final int BATCH = 16;
    private static final double PEER_GET = 2.5;
    private static final double PEER_UPDATE = 3;
    private static final int LOAD_GROUPS = 4_000;
    private static final double LOAD = 0.90;
    private static final long SEED = 20261121;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final int records;
    private final int operations;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final List<TableFigure> figures = new ArrayList<>();
    private final int blockBytes = SizeClasses.lengthBytes(
        SizeClasses.classFor(BlockDescriptor.recordLength(KEY_BYTES, VALUE_BYTES)));
    private MemorySegment key;
    private MemorySegment value;
    private int[] order;
    private double allocatedBytes;
    private double leastGetNs;
    private double leastPutNs;

    /**
     * @param records  {@link #MIN_RECORDS} to {@link #FULL_RECORDS}.
     * @param clock    that measures.
     * @param progress hears of each figure.
     */
    public TableBenchmark(final int records, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this.clock = clock;
        this.records = records;
        this.progress = progress;
        operations = Math.min(MAX_OPERATIONS, records * 4);
    }

    /** @return the figures. */
    public List<TableFigure> run() throws IOException
    {
        final long chunkBytes = Math.clamp((long)records * blockBytes / 64, 1L << 20, 64L << 20);
        final long regionBytes = (long)records * (blockBytes + 16L) + 4L * OPERATIONS_PER_EPOCH * blockBytes +
            16 * chunkBytes;
        order = shuffled(records);
        try (Arena arena = Arena.ofConfined();
            EngineRig rig = new EngineRig(regionBytes, chunkBytes, 16, 2 * records))
        {
            key = arena.allocate(KEY_BYTES, Long.BYTES);
            value = arena.allocate(VALUE_BYTES, Long.BYTES);
            rig.target(arena.allocate(VALUE_BYTES, Long.BYTES));
            final OpenTable table = rig.createTable(records);
            for (int i = 0; i < records; i++)
            {
                one(rig, OperationKind.PUT, table, i, OperationResult.STORED);
            }
            measure(rig, table, arena.allocate(blockBytes, Long.BYTES));
        }
        final ChronicleMapProcess.Figures peer = ChronicleMapProcess.run(records, operations, ROUNDS);
        add(TableFigure.faster("get_against_chronicle_map", leastGetNs, peer.getNs(), PEER_GET));
        add(TableFigure.faster("update_against_chronicle_map", leastPutNs, peer.updateNs(), PEER_UPDATE));
        measureLoad();
        return figures;
    }

    private void measure(final EngineRig rig, final OpenTable table, final MemorySegment block)
    {
        double getNs = Double.MAX_VALUE;
        double coldNs = Double.MAX_VALUE;
        double putNs = Double.MAX_VALUE;
        double bareGetNs = Double.MAX_VALUE;
        double bareColdNs = Double.MAX_VALUE;
        double barePutNs = Double.MAX_VALUE;
        double batchedNs = Double.MAX_VALUE;
        double bareBatchedNs = Double.MAX_VALUE;
        double getBytes = Double.MAX_VALUE;
        double putBytes = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++)
        {
            // The least of some rounds: what else runs on the machine only ever adds.
            operationNs(rig, OperationKind.GET, table, records, false);
            getNs = Math.min(getNs, operationNs(rig, OperationKind.GET, table, operations, false));
            getBytes = Math.min(getBytes, allocatedBytes);
            batchedNs = Math.min(batchedNs, batchedGetNs(rig, table));
            putNs = Math.min(putNs, operationNs(rig, OperationKind.PUT, table, operations, false));
            putBytes = Math.min(putBytes, allocatedBytes);
            coldNs = Math.min(coldNs, operationNs(rig, OperationKind.GET, table, operations, true));
            final BareAccess bare = new BareAccess(rig.memory(), table, records, blockBytes, clock);
            bareGetNs = Math.min(bareGetNs, bare.loadNs(order, operations));
            bareBatchedNs = Math.min(bareBatchedNs, bare.loadIndependentNs(order, operations));
            bareColdNs = Math.min(bareColdNs, bare.loadColdNs(order, operations));
            barePutNs = Math.min(barePutNs, bare.copyAndSwapNs(order, operations, block));
        }
        leastGetNs = getNs;
        leastPutNs = putNs;
        add(TableFigure.ratio("cached_get", getNs, bareGetNs, 2));
        add(TableFigure.ratio("cold_get", coldNs, bareColdNs, 2.5));
        add(TableFigure.ratio("cached_update", putNs, barePutNs, 3));
        add(TableFigure.told("cached_get_in_batches", batchedNs, bareBatchedNs));
        add(TableFigure.of("allocation_per_get", getBytes, "bytes", 0, true));
        add(TableFigure.of("allocation_per_put", putBytes, "bytes", 0, true));
    }

    /** Runs operations one after the other; with {@code isCold} no location is known. @return nanoseconds for one. */
    private double operationNs(
        final EngineRig rig, final int kind, final OpenTable table, final int count, final boolean isCold)
    {
        final int expected = kind == OperationKind.GET ? OperationResult.FOUND : OperationResult.STORED;
        final long bytesBefore = THREADS.getCurrentThreadAllocatedBytes();
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            // A round through the keys meets each of them once: nothing that it caches is met in it again.
            if (isCold && i % order.length == 0)
            {
                rig.coolDown();
            }
            else if (kind == OperationKind.PUT && i % OPERATIONS_PER_EPOCH == OPERATIONS_PER_EPOCH - 1)
            {
                rig.passEpoch();
            }
            one(rig, kind, table, order[i % order.length], expected);
        }
        final long elapsed = clock.nanoTime() - start;
        // Less than a byte for each is what the measuring itself, and a figure of the JVM, may cost.
        allocatedBytes = Math.floor((double)(THREADS.getCurrentThreadAllocatedBytes() - bytesBefore) / count);
        return (double)elapsed / count;
    }

    /** Runs cached GETs that do not wait for each other, in groups. @return nanoseconds for one. */
    private double batchedGetNs(final EngineRig rig, final OpenTable table)
    {
        final int batches = operations / BATCH;
        final long start = clock.nanoTime();
        for (int batch = 0; batch < batches; batch++)
        {
            final long before = rig.completed();
            rig.engine().beginGroup();
            for (int i = 0; i < BATCH; i++)
            {
                key.set(ValueLayout.JAVA_LONG, 0, order[(batch * BATCH + i) % order.length]);
                rig.begin(OperationKind.GET, table, key, value, 0);
            }
            rig.engine().endGroup();
            rig.await(before + BATCH);
        }
        return (double)(clock.nanoTime() - start) / ((long)batches * BATCH);
    }

    private void one(
        final EngineRig rig, final int kind, final OpenTable table, final int number, final int expected)
    {
        key.set(ValueLayout.JAVA_LONG, 0, number);
        final int result = rig.run(kind, table, key, value, 0);
        if (result != expected)
        {
            throw new IllegalStateException(OperationKind.name(kind) + " ended with " + OperationResult.name(result));
        }
    }

    /** Fills a table to its first failed insert. */
    private void measureLoad() throws IOException
    {
        try (Arena arena = Arena.ofConfined(); EngineRig rig = new EngineRig(64L << 20, 1L << 20, 16, 0))
        {
            key = arena.allocate(KEY_BYTES, Long.BYTES);
            value = arena.allocate(0, Long.BYTES);
            final TablePlan plan = TablePlan.ofShape("load", 2, 31, 0, LOAD_GROUPS, new int[]{1});
            final OpenTable table = rig.createTable(plan);
            long stored = -1;
            do
            {
                key.set(ValueLayout.JAVA_LONG, 0, ++stored);
            }
            while (rig.run(OperationKind.PUT, table, key, value, 0) == OperationResult.STORED);
            final long slots = table.descriptor().slotCount();
            add(TableFigure.of("load_factor_at_first_failed_insert", (double)stored / slots, "of slots", LOAD, false));
            add(TableFigure.of("index_bytes_per_key_at_0.90", plan.subtableBytes() / (LOAD * slots), "bytes", 10.5,
                true));
        }
    }

    private void add(final TableFigure figure)
    {
        figures.add(figure);
        progress.accept(figure);
    }

    /** The order of keys. */
    static int[] shuffled(final int count)
    {
        final Random random = new Random(SEED);
        final int[] numbers = new int[count];
        for (int i = 1; i < count; i++)
        {
            final int other = random.nextInt(i + 1);
            numbers[i] = numbers[other];
            numbers[other] = i;
        }
        return numbers;
    }
}
