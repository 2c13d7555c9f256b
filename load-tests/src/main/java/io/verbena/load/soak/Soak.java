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
    private static final double PLANNED_FILL = 0.75;
    private static final double FILL = 0.90;
    private static final int MAX_VALUE_BYTES = 160;
    private static final long CHECK_TIMEOUT_NS = 60_000_000_000L;

    private final long slots;
    private final long overwrites;
    private final int threads;
    private final int computeNodes;

    /**
     * What came of it.
     *
     * @param fill       part of all slots that was filled.
     * @param overwrites done.
     * @param seconds    they took.
     * @param wrong      records that did not hold the last acknowledged write.
     * @param check      of all memory, at the end.
     */
    public record Result(double fill, long overwrites, double seconds, long wrong, MemoryCheck check)
    {
        /** @return whether not one record and not one byte was lost. */
        public boolean passed()
        {
            return 0 == wrong && check.isComplete();
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
            final long filled = sum(pool, workers, Worker::fill);
            final long startNs = SystemNanoClock.INSTANCE.nanoTime();
            final long done = sum(pool, workers, Worker::overwrite);
            final double seconds = (SystemNanoClock.INSTANCE.nanoTime() - startNs) / 1e9;
            final long wrong = sum(pool, workers, Worker::verify);
            final MemoryCheck check = cluster.check(false, CHECK_TIMEOUT_NS);
            return new Result((double)filled / check.slots(), done, seconds, wrong, check);
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
        private int[] written = new int[(int)(slots * FILL / threads)];

        private Worker(final KvTable table, final int number)
        {
            this.table = table;
            this.number = number;
            random = new SplittableRandom(number);
        }

        /** The first subtable that is full ends it a little early. */
        private long fill()
        {
            for (int i = 0; i < written.length; i++)
            {
                try
                {
                    table.put(key(i), value(i, 0));
                }
                catch (final KvTableFullException ex)
                {
                    written = Arrays.copyOf(written, i);
                    break;
                }
            }
            return written.length;
        }

        private long overwrite()
        {
            final long share = overwrites / threads;
            for (long i = 0; i < share; i++)
            {
                final int record = random.nextInt(written.length);
                table.put(key(record), value(record, written[record] + 1));
                written[record]++;
            }
            return share;
        }

        private long verify()
        {
            long wrong = 0;
            for (int i = 0; i < written.length; i++)
            {
                final Optional<KvEntry> entry = table.get(key(i));
                wrong += entry.isPresent() && ByteBuffer.wrap(entry.get().value()).equals(
                    ByteBuffer.wrap(value(i, written[i]))) ? 0 : 1;
            }
            return wrong;
        }

        private byte[] key(final int record)
        {
            return ByteBuffer.allocate(16).putLong(number).putLong(record).array();
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
