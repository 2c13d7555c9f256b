package io.verbena.load.demo;

import io.verbena.client.KvClientOptions;
import io.verbena.client.KvEntry;
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
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/**
 * A table of an embedded cluster that was made for a thousand records grows to many, by asynchronous inserts through
 * the ordinary client, and shrinks again when nearly all of them are deleted, while register clients work on four keys
 * of it: how fast it took that over time, whether what the register clients saw was linearizable, whether each record
 * is there or not as it should be, and every byte of memory. Used once, by one thread.
 */
public final class GrowthUnderLoad
{
    private static final int FIRST_RECORDS = 1_000;
    private static final int WINDOW = 256;
    private static final int VALUE_BYTES = 100;
    private static final int BYTES_PER_RECORD = 320;
    private static final long LEAST_MEMORY_BYTES = 64L << 20;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final Duration TIMEOUT = Duration.ofNanos(TIMEOUT_NS);
    private static final long SHRINK_NS = TimeUnit.SECONDS.toNanos(90);
    private static final double NS_PER_S = 1e9;
    /** Of so many records one stays, or of more, so that no more than so many stay: they fit where the table began. */
    private static final int STAYS_ONE_IN = 100;
    private static final int MOST_STAY = 5_000;

    private final int records;
    private final int computeNodes;
    private final NanoClock clock;
    private final Semaphore window = new Semaphore(WINDOW);
    private final AtomicLong missing = new AtomicLong();
    private final RunCounters counters = new RunCounters();
    private GrowthSampler sampler;

