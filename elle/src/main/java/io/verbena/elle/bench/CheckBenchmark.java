package io.verbena.elle.bench;

import io.verbena.elle.check.Elle;
import io.verbena.elle.history.EdnWriter;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.history.HistoryRecorder;
import io.verbena.elle.history.RecordingLane;
import io.verbena.elle.linear.LinearVerdict;
import io.verbena.elle.linear.Models;
import io.verbena.elle.txn.TxnCheck;
import io.verbena.elle.txn.TxnOptions;
import io.verbena.elle.txn.TxnVerdict;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.generate.TxnHistoryGenerator;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Measures the checkers on histories that it makes itself, always the same ones.
 *
 * <p>Not thread-safe; a run takes some minutes and about 2 GiB of heap.
 */
public final class CheckBenchmark
{
    private static final LongSupplier CLOCK = System::nanoTime;
    private static final int REGISTER_OPERATIONS = 1_000_000;
    private static final int REGISTER_KEYS = 1_000;
    private static final int REGISTER_PROCESSES = 32;
    private static final int TRANSACTIONS = 200_000;
    private static final int HARD_OPERATIONS = 10_000;
    private static final int HARD_PROCESSES = 20;
    private static final double REGISTER_GOAL_MS = TimeUnit.SECONDS.toMillis(20);
    private static final double TRANSACTIONS_GOAL_MS = TimeUnit.SECONDS.toMillis(30);
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int RUNS = 3;
    private static final int GROWTH_STEPS = 4;

    private final double scale;
    private final Path folder;
    private final Consumer<BenchmarkRow> progress;
    private final List<BenchmarkRow> rows = new ArrayList<>();

    /**
     * Prepares the benchmark.
     *
     * @param scale    1 for the lengths of which the goals speak; less for trying it out, and then without goals.
     * @param folder   for histories of about 300 MB, which are deleted again.
     * @param progress takes each measurement when it is done.
     */
    public CheckBenchmark(final double scale, final Path folder, final Consumer<BenchmarkRow> progress)
    {
        this.scale = scale;
        this.folder = folder;
        this.progress = progress;
    }

    /**
     * Measures everything.
     *
     * @return the measurements in order.
     * @throws IOException if the folder cannot be written.
     */
    public List<BenchmarkRow> run() throws IOException
    {
        checkRegisters();
        checkTransactions();
        checkHardOnes();
        measureFiles();
        return rows;
    }

    private void checkRegisters()
    {
        for (int step = GROWTH_STEPS - 1; step >= 0; step--)
        {
            final int operations = scaled(REGISTER_OPERATIONS) >> step;
            final History history = registers(operations);
            measureLinear("registers: " + REGISTER_KEYS + " keys, " + REGISTER_PROCESSES + " processes, 0.1 % unknown",
                history, step == 0 ? REGISTER_GOAL_MS : 0);
        }
    }

    private void checkTransactions()
    {
        for (int step = GROWTH_STEPS - 1; step >= 0; step--)
        {
            final History history = new TxnHistoryGenerator(TxnWorkload.LIST_APPEND, 1)
                .transactions(scaled(TRANSACTIONS) >> step).processes(REGISTER_PROCESSES).generate();
            final TxnVerdict[] verdict = new TxnVerdict[1];
            final double elapsedMs = median(() -> verdict[0] = TxnCheck.check(
                history, TxnWorkload.LIST_APPEND, ConsistencyModel.STRICT_SERIALIZABLE, TxnOptions.defaults()));
            add(new BenchmarkRow("list-append transactions, strict-serializable", history.operations().size(),
                elapsedMs, goal(step == 0 ? TRANSACTIONS_GOAL_MS : 0), 0, verdict[0].validity().word()));
        }
    }

    private void checkHardOnes()
    {
        final int operations = scaled(HARD_OPERATIONS);
        final String what = "one register, " + HARD_PROCESSES + " processes, ";
        measureLinear(what + "unique writes, good", hard().generate(operations), 0);
        measureLinear(what + "5 values, good", hard().values(5).generate(operations), 0);
        measureLinear(what + "unique writes, stale read at the end", hard().badAtEnd().generate(operations), 0);
    }

    private void measureFiles() throws IOException
    {
        final int operations = scaled(REGISTER_OPERATIONS);
        final Path recording = folder.resolve("elle-bench.history");
        final Path text = folder.resolve("elle-bench.edn");
        try
        {
            add(new BenchmarkRow("recording, one thread", operations,
                median(() -> record(recording, operations)), 0, 0, "-"));
            add(new BenchmarkRow("reading a recording", operations,
                median(() -> HistoryReader.read(recording)), 0, 0, "-"));
            try (Writer writer = Files.newBufferedWriter(text))
            {
                EdnWriter.write(registers(operations), writer);
            }
            add(new BenchmarkRow("reading EDN", operations, median(() -> HistoryReader.read(text)), 0, 0, "-"));
        }
        finally
        {
            Files.deleteIfExists(recording);
            Files.deleteIfExists(text);
        }
    }

    private static void record(final Path file, final int operations) throws IOException
    {
        try (HistoryRecorder recorder = HistoryRecorder.create(file))
        {
            final int write = recorder.function("write");
            final RecordingLane lane = recorder.newLane();
            for (int i = 0; i < operations; i++)
            {
                lane.event(EventType.INVOKE, 2L * i, 0, write).number(i % REGISTER_KEYS).number(i);
                lane.event(EventType.OK, 2L * i + 1, 0, write).nil().nil();
            }
        }
    }

    private void measureLinear(final String name, final History history, final double goalMs)
    {
        final LinearVerdict[] verdict = new LinearVerdict[1];
        final double elapsedMs = median(() -> verdict[0] = Elle.checkLinearizable(history, Models.register()));
        add(new BenchmarkRow(name, history.operations().size(), elapsedMs, goal(goalMs), verdict[0].statesVisited(),
            verdict[0].validity().word()));
    }

    private static History registers(final int operations)
    {
        return new RegisterHistoryGenerator(1, REGISTER_KEYS, REGISTER_PROCESSES).unknownOutcomes(1)
            .generate(operations);
    }

    private static RegisterHistoryGenerator hard()
    {
        return new RegisterHistoryGenerator(1, 1, HARD_PROCESSES);
    }

    private int scaled(final int count)
    {
        return (int)(count * scale);
    }

    private double goal(final double goalMs)
    {
        return scale == 1 ? goalMs : 0;
    }

    private void add(final BenchmarkRow row)
    {
        rows.add(row);
        progress.accept(row);
    }

    private static double median(final Measured measured)
    {
        final double[] elapsedMs = new double[RUNS];
        for (int i = 0; i < RUNS; i++)
        {
            final long startNs = CLOCK.getAsLong();
            measured.runUnchecked();
            elapsedMs[i] = (CLOCK.getAsLong() - startNs) / NS_PER_MS;
        }
        Arrays.sort(elapsedMs);
        return elapsedMs[RUNS / 2];
    }

    /** Something that takes time. */
    private interface Measured
    {
        void run() throws IOException;

        default void runUnchecked()
        {
            try
            {
                run();
            }
            catch (final IOException ex)
            {
                throw new UncheckedIOException(ex);
            }
        }
    }
}
