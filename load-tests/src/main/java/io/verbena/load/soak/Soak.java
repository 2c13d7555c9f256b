package io.verbena.load.soak;

import io.verbena.client.KvEntry;
import io.verbena.client.KvTable;
import io.verbena.client.KvTableFullException;
import io.verbena.client.TableOptions;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.embedded.MemoryCheck;

import org.agrona.concurrent.SystemNanoClock;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Fills a table to nine tenths of its slots, overwrites random records with values of changing lengths, reads all of
 * them back, and has every byte of memory accounted for. Each thread has keys of its own, so it knows what each must
 * hold.
 */
public final class Soak
{
    /** Part of the slots that is filled. */
    public static final double FILL = 0.90;
    private static final double PLANNED_FILL = 0.75;
    private static final int KEY_BYTES = 16;
    private static final int MAX_VALUE_BYTES = 160;
    private static final int MOST_LEFT_OUT = 1_000;
    private static final long CHECK_TIMEOUT_NS = 60_000_000_000L;

    private final long slots;
    private final long overwrites;
    private final int threads;
    private final int computeNodes;

    /**
     * What came of it.
     *
     * @param filled       records in the filled table.
     * @param overwrites   done.
     * @param writtenBytes keys and values of the overwrites.
     * @param seconds      they took.
     * @param wrong        records that did not hold the last acknowledged write.
     * @param check        of all memory, at the end.
     */
    public record Result(
        long filled, long overwrites, long writtenBytes, double seconds, long wrong, MemoryCheck check)
    {
        /** @return part of all slots that was filled. */
        public double fill()
        {
            return (double)filled / check.slots();
        }

        /** @return how often the memory that was leased at the end was written, at least: blocks have headers too. */
        public double turnover()
        {
            return (double)writtenBytes / check.leasedBytes();
        }

        /** @return whether the table was full, and not one record and not one byte was lost, or is there twice. */
        public boolean passed()
        {
            return fill() >= FILL && 0 == wrong && filled == check.records() && check.isComplete();
        }
    }

    /**
     * @param records      the table is to hold when it is filled.
     * @param overwrites   to be done.
     * @param threads      of clients, 1 or more.
     * @param computeNodes 1 or more.
     */
    public Soak(final long records, final long overwrites, final int threads, final int computeNodes)
    {
        slots = (long)(records / FILL);
        this.overwrites = overwrites;
        this.threads = threads;
        this.computeNodes = computeNodes;
    }

    /** @return what came of it. */
    public Result run() throws InterruptedException
    {
        final long bytes = Math.max(64L << 20, slots * 640 / 2);
        // A table that is nearly full, and stays as it is.
        try (EmbeddedCluster cluster = EmbeddedCluster.start(new EmbeddedClusterOptions()
            .growingTables(false).memoryNodes(2).memoryBytesPerNode(bytes).computeNodes(computeNodes));
            ExecutorService pool = Executors.newFixedThreadPool(threads))
        {
            final KvTable table = cluster.client().createTable(
                "soak", new TableOptions((long)(slots * PLANNED_FILL)));
            final List<Worker> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++)
            {
                workers.add(new Worker(table, i));
            }
            final long share = (long)Math.ceil(FILL * cluster.check(false, CHECK_TIMEOUT_NS).slots() / threads);
            final long filled = sum(pool, workers, worker -> worker.fill((int)share));
            final long startNs = SystemNanoClock.INSTANCE.nanoTime();
            final long done = sum(pool, workers, Worker::overwrite);
            final double seconds = (SystemNanoClock.INSTANCE.nanoTime() - startNs) / 1e9;
            final long wrong = sum(pool, workers, Worker::verify);
            final MemoryCheck check = cluster.check(false, CHECK_TIMEOUT_NS);
            final long writtenBytes = workers.stream().mapToLong(worker -> worker.writtenBytes).sum();
            return new Result(filled, done, writtenBytes, seconds, wrong, check);
        }
    }

    private interface Step
    {
        long run(Worker worker);
    }

    private static long sum(final ExecutorService pool, final List<Worker> workers, final Step step)
        throws InterruptedException
    {
        long sum = 0;
        final List<Callable<Long>> calls = new ArrayList<>();
        workers.forEach((worker) -> calls.add(() -> step.run(worker)));
        for (final Future<Long> future : pool.invokeAll(calls))
        {
            try
            {
                sum += future.get();
            }
            catch (final ExecutionException ex)
            {
                throw new IllegalStateException("soak failed: " + ex.getCause(), ex.getCause());
            }
        }
        return sum;
    }

    private final class Worker
    {
        private final KvTable table;
        private final int number;
        private final SplittableRandom random;
        /** Numbers of the records that found a slot, and how often each was overwritten. */
        private int[] records;
        private int[] written;
        private long writtenBytes;

        private Worker(final KvTable table, final int number)
        {
            this.table = table;
            this.number = number;
            random = new SplittableRandom(number);
        }

        /** Towards the end here and there a record finds both of its groups full: it is left out for another one. */
        private long fill(final int count)
        {
            records = new int[count];
            written = new int[count];
            int filled = 0;
            for (int record = 0; filled < count && record < count + Math.max(MOST_LEFT_OUT, count / 10); record++)
            {
                try
                {
                    table.put(key(record), value(record, 0));
                    records[filled++] = record;
                }
                catch (final KvTableFullException ex)
                {
                    // the fill shows when there are too many
                }
            }
            records = Arrays.copyOf(records, filled);
            return filled;
        }

        private long overwrite()
        {
            final long share = overwrites / threads;
            for (long i = 0; i < share; i++)
            {
                final int at = random.nextInt(records.length);
                final byte[] value = value(records[at], written[at] + 1);
                table.put(key(records[at]), value);
                written[at]++;
                writtenBytes += KEY_BYTES + value.length;
            }
            return share;
        }

        private long verify()
        {
            long wrong = 0;
            for (int i = 0; i < records.length; i++)
            {
                final Optional<KvEntry> entry = table.get(key(records[i]));
                wrong += entry.isPresent() && ByteBuffer.wrap(entry.get().value()).equals(
                    ByteBuffer.wrap(value(records[i], written[i]))) ? 0 : 1;
            }
            return wrong;
        }

        private byte[] key(final int record)
        {
            return ByteBuffer.allocate(KEY_BYTES).putLong(number).putLong(record).array();
        }

        /** Lengths change with each write, so that blocks of several size classes are used in turn. */
        private byte[] value(final int record, final int write)
        {
            final byte[] value = new byte[8 + (record * 31 + write * 17 & 0x7FFFFFFF) % (MAX_VALUE_BYTES - 8)];
            ByteBuffer.wrap(value).putInt(record).putInt(write);
            return value;
        }
    }
}
