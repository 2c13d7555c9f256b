package io.verbena.load.bench;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * Where the time of a cached GET goes: the {@linkplain GetLadder rungs} from the bare loads to the engine, on the same
 * records in the same order and the same run, one after the other and in groups. Figures are reported, none is judged.
 */
public final class LadderBenchmark
{
    private static final int ROUNDS = 3;
    private static final int LEAST_OPERATIONS = 1_000_000;
    private static final int MOST_OPERATIONS = 2_000_000;

    private final int records;
    private final int operations;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final Map<String, Double> least = new LinkedHashMap<>();

    /**
     * @param records  {@link TableBenchmark#MIN_RECORDS} to {@link TableBenchmark#FULL_RECORDS}.
     * @param clock    that measures.
     * @param progress hears of each figure.
     */
    public LadderBenchmark(final int records, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this(records, Math.clamp(records, LEAST_OPERATIONS, MOST_OPERATIONS), clock, progress);
    }

    LadderBenchmark(
        final int records, final int operations, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this.records = records;
        this.clock = clock;
        this.progress = progress;
        // Whole groups.
        this.operations = operations & -OperationLoops.GROUP;
    }

    /** @return the figures, each beside the bare loads of the same lines. */
    public List<TableFigure> run() throws IOException
    {
        final int[] order = BenchmarkRecords.shuffled(records);
        try (Arena arena = Arena.ofConfined(); EngineRig rig = TableBenchmark.rig(records, operations))
        {
            final OpenTable table = rig.createTable(records);
            final OperationLoops loops = new OperationLoops(rig, table, order, arena, clock);
            loops.load();
            // Blocks in no order, and then every location cached and current.
            loops.update(operations);
            loops.oneByOneNs(OperationKind.GET, records);
            final BareAccess bare = new BareAccess(rig.memory(), table, records, BenchmarkRecords.BLOCK_BYTES, clock);
            try (GetLadder ladder = new GetLadder(rig, table, records, clock))
            {
                for (int round = 0; round < ROUNDS; round++)
                {
                    climb(ladder, loops, bare, order, 1);
                    climb(ladder, loops, bare, order, OperationLoops.GROUP);
                }
            }
        }
        return figures();
    }

    private void climb(
        final GetLadder ladder, final OperationLoops loops, final BareAccess bare, final int[] order, final int group)
    {
        final String suffix = group == 1 ? "" : "_in_batches";
        least("bare" + suffix, group == 1 ?
            bare.loadNs(order, operations) : bare.loadIndependentNs(order, operations));
        for (final GetLadder.Rung rung : GetLadder.Rung.values())
        {
            least(rung.name().toLowerCase(Locale.ROOT) + suffix, ladder.ns(rung, order, operations, group));
        }
        least("engine" + suffix, group == 1 ?
            loops.oneByOneNs(OperationKind.GET, operations) : loops.groupsNs(OperationKind.GET, operations));
    }

    /** The least of the rounds: what else runs on the machine only ever adds. */
    private void least(final String name, final double ns)
    {
        least.merge(name, ns, Math::min);
    }

    private List<TableFigure> figures()
    {
        final List<TableFigure> figures = new ArrayList<>();
        least.forEach((name, ns) ->
        {
            final double bareNs = least.get(name.endsWith("_in_batches") ? "bare_in_batches" : "bare");
            figures.add(TableFigure.reported("get_" + name, ns, bareNs));
            progress.accept(figures.getLast());
        });
        return figures;
    }
}
