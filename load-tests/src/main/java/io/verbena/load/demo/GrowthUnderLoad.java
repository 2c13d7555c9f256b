package io.verbena.load.demo;

import io.verbena.client.KvTable;
import io.verbena.client.TableOptions;
import io.verbena.client.TableStat;
import io.verbena.elle.history.HistoryReader;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.embedded.MemoryCheck;
import io.verbena.load.bench.GrowthSample;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A table of an embedded cluster that was made for a thousand records grows to many, by asynchronous inserts through
 * the ordinary client, while register clients work on four keys of it: how fast it took them over time, whether what
 * the register clients saw was linearizable, whether each record is there in the end, and every byte of memory. Used
 * once, by one thread.
 */
public final class GrowthUnderLoad
{
    private static final int FIRST_RECORDS = 1_000;
    private static final int WINDOW = 256;
    private static final int VALUE_BYTES = 100;
    private static final int BYTES_PER_RECORD = 320;
    private static final long LEAST_MEMORY_BYTES = 64L << 20;
    private static final long SAMPLE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final double NS_PER_S = 1e9;

    private final int records;
    private final int computeNodes;
    private final NanoClock clock;
    private final Semaphore window = new Semaphore(WINDOW);
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong missing = new AtomicLong();
    private final RunCounters counters = new RunCounters();
    private final List<GrowthSample> samples = new ArrayList<>();

    /**
     * What came of it.
     *
     * @param records            inserted beside the register clients.
     * @param seconds            that took.
     * @param samples            how fast, over time.
     * @param stat               of the table in the end.
     * @param failures           operations that failed.
     * @param firstFailure       and why the first one did, or null.
     * @param missing            records that were not there in the end.
     * @param registerOperations in the history of the register clients.
     * @param isLinearizable     the verdict on it; null if the checker's time or memory was used up.
     * @param explanation        the checker's words unless it is linearizable.
     * @param check              of all memory.
     */
    public record Result(
        long records, double seconds, List<GrowthSample> samples, TableStat stat, long failures, String firstFailure,
        long missing, long registerOperations, Boolean isLinearizable, String explanation, MemoryCheck check)
    {
        /** @return whether nothing failed, nothing is missing, and what was seen is linearizable. */
        public boolean passed()
        {
            return failures == 0 && missing == 0 && Boolean.TRUE.equals(isLinearizable) && check.isSound();
        }

        /** @return the figures by name. */
        public Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("records", records);
            fields.put("inserts_per_s", records / seconds);
            fields.put("elapsed_s", seconds);
            fields.put("subtables_count", stat.subtables());
            fields.put("failed_operations", failures);
            fields.put("first_failure", firstFailure);
            fields.put("missing_records", missing);
            fields.put("register_operations", registerOperations);
            fields.put("linearizable", isLinearizable);
            fields.put("problems", check.problems());
            fields.put("lost_bytes", check.lostBytes());
            fields.put("passed", passed());
            fields.put("samples", samples.stream().map(GrowthSample::fields).toList());
            return fields;
        }
    }

    /**
     * @param records      to be inserted.
     * @param computeNodes 1 or more.
     * @param clock        that measures.
     */
    public GrowthUnderLoad(final int records, final int computeNodes, final NanoClock clock)
    {
        this.records = records;
        this.computeNodes = computeNodes;
        this.clock = clock;
    }

    /** @return what came of it. */
    public Result run() throws IOException, InterruptedException
    {
        final Path history = Files.createTempFile("verbena-growth-", ".history");
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().growingTables(true)
            .memoryNodes(2).computeNodes(computeNodes)
            .memoryBytesPerNode(Math.max(LEAST_MEMORY_BYTES, (long)records * BYTES_PER_RECORD / 2))))
        {
            final KvTable table = cluster.client().createTable("growth", new TableOptions(FIRST_RECORDS));
            final RegisterWorkload registers = new RegisterWorkload(table, history, clock, counters);
            final long startNs = clock.nanoTime();
            final AtomicLong endNs = new AtomicLong(startNs + TIMEOUT_NS);
            final WorkerThreads workers = registers.start(startNs, endNs::get);
            insertAll(table, startNs, endNs);
            final double seconds = (clock.nanoTime() - startNs) / NS_PER_S;
            endNs.set(clock.nanoTime());
            workers.finish(TIMEOUT_NS);
            registers.finishRecording();
            readAll(table);
            final RegisterFigures verdict = RegisterCheck.check(HistoryReader.read(history));
            return new Result(records, seconds, List.copyOf(samples), table.stat(), counters.errors.sum(),
                counters.firstError(), missing.get(), verdict.operations(), verdict.linearizable(),
                verdict.explanation(), cluster.check(false, TIMEOUT_NS));
        }
        finally
        {
            Files.deleteIfExists(history);
        }
    }

    private static byte[] key(final int number)
    {
        return ByteBuffer.allocate(2 * Long.BYTES).putLong(number).array();
    }

    private void insertAll(final KvTable table, final long startNs, final AtomicLong endNs) throws InterruptedException
    {
        final byte[] value = new byte[VALUE_BYTES];
        long lastNs = startNs;
        long lastDone = 0;
        for (int i = 0; i < records; i++)
        {
            window.acquire();
            table.putAsync(key(i), value, TIMEOUT_NS).whenComplete((version, error) ->
            {
                if (error != null)
                {
                    counters.onError("insert: " + error.getMessage());
                }
                done.incrementAndGet();
                window.release();
            });
            final long nowNs = clock.nanoTime();
            if (nowNs - lastNs >= SAMPLE_NS || i == records - 1)
            {
                final long nowDone = done.get();
                samples.add(new GrowthSample("cluster_beside_registers", (nowNs - startNs) / NS_PER_S, nowDone,
                    (int)table.stat().subtables(), (nowDone - lastDone) * NS_PER_S / (nowNs - lastNs)));
                lastDone = nowDone;
                lastNs = nowNs;
                endNs.set(nowNs + TIMEOUT_NS);
            }
        }
        window.acquire(WINDOW);
        window.release(WINDOW);
    }

    private void readAll(final KvTable table) throws InterruptedException
    {
        for (int i = 0; i < records; i++)
        {
            window.acquire();
            table.getAsync(key(i), TIMEOUT_NS).whenComplete((entry, error) ->
            {
                if (error != null || entry.isEmpty() || entry.get().value().length != VALUE_BYTES)
                {
                    missing.incrementAndGet();
                }
                window.release();
            });
        }
        window.acquire(WINDOW);
        window.release(WINDOW);
    }
}
