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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    private static final int ROUNDS = 3;
    private static final int BATCH = 16;
    private static final double PEER_GET = 2.5;
    private static final double PEER_UPDATE = 3;
    private static final int LOAD_GROUPS = 4_000;
    private static final double LOAD = 0.90;
    private static final long SEED = 20261121;
    /** Never anything but 0, which the compiler does not know. */
    private static volatile long zero;
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
    private final Map<String, Double> least = new HashMap<>();

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
        final long regionBytes = (long)records * (blockBytes + 16L) + (long)operations * blockBytes +
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
        addPeer(peer);
        measureLoad();
        return figures;
    }

    /** One after the other for latency; for throughput, what either store does when no operation waits for another. */
    private void addPeer(final ChronicleMapProcess.Figures peer)
    {
        add(TableFigure.faster("get_against_chronicle_map", least.get("cached_get"), peer.dependentGetNs(), PEER_GET));
        add(TableFigure.faster(
            "update_against_chronicle_map", least.get("cached_update"), peer.updateNs(), PEER_UPDATE));
        add(TableFigure.faster("independent_get_against_chronicle_map", least.get("cached_get_in_batches"),
            peer.getNs(), PEER_GET));
        add(TableFigure.faster("independent_update_against_chronicle_map", least.get("cached_update_in_batches"),
            peer.updateNs(), PEER_UPDATE));
    }

    private void measure(final EngineRig rig, final OpenTable table, final MemorySegment block)
    {
        // From here on new values come into blocks that were used before, in no order, as in a store that is in use.
        update(rig, table);
        for (int round = 0; round < ROUNDS; round++)
        {
            // The least of some rounds: what else runs on the machine only ever adds.
            operationNs(rig, OperationKind.GET, table, records);
            least("cached_get", operationNs(rig, OperationKind.GET, table, operations));
            least("allocation_per_get", allocatedBytes);
            least("cached_get_in_batches", batchesNs(rig, table, OperationKind.GET));
            least("cached_update", update(rig, table));
            least("allocation_per_put", allocatedBytes);
            operationNs(rig, OperationKind.GET, table, records);
            least("cached_update_in_batches", batchesNs(rig, table, OperationKind.PUT));
            rig.reuseBlocks();
            rig.expireLocations();
            least("get_some_epochs_later", operationNs(rig, OperationKind.GET, table, operations));
            rig.expireLocations();
            least("update_some_epochs_later", update(rig, table));
            least("cold_get", coldGetNs(rig, table));
            final BareAccess bare = new BareAccess(rig.memory(), table, records, blockBytes, clock);
            least("bare_get", bare.loadNs(order, operations));
            least("bare_get_in_batches", bare.loadIndependentNs(order, operations));
            least("bare_cold_get", bare.loadColdNs(order, operations));
            least("bare_update", bare.copyAndSwapNs(order, operations, block));
        }
        add(TableFigure.ratio("cached_get", least.get("cached_get"), least.get("bare_get"), 2));
        add(TableFigure.ratio("cold_get", least.get("cold_get"), least.get("bare_cold_get"), 2.5));
        add(TableFigure.ratio("cached_update", least.get("cached_update"), least.get("bare_update"), 3));
        tell("cached_get_in_batches", "bare_get_in_batches");
        tell("cached_update_in_batches", "bare_update");
        tell("get_some_epochs_later", "bare_get");
        tell("update_some_epochs_later", "bare_update");
        add(TableFigure.of("allocation_per_get", least.get("allocation_per_get"), "bytes", 0, true));
        add(TableFigure.of("allocation_per_put", least.get("allocation_per_put"), "bytes", 0, true));
    }

    private void least(final String name, final double value)
    {
        least.merge(name, value, Math::min);
    }

    private void tell(final String name, final String bare)
    {
        add(TableFigure.told(name, least.get(name), least.get(bare)));
    }

    /** Updates records; no epoch passes meanwhile, so that what is cached stays current. @return ns for one. */
    private double update(final EngineRig rig, final OpenTable table)
    {
        final double ns = operationNs(rig, OperationKind.PUT, table, operations);
        rig.reuseBlocks();
        return ns;
    }

    /** GETs whose location is not known. @return nanoseconds for one. */
    private double coldGetNs(final EngineRig rig, final OpenTable table)
    {
        double ns = 0;
        // A round through the keys meets each of them once: nothing that it caches is met in it again.
        for (int done = 0; done < operations; done += order.length)
        {
            rig.coolDown();
            final int count = Math.min(order.length, operations - done);
            ns += count * operationNs(rig, OperationKind.GET, table, count);
        }
        return ns / operations;
    }

    /** Runs operations one after the other, each GET deciding about the next key. @return nanoseconds for one. */
    private double operationNs(final EngineRig rig, final int kind, final OpenTable table, final int count)
    {
        final int expected = kind == OperationKind.GET ? OperationResult.FOUND : OperationResult.STORED;
        final long mask = zero;
        final long bytesBefore = THREADS.getCurrentThreadAllocatedBytes();
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i++)
        {
            one(rig, kind, table, order[i % order.length] + (rig.seen() & mask), expected);
        }
        final long elapsed = clock.nanoTime() - start;
        // Less than a byte for each is what the measuring itself, and a figure of the JVM, may cost.
        allocatedBytes = Math.floor((double)(THREADS.getCurrentThreadAllocatedBytes() - bytesBefore) / count);
        return (double)elapsed / count;
    }

    /** Runs operations on cached keys that do not wait for each other, in groups. @return nanoseconds for one. */
    private double batchesNs(final EngineRig rig, final OpenTable table, final int kind)
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
                rig.begin(kind, table, key, value, 0);
            }
            rig.engine().endGroup();
            rig.await(before + BATCH);
        }
        return (double)(clock.nanoTime() - start) / ((long)batches * BATCH);
    }

    private void one(
        final EngineRig rig, final int kind, final OpenTable table, final long number, final int expected)
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
