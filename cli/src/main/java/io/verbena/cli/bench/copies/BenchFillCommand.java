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

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** {@code verbena bench fill}: a memory node without any copy comes into the group of a table that is used. */
@Command(
    name = "fill",
    description = "Measure how fast a memory node gets the copies of a table while that is used, and how much slower " +
        "its use is meanwhile, as processes on the soft fabric under YCSB's workload A.",
    footer = {"", "Exit status 0: all goals were reached; 1: one was not."})
public final class BenchFillCommand implements Callable<Integer>
{
    private static final int COPIES = 2;
    private static final int WORKLOAD_RECORDS = 10_000;
    private static final int VALUE_BYTES = 4_000;
    private static final int UNDER_WAY = 64;
    private static final int LEAST_MIB = 16;
    private static final int MOST_MIB = 8_192;
    private static final int LEAST_MEMORY_MIB = 128;
    private static final int BARE_BYTES = 64 << 20;
    private static final int BARE_COPIES = 16;
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(5);
    private static final double NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final double NS_PER_S = TimeUnit.SECONDS.toNanos(1);
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double MOST_BARE_TO_FILL = 2.5;
    private static final double MOST_BEFORE_TO_MEANWHILE = 1 / 0.7;

    private final NanoClock clock = SystemNanoClock.INSTANCE;

    @Spec
    private CommandSpec spec;

    @Option(names = "--mib", paramLabel = "N", defaultValue = "256",
        description = "MiB of records, 16 to 8192; 1024 for what is published. Default: ${DEFAULT-VALUE}.")
    private int mib;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file too.")
    private Path json;

    @Override
    public Integer call() throws InterruptedException
    {
        OptionRange.check("--mib", mib, LEAST_MIB, MOST_MIB);
        final OutputFile output = OutputFile.open("--json", json);
        // Blocks have lengths of a few classes, and what is written waits for its epochs.
        final List<FailoverRow> rows = CopiesCluster.measure(
            "verbena-bench-fill-", LEAST_MEMORY_MIB + mib * 3 / 2, this::run);
        final int status = CopiesCluster.print(rows, spec.commandLine().getOut());
        output.write(json(rows));
        return status;
    }

    private List<FailoverRow> run(final LocalCluster cluster, final KvClient client, final MetaCalls meta)
        throws InterruptedException
    {
        final int large = (int)((long)mib * (1 << 20) / VALUE_BYTES);
        final KvTable table = client.createTable("workload", new TableOptions(WORKLOAD_RECORDS + large, COPIES));
        load(table, large);
        final double barePerS = bareBytesPerSecond();
        final List<FailoverRow> rows = new ArrayList<>();
        final UpdateLoad load = new UpdateLoad(table, WORKLOAD_RECORDS, clock);
        try (load)
        {
            final MemoryFailover failover = new MemoryFailover(cluster, meta, load, clock, (event) -> {});
            failover.lose(0);
            TimeUnit.NANOSECONDS.sleep(WARM_UP_NS);
            final double beforePerS = operationsPerSecond(load, WARM_UP_NS);
            final MemoryFailover.Filled filled = failover.fill();
            rows.add(FailoverRow.of("copied_mib", filled.copiedBytes() / BYTES_PER_MIB));
            rows.add(FailoverRow.of("filling_ms", filled.fillingNs() / NS_PER_MS));
            rows.add(FailoverRow.of("copied_mib_per_s",
                filled.copiedBytes() / BYTES_PER_MIB / (filled.fillingNs() / NS_PER_S)));
            rows.add(FailoverRow.of("bare_copy_mib_per_s", barePerS / BYTES_PER_MIB));
            rows.add(new FailoverRow("bare_copy_to_fill_ratio",
                barePerS / (filled.copiedBytes() / (filled.fillingNs() / NS_PER_S)), MOST_BARE_TO_FILL));
            final double meanwhilePerS = filled.operations() / (filled.fillingNs() / NS_PER_S);
            rows.add(FailoverRow.of("operations_before_per_s", beforePerS));
            rows.add(FailoverRow.of("operations_meanwhile_per_s", meanwhilePerS));
            rows.add(new FailoverRow(
                "operations_before_to_meanwhile_ratio", beforePerS / meanwhilePerS, MOST_BEFORE_TO_MEANWHILE));
            rows.add(FailoverRow.of("longest_operation_meanwhile_ms", filled.longestNs() / NS_PER_MS));
            rows.add(FailoverRow.of("closed_ms", filled.closedNs() / NS_PER_MS));
            rows.add(FailoverRow.of("longest_operation_when_closed_ms", filled.longestClosedNs() / NS_PER_MS));
        }
        rows.add(FailoverRow.of("operations_failed_count",
            load.failures().values().stream().mapToInt(Integer::intValue).sum()));
        rows.add(new FailoverRow("stale_reads_count", load.stale(), 0));
        rows.add(new FailoverRow("acknowledged_updates_lost_count", load.audit(), 0));
        return rows;
    }

    /** Of which none is touched later; each has other bytes. */
    private static void load(final KvTable table, final int records) throws InterruptedException
    {
        final byte[] value = new byte[VALUE_BYTES];
        new Random(1).nextBytes(value);
        final BlockingQueue<CompletableFuture<Long>> underWay = new ArrayBlockingQueue<>(UNDER_WAY);
        for (long i = 0; i < records; i++)
        {
            if (0 == underWay.remainingCapacity())
            {
                underWay.take().join();
            }
            ByteBuffer.wrap(value).putLong(i);
            underWay.add(table.putAsync(ByteBuffer.allocate(Long.BYTES).putLong(i).array(), value.clone()));
        }
        underWay.forEach(CompletableFuture::join);
    }

    private double operationsPerSecond(final UpdateLoad load, final long durationNs) throws InterruptedException
    {
        final long before = load.operations();
        final long startNs = clock.nanoTime();
        TimeUnit.NANOSECONDS.sleep(durationNs);
        return (load.operations() - before) * NS_PER_S / (clock.nanoTime() - startNs);
    }

    /** By one thread, from memory to memory, while nobody else works. */
    private double bareBytesPerSecond()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment from = arena.allocate(BARE_BYTES);
            final MemorySegment to = arena.allocate(BARE_BYTES);
            from.fill((byte)1);
            to.copyFrom(from);
            final long startNs = clock.nanoTime();
            for (int i = 0; i < BARE_COPIES; i++)
            {
                to.copyFrom(from);
            }
            return (double)BARE_BYTES * BARE_COPIES * NS_PER_S / (clock.nanoTime() - startNs);
        }
    }

    private String json(final List<FailoverRow> rows)
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("benchmark", "fill");
        fields.put("jvm", Runtime.version().toString());
        fields.put("processors_count", Runtime.getRuntime().availableProcessors());
        fields.put("records_mib", mib);
        fields.put("rows", rows.stream().map(FailoverRow::fields).toList());
        return JsonWriter.write(fields);
    }
}
