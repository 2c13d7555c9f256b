package io.verbena.load.bench;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    private static final int MAX_OPERATIONS = 2_000_000;
    private static final int ROUNDS = 3;
    private static final double PEER_GET = 2.5;
    private static final double PEER_UPDATE = 3;
    private static final int LOAD_GROUPS = 4_000;
    private static final double LOAD = 0.90;

    private final int records;
    private final int operations;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final List<TableFigure> figures = new ArrayList<>();
    private int[] order;
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
        order = BenchmarkRecords.shuffled(records);
        try (Arena arena = Arena.ofConfined(); EngineRig rig = rig(records, operations))
        {
            final OpenTable table = rig.createTable(records);
            final OperationLoops loops = new OperationLoops(rig, table, order, arena, clock);
            loops.load();
            measure(rig, table, loops, arena.allocate(BenchmarkRecords.BLOCK_BYTES, Long.BYTES));
        }
        final ChronicleMapProcess.Figures peer = ChronicleMapProcess.run(records, operations, ROUNDS);
        addPeer(peer);
        measureLoad();
        return figures;
    }

    /** @return with memory for a table of records, and for new values of many of them before the old ones are free. */
    static EngineRig rig(final int records, final int operations) throws IOException
    {
        final long chunkBytes = Math.clamp((long)records * BenchmarkRecords.BLOCK_BYTES / 64, 1L << 20, 64L << 20);
        final long regionBytes = (long)records * (BenchmarkRecords.BLOCK_BYTES + 16L) +
            (long)operations * BenchmarkRecords.BLOCK_BYTES +
            16 * chunkBytes;
        return new EngineRig(regionBytes, chunkBytes, OperationLoops.GROUP, 2 * records);
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

    private void measure(
        final EngineRig rig, final OpenTable table, final OperationLoops loops, final MemorySegment block)
    {
        // From here on new values come into blocks that were used before, in no order, as in a store that is in use.
        loops.update(operations);
        for (int round = 0; round < ROUNDS; round++)
        {
            // The least of some rounds: what else runs on the machine only ever adds.
            loops.oneByOneNs(OperationKind.GET, records);
            least("cached_get", loops.oneByOneNs(OperationKind.GET, operations));
            least("allocation_per_get", loops.allocatedBytes());
            least("cached_get_in_batches", loops.groupsNs(OperationKind.GET, operations));
            least("cached_update", loops.update(operations));
            least("allocation_per_put", loops.allocatedBytes());
            loops.oneByOneNs(OperationKind.GET, records);
            least("cached_update_in_batches", loops.groupsNs(OperationKind.PUT, operations));
            rig.reuseBlocks();
            rig.expireLocations();
            least("get_some_epochs_later", loops.oneByOneNs(OperationKind.GET, operations));
            rig.expireLocations();
            least("update_some_epochs_later", loops.update(operations));
            least("cold_get", coldGetNs(rig, loops));
            final BareAccess bare = new BareAccess(rig.memory(), table, records, BenchmarkRecords.BLOCK_BYTES, clock);
            least("bare_get", bare.loadNs(order, operations));
            least("bare_get_in_batches", bare.loadIndependentNs(order, operations));
            least("bare_cold_get", bare.loadColdNs(order, operations));
            least("bare_update", bare.copyAndSwapNs(order, operations, block));
        }
        add(TableFigure.ratio("cached_get", least.get("cached_get"), least.get("bare_get"), 2));
        add(TableFigure.ratio("cold_get", least.get("cold_get"), least.get("bare_cold_get"), 2.5));
        add(TableFigure.ratio("cached_update", least.get("cached_update"), least.get("bare_update"), 3));
        report("cached_get_in_batches", "bare_get_in_batches");
        report("cached_update_in_batches", "bare_update");
        report("get_some_epochs_later", "bare_get");
        report("update_some_epochs_later", "bare_update");
        add(TableFigure.of("allocation_per_get", least.get("allocation_per_get"), "bytes", 0, true));
        add(TableFigure.of("allocation_per_put", least.get("allocation_per_put"), "bytes", 0, true));
    }

    private void least(final String name, final double value)
    {
        least.merge(name, value, Math::min);
    }

    private void report(final String name, final String bare)
    {
        add(TableFigure.reported(name, least.get(name), least.get(bare)));
    }

    /** GETs whose location is not known. @return nanoseconds for one. */
    private double coldGetNs(final EngineRig rig, final OperationLoops loops)
    {
        double ns = 0;
        // A round through the keys visits each of them once: nothing that it caches is visited in it again.
        for (int done = 0; done < operations; done += order.length)
        {
            rig.coolDown();
            final int count = Math.min(order.length, operations - done);
            ns += count * loops.oneByOneNs(OperationKind.GET, count);
        }
        return ns / operations;
    }

    /** Fills a table to its first failed insert. */
    private void measureLoad() throws IOException
    {
        try (Arena arena = Arena.ofConfined(); EngineRig rig = new EngineRig(64L << 20, 1L << 20, 16, 0))
        {
            final MemorySegment key = arena.allocate(BenchmarkRecords.KEY_BYTES, Long.BYTES);
            final MemorySegment value = arena.allocate(0, Long.BYTES);
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
}
