package io.verbena.cli.bench.copies;

import io.verbena.cli.cluster.LocalCluster;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.console.OutputFile;
import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.load.bench.UpdateLoad;
import io.verbena.load.report.JsonWriter;
import io.verbena.load.report.Medians;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;

/** {@code verbena bench failover}: memory nodes of a table with copies are lost, and come in again. */
@Command(
    name = "failover",
    description = "Measure the longest operation while memory nodes of a table with copies are killed, and stopped " +
        "for ten seconds, and come in again, as processes on the soft fabric under YCSB's workload A.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
public final class BenchFailoverCommand implements Callable<Integer>
{
    private static final int MIN_RECORDS = 100;
    private static final int MOST_RECORDS = 2_000_000;
    private static final int MOST_RUNS = 1_000;
    private static final int LEAST_MEMORY_MIB = 128;
    /** With what is written and waits for its epochs. */
    private static final int RECORDS_OF_A_MIB = 1_000;
    /** The processes compile what they do often. */
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long SAMPLE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final double LEASE_MS = 5_000;
    private static final double MOST_DEATH_MS = 1_000;
    private static final double MOST_STOP_MS = LEASE_MS + 1_000;
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final FailoverChart chart = new FailoverChart();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final Map<String, double[]> each = new LinkedHashMap<>();
    private long startNs;

    @Spec
    private CommandSpec spec;

    @Option(names = "--deaths", paramLabel = "N", defaultValue = "3",
        description = "Memory nodes that are killed, 1 to 1000; 100 for what is published. Default: ${DEFAULT-VALUE}.")
    private int deaths;

    @Option(names = "--stops", paramLabel = "N", defaultValue = "1",
        description = "Memory nodes that are stopped, 0 to 1000; 20 for what is published. Default: ${DEFAULT-VALUE}.")
    private int stops;

    @Option(names = "--replicas", paramLabel = "N", defaultValue = "3",
        description = "Copies of the table, 2 or 3. Default: ${DEFAULT-VALUE}.")
    private int copies;

    @Option(names = "--records", paramLabel = "N", defaultValue = "10000",
        description = "Records of 100 bytes, 100 to 2000000. Default: ${DEFAULT-VALUE}.")
    private int records;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Option(names = "--plot", paramLabel = "FILE", description = "Draw the rate over time, as an SVG image.")
    private Path plot;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--deaths", deaths, 1, MOST_RUNS);
        OptionRange.check("--stops", stops, 0, MOST_RUNS);
        OptionRange.check("--replicas", copies, 2, CopiesCluster.MEMORY_NODES);
        OptionRange.check("--records", records, MIN_RECORDS, MOST_RECORDS);
        final OutputFile output = OutputFile.open("--json", json);
        final OutputFile image = OutputFile.open("--plot", plot);
        final List<FailoverRow> rows = CopiesCluster.measure(
            "verbena-bench-failover-", LEAST_MEMORY_MIB + records / RECORDS_OF_A_MIB, this::run);
        final int status = CopiesCluster.print(rows, spec.commandLine().getOut());
        output.write(json(rows));
        image.write(chart.draw());
        return status;
    }

    private List<FailoverRow> run(final LocalCluster cluster, final KvClient client, final MetaCalls meta)
        throws InterruptedException
    {
        final List<MemoryFailover.Took> killed = new ArrayList<>();
        final List<MemoryFailover.Took> stopped = new ArrayList<>();
        final KvTable table = client.createTable("workload", new TableOptions(records, copies));
        final UpdateLoad load = new UpdateLoad(table, records, clock);
        TimeUnit.NANOSECONDS.sleep(WARM_UP_NS);
        startNs = clock.nanoTime();
        final Thread sampler = Thread.ofPlatform().name("verbena-bench-samples").start(() -> sample(load));
        try (load)
        {
            final MemoryFailover failover = new MemoryFailover(cluster, meta, load, clock, this::onEvent);
            for (int i = 0; i < deaths; i++)
            {
                killed.add(failover.kill(i));
            }
            for (int i = 0; i < stops; i++)
            {
                stopped.add(failover.stop(i));
            }
        }
        finally
        {
            isOver.set(true);
            sampler.join();
        }
        final double elapsedS = (clock.nanoTime() - startNs + WARM_UP_NS) / NS_PER_S;
        load.failures().forEach((text, count) ->
            spec.commandLine().getErr().println("failed " + count + " times: " + text));
        each.put("deaths_longest_operation_ms", ms(killed, MemoryFailover.Took::longestNs));
        each.put("stops_longest_operation_ms", ms(stopped, MemoryFailover.Took::longestNs));
        return rows(killed, stopped, load, load.operations() / elapsedS);
    }

    private List<FailoverRow> rows(
        final List<MemoryFailover.Took> killed, final List<MemoryFailover.Took> stopped, final UpdateLoad load,
        final double operationsPerS)
    {
        final List<FailoverRow> rows = new ArrayList<>();
        final double[] deathsMs = ms(killed, MemoryFailover.Took::longestNs);
        rows.add(FailoverRow.of("death_longest_operation_median_ms", Medians.of(deathsMs)));
        rows.add(new FailoverRow(
            "death_longest_operation_p99_ms", FailoverRow.percentile(deathsMs, 99), MOST_DEATH_MS));
        rows.add(FailoverRow.of("death_longest_operation_ms", FailoverRow.percentile(deathsMs, 100)));
        if (!stopped.isEmpty())
        {
            final double[] stopsMs = ms(stopped, MemoryFailover.Took::longestNs);
            rows.add(FailoverRow.of("stop_longest_operation_median_ms", Medians.of(stopsMs)));
            rows.add(new FailoverRow(
                "stop_longest_operation_ms", FailoverRow.percentile(stopsMs, 100), MOST_STOP_MS));
        }
        final List<MemoryFailover.Took> all = new ArrayList<>(killed);
        all.addAll(stopped);
        final double[] entriesMs = ms(all, MemoryFailover.Took::entryNs);
        rows.add(FailoverRow.of("entry_median_ms", Medians.of(entriesMs)));
        rows.add(FailoverRow.of("entry_longest_ms", FailoverRow.percentile(entriesMs, 100)));
        rows.add(FailoverRow.of("entry_longest_operation_ms",
            FailoverRow.percentile(ms(all, MemoryFailover.Took::longestOfEntryNs), 100)));
        rows.add(FailoverRow.of("operations_per_s", operationsPerS));
        rows.add(FailoverRow.of("operations_count", load.operations()));
        rows.add(FailoverRow.of("operations_failed_count",
            load.failures().values().stream().mapToInt(Integer::intValue).sum()));
        rows.add(new FailoverRow("stale_reads_count", load.stale(), 0));
        rows.add(new FailoverRow("acknowledged_updates_lost_count", load.audit(), 0));
        return rows;
    }

    private static double[] ms(
        final List<MemoryFailover.Took> all, final ToLongFunction<MemoryFailover.Took> value)
    {
        return all.stream().mapToDouble((took) -> value.applyAsLong(took) / NS_PER_MS).toArray();
    }

    private void sample(final UpdateLoad load)
    {
        long beforeNs = startNs;
        long before = load.operations();
        while (!isOver.get())
        {
            LockSupport.parkNanos(SAMPLE_NS);
            final long nowNs = clock.nanoTime();
            final long operations = load.operations();
            synchronized (chart)
            {
                chart.sample((nowNs - startNs) / NS_PER_S, (operations - before) * NS_PER_S / (nowNs - beforeNs));
            }
            beforeNs = nowNs;
            before = operations;
        }
    }

    private void onEvent(final String what)
    {
        synchronized (chart)
        {
            chart.event((clock.nanoTime() - startNs) / NS_PER_S, what);
        }
    }

    private String json(final List<FailoverRow> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "failover");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("deaths_count", deaths);
        fields.put("stops_count", stops);
        fields.put("copies_count", copies);
        fields.put("records_count", records);
        each.forEach((name, values) -> fields.put(name, Arrays.stream(values).boxed().toList()));
        fields.put("rows", rows.stream().map(FailoverRow::fields).toList());
        return JsonWriter.write(fields);
    }
}
