package io.verbena.load.bench;

import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;

import org.agrona.concurrent.NanoClock;
import site.ycsb.generator.ScrambledZipfianGenerator;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Threads that read and update the records of a table, half and half, with keys as YCSB's workload A chooses them. Each
 * record is updated by one thread, with a number that counts up: so it is known which updates were acknowledged, and
 * {@link #audit} finds those that are gone. One thread drives it, and closes it.
 */
public final class UpdateLoad implements AutoCloseable
{
    /** Threads that work. */
    public static final int THREADS = 2;
    private static final int VALUE_BYTES = 100;

    private final KvTable table;
    private final int records;
    private final NanoClock clock;
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong longestNs = new AtomicLong();
    private final AtomicLong stale = new AtomicLong();
    /** By thread, when the operation that is under way began; of none {@link Long#MIN_VALUE}. */
    private final AtomicLongArray begunNs = new AtomicLongArray(THREADS);
    private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();
    /** By record: the number of the last update, and of the last one that was acknowledged. */
    private final long[] tried;
    private final long[] acknowledged;
    private final List<Thread> threads = new ArrayList<>();

    /**
     * Writes the records, and begins.
     *
     * @param table   empty.
     * @param records one or more for each thread.
     * @param clock   of this machine.
     */
    public UpdateLoad(final KvTable table, final int records, final NanoClock clock)
    {
        this.table = table;
        this.records = records;
        this.clock = clock;
        tried = new long[records];
        acknowledged = new long[records];
        for (int i = 0; i < records; i++)
        {
            table.put(key(i), value(0));
        }
        for (int i = 0; i < THREADS; i++)
        {
            final int number = i;
            begunNs.set(i, Long.MIN_VALUE);
            threads.add(Thread.ofPlatform().name("verbena-bench-failover-" + i).unstarted(() -> work(number)));
        }
        threads.forEach(Thread::start);
    }

    private void work(final int thread)
    {
        final SplittableRandom random = new SplittableRandom(thread);
        final ScrambledZipfianGenerator keys = new ScrambledZipfianGenerator(records);
        while (!isOver.get())
        {
            final int record = keys.nextValue().intValue() % records;
            final boolean isUpdate = random.nextBoolean();
            final long startNs = clock.nanoTime();
            begunNs.set(thread, startNs);
            try
            {
                if (isUpdate)
                {
                    update(own(record, thread));
                }
                else
                {
                    read(record, thread);
                }
                operations.incrementAndGet();
            }
            catch (final KvException ex)
            {
                failures.merge(String.valueOf(ex.getMessage()), 1, Integer::sum);
            }
            longestNs.accumulateAndGet(clock.nanoTime() - startNs, Math::max);
            begunNs.set(thread, Long.MIN_VALUE);
        }
    }

    /** The record itself, or one beside it. */
    private int own(final int record, final int thread)
    {
        final int own = record - record % THREADS + thread;
        return own < records ? own : thread;
    }

    private void update(final int record)
    {
        final long number = ++tried[record];
        table.put(key(record), value(number));
        acknowledged[record] = number;
    }

    /** Only this thread updates its records: what it was acknowledged last is the least that it may read. */
    private void read(final int record, final int thread)
    {
        final long number = number(table.get(key(record)));
        if (record % THREADS == thread && number < acknowledged[record])
        {
            stale.incrementAndGet();
        }
    }

    private static byte[] key(final int record)
    {
        return ByteBuffer.allocate(Integer.BYTES).putInt(record).array();
    }

    private static byte[] value(final long number)
    {
        return ByteBuffer.allocate(VALUE_BYTES).putLong(number).array();
    }

    private static long number(final Optional<KvEntry> entry)
    {
        return entry.map((found) -> ByteBuffer.wrap(found.value()).getLong()).orElse(-1L);
    }

    /** From now on {@link #longestNs} is of operations that end later. */
    public void forgetLongest()
    {
        longestNs.set(0);
    }

    /** @return how long the longest operation took, or takes, from its beginning, however often it was repeated. */
    public long longestNs()
    {
        long longest = longestNs.get();
        final long nowNs = clock.nanoTime();
        for (int i = 0; i < THREADS; i++)
        {
            final long begun = begunNs.get(i);
            longest = Long.MIN_VALUE == begun ? longest : Math.max(longest, nowNs - begun);
        }
        return longest;
    }

    /** @return operations that were answered so far. */
    public long operations()
    {
        return operations.get();
    }

    /** @return those that failed, by what the client said of them. */
    public Map<String, Integer> failures()
    {
        return failures;
    }

    /** @return reads that showed less than what the same thread had been acknowledged before. */
    public long stale()
    {
        return stale.get();
    }

    /**
     * Reads all records; after {@link #close}.
     *
     * @return how many have less than the last update that was acknowledged, or more than the last that was tried.
     */
    public int audit()
    {
        int wrong = 0;
        for (int i = 0; i < records; i++)
        {
            final long number = number(table.get(key(i)));
            wrong += number < acknowledged[i] || number > tried[i] ? 1 : 0;
        }
        return wrong;
    }

    @Override
    public void close()
    {
        isOver.set(true);
        try
        {
            for (final Thread thread : threads)
            {
                thread.join();
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }
}
