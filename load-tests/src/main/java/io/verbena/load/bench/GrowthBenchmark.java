package io.verbena.load.bench;

import io.verbena.table.operation.OperationKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * What growth costs: one engine on the soft fabric fills a table that was made for a thousand records, and one that was
 * made large enough, with records of 16-byte keys and 100-byte values. Then a table grows to half of that under
 * reads and updates beside the inserts. What a split costs is what the connection was asked for beyond what the inserts
 * into the large table asked for: splitter and operations that helped, together.
 */
public final class GrowthBenchmark
{
    /** Records of which the goals speak. */
    public static final int FULL_RECORDS = 10_000_000;
    /** Fewest records: a table of one subtable is split at some 24,000. */
    public static final int MIN_RECORDS = 50_000;
    /** Rate of inserts while growing, of that into a table that was created large. */
    private static final double LEAST_RATE = 0.5;
    private static final double MOST_EXTRA_ROUND_TRIPS = 1;
    private static final double MOST_VERBS = 4;
    private static final double MOST_BYTES = 6;
    private static final int WARM_UP_RECORDS = 400_000;
    private static final int MIXED_PART = 2;

    private final int records;
    private final NanoClock clock;
    private final Consumer<TableFigure> progress;
    private final List<TableFigure> figures = new ArrayList<>();
    private final List<GrowthSample> samples = new ArrayList<>();

    /**
     * @param records  in the end, {@link #MIN_RECORDS} to {@link #FULL_RECORDS}.
     * @param clock    that measures.
     * @param progress hears of each figure.
     */
    public GrowthBenchmark(final int records, final NanoClock clock, final Consumer<TableFigure> progress)
    {
        this.records = records;
        this.clock = clock;
        this.progress = progress;
    }

    /** @return the figures. */
    public List<TableFigure> run() throws IOException
    {
        final int warmUp = Math.min(records, WARM_UP_RECORDS);
        new GrowthRun(warmUp, false, false, clock).run();
        new GrowthRun(warmUp, true, false, clock).run();
        final GrowthRun large = new GrowthRun(records, false, false, clock).run();
        final GrowthRun growing = new GrowthRun(records, true, false, clock).run();
        samples.addAll(large.samples());
        samples.addAll(growing.samples());
        add(new TableFigure("inserts_while_growing", growing.insertsPerS(), "1/s", large.insertsPerS(),
            growing.insertsPerS() / large.insertsPerS(), LEAST_RATE, false));
        addCosts(growing, large);
        final GrowthRun mixed =
            new GrowthRun(Math.max(MIN_RECORDS, records / MIXED_PART), true, true, clock).run();
        addRoundTrips("insert", OperationKind.PUT, growing);
        addRoundTrips("get", OperationKind.GET, mixed);
        addRoundTrips("update", OperationKind.PUT_IF_PRESENT, mixed);
        return figures;
    }

    /** @return how fast the tables were filled, over time. */
    public List<GrowthSample> samples()
    {
        return List.copyOf(samples);
    }

    private void addCosts(final GrowthRun growing, final GrowthRun large)
    {
        final RigSplits splits = growing.splits();
        final double moved = splits.movedRecords();
        final double bytes = splits.splits() * (double)GrowthRun.subtableBytes();
        add(TableFigure.of("verbs_per_moved_entry",
            (growing.verbs() - large.verbs()) / moved, "verbs", MOST_VERBS, true));
        add(TableFigure.of("bytes_on_wire_per_subtable_byte",
            (growing.payloadBytes() - large.payloadBytes()) / bytes, "bytes", MOST_BYTES, true));
        add(TableFigure.of("splitter_verbs_per_moved_entry", splits.verbs() / moved, "verbs", Double.NaN, true));
        add(TableFigure.of("splitter_bytes_per_subtable_byte", splits.payloadBytes() / bytes, "bytes", Double.NaN,
            true));
        add(TableFigure.of("splits", splits.splits(), "splits", Double.NaN, true));
        add(TableFigure.of("pairs_helped_by_inserts", growing.pairsHelped(), "pairs", Double.NaN, true));
        add(TableFigure.of("inserts_during_splits", growing.splitting().operations(OperationKind.PUT), "inserts",
            Double.NaN, true));
        add(TableFigure.of("descriptor_length", splits.published().encode().length, "bytes", Double.NaN, true));
    }

    /** 99 % of the operations that began while a subtable was split, against those that did not. */
    private void addRoundTrips(final String operation, final int kind, final GrowthRun run)
    {
        final String name = "p99_round_trips_of_" + operation + "_during_splits";
        addRoundTrips(name, run.splitting(), run.quiet(), kind, MOST_EXTRA_ROUND_TRIPS);
        addRoundTrips(name + "_of_" + GrowthRun.MANY_SUBTABLES, run.splittingMany(), run.quiet(), kind, Double.NaN);
    }

    private void addRoundTrips(
        final String name, final RoundTripCounts splitting, final RoundTripCounts quiet, final int kind,
        final double goal)
    {
        add(new TableFigure(name, splitting.p99(kind), "trips", quiet.p99(kind),
            splitting.p99(kind) - quiet.p99(kind), goal, true));
    }

    private void add(final TableFigure figure)
    {
        figures.add(figure);
        progress.accept(figure);
    }
}