    /**
     * What came of it.
     *
     * @param records            inserted beside the register clients.
     * @param seconds            that took.
     * @param samples            how fast, over time.
     * @param stat               of the table when it had grown.
     * @param deleteSeconds      that deleting nearly all of them took.
     * @param shrinkSeconds      from then until the table had as few subtables as in the beginning, or time was up.
     * @param firstSubtables     of the table in the beginning.
     * @param lastSubtables      and in the end.
     * @param failures           operations that failed.
     * @param firstFailure       and why the first one did, or null.
     * @param missing            records that were not there, held another value, or were there and should not be,
     *                           before or after the deletes.
     * @param registerOperations in the history of the register clients.
     * @param isLinearizable     the verdict on it; null if the checker's time or memory was used up.
     * @param explanation        the checker's words unless it is linearizable.
     * @param check              of all memory.
     */
    public record Result(
        long records, double seconds, List<GrowthSample> samples, TableStat stat, double deleteSeconds,
        double shrinkSeconds, long firstSubtables, long lastSubtables, long failures, String firstFailure,
        long missing, long registerOperations, Boolean isLinearizable, String explanation, MemoryCheck check)
    {
        /** @return whether nothing failed, nothing is missing, it has shrunk, and what was seen is linearizable. */
        public boolean passed()
        {
            return failures == 0 && missing == 0 && lastSubtables == firstSubtables &&
                Boolean.TRUE.equals(isLinearizable) && check.isSound();
        }

        /** @return the figures by name. */
        public Map<String, Object> fields()
        {
            final Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("records", records);
            fields.put("inserts_per_s", records / seconds);
            fields.put("elapsed_s", seconds);
            fields.put("subtables_count", stat.subtables());
            fields.put("deletes_per_s", (records - records / staysOneIn(records)) / deleteSeconds);
            fields.put("shrink_s", shrinkSeconds);
            fields.put("first_subtables_count", firstSubtables);
            fields.put("last_subtables_count", lastSubtables);
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
        final Path history = TemporaryHistory.create();
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions().growingTables(true)
            .memoryNodes(2).computeNodes(computeNodes).clientOptions(new KvClientOptions().timeout(TIMEOUT))
            .memoryBytesPerNode(Math.max(LEAST_MEMORY_BYTES, (long)records * BYTES_PER_RECORD / 2))))
        {
            final KvTable table = cluster.client().createTable("growth", new TableOptions(FIRST_RECORDS));
            final RegisterWorkload registers = new RegisterWorkload(table, history, clock, counters);
            final long firstSubtables = table.stat().subtables();
            final long startNs = clock.nanoTime();
            sampler = new GrowthSampler(table, clock);
            final AtomicLong endNs = new AtomicLong(startNs + TIMEOUT_NS);
            final WorkerThreads workers = registers.start(startNs, endNs::get);
            writeAll((number) -> table.withTimeout(TIMEOUT).putAsync(key(number), value(number)), endNs);
            final double seconds = secondsSince(startNs);
            final TableStat grown = table.stat();
            readAll(table, true, endNs);
            final long deleteNs = clock.nanoTime();
            writeAll((number) -> stays(number) ? CompletableFuture.completedFuture(null) :
                table.withTimeout(TIMEOUT).deleteAsync(key(number)), endNs);
            final double deleteSeconds = secondsSince(deleteNs);
            final double shrinkSeconds = awaitShrunk(firstSubtables, endNs);
            endNs.set(clock.nanoTime());
            workers.finish(TIMEOUT_NS);
            registers.finishRecording();
            readAll(table, false, endNs);
            final RegisterFigures verdict = RegisterCheck.check(HistoryReader.read(history), registers.deadlines());
            return new Result(records, seconds, sampler.samples(), grown, deleteSeconds, shrinkSeconds,
                firstSubtables, table.stat().subtables(), counters.errors.sum(), counters.firstError(), missing.get(),
                verdict.operations(), verdict.linearizable(), verdict.explanation(), cluster.check(false, TIMEOUT_NS));
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

    /** Another one for each record, so that a read that answers with another's record is found. */
    static byte[] value(final int number)
    {
        final byte[] value = new byte[VALUE_BYTES];
        for (int i = 0; i < VALUE_BYTES; i += Integer.BYTES)
        {
            ByteBuffer.wrap(value).putInt(i, number + i);
        }
        return value;
    }

    static boolean isAsExpected(final int number, final boolean isThere, final Optional<KvEntry> found)
    {
        return found.isPresent() == isThere && (!isThere || Arrays.equals(value(number), found.get().value()));
    }

    private static long staysOneIn(final long records)
    {
        return Math.max(STAYS_ONE_IN, records / MOST_STAY);
    }

    private boolean stays(final int number)
    {
        return number % staysOneIn(records) == 0;
    }

    private double secondsSince(final long sinceNs)
    {
        return (clock.nanoTime() - sinceNs) / NS_PER_S;
    }

    private void writeAll(final IntFunction<CompletableFuture<?>> write, final AtomicLong endNs)
        throws InterruptedException
    {
        forAll((number) -> write.apply(number).whenComplete((result, error) ->
        {
            if (error != null)
            {
                counters.onError("write: " + error.getMessage());
            }
        }), endNs);
    }

    private void readAll(final KvTable table, final boolean isGrown, final AtomicLong endNs) throws InterruptedException
    {
        forAll((number) -> table.withTimeout(TIMEOUT).getAsync(key(number)).whenComplete((entry, error) ->
        {
            if (error != null || !isAsExpected(number, isGrown || stays(number), entry))
            {
                missing.incrementAndGet();
            }
        }), endNs);
    }

    private void forAll(final IntFunction<CompletableFuture<?>> call, final AtomicLong endNs)
        throws InterruptedException
    {
        for (int i = 0; i < records; i++)
        {
            window.acquire();
            call.apply(i).whenComplete((result, error) ->
            {
                sampler.onDone();
                window.release();
            });
            if (sampler.isDue() || i == records - 1)
            {
                endNs.set(clock.nanoTime() + TIMEOUT_NS);
                sampler.take();
            }
        }
        window.acquire(WINDOW);
        window.release(WINDOW);
    }

    /** @return seconds until it had as few subtables as in the beginning, or until time was up. */
    private double awaitShrunk(final long firstSubtables, final AtomicLong endNs) throws InterruptedException
    {
        final long beginNs = clock.nanoTime();
        while (sampler.take() > firstSubtables && clock.nanoTime() - beginNs < SHRINK_NS)
        {
            endNs.set(clock.nanoTime() + TIMEOUT_NS);
            TimeUnit.NANOSECONDS.sleep(sampler.pauseNs());
        }
        return secondsSince(beginNs);
    }
}
