package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvException;
import io.verbena.client.KvOutcome;
import io.verbena.client.KvRecord;
import io.verbena.client.KvTable;
import io.verbena.load.report.Progress;

import org.agrona.concurrent.NanoClock;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Puts the records of a file into a table: one thread reads, a few put, each a batch at a time. The first failure ends
 * all. Used once, by one thread.
 */
final class RecordLoader
{
    private static final int BATCH = 512;
    private static final int WRITERS = 3;
    private static final int MAX_ATTEMPTS = 3;
    private static final long HANDOVER_MS = 50;
    /** What was read is not yet put. */
    private static final double MOST_FRACTION = 0.99;
    private static final Batch LAST = new Batch();

    /** Some records; as two lists, because that is how they are put. */
    private static final class Batch
    {
        private final List<byte[]> keys = new ArrayList<>(BATCH);
        private final List<byte[]> values = new ArrayList<>(BATCH);
    }

    private final KvTable table;
    private final Progress progress;
    private final NanoClock clock;
    private final BlockingQueue<Batch> batches = new ArrayBlockingQueue<>(2 * WRITERS);
    private final AtomicReference<RuntimeException> failure = new AtomicReference<>();
    private final LongAdder stored = new LongAdder();

    RecordLoader(final KvTable table, final Progress progress, final NanoClock clock)
    {
        this.table = table;
        this.progress = progress;
        this.clock = clock;
    }

    /** @return records put so far. */
    long stored()
    {
        return stored.sum();
    }

    void load(final Path file, final RecordFormat format) throws IOException
    {
        final List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++)
        {
            writers.add(Thread.ofPlatform().daemon().name("load-" + (i + 1)).start(this::write));
        }
        try (Utf8Reader text = new Utf8Reader(Files.newInputStream(file)); BufferedReader in = new BufferedReader(text))
        {
            read(RecordFile.reader(format, in), text, Math.max(1, Files.size(file)));
        }
        catch (final CommandFailedException | IOException ex)
        {
            failure.compareAndSet(null, new IllegalStateException("no result"));
            throw ex;
        }
        finally
        {
            end(writers);
            progress.clear();
        }
        if (null != failure.get())
        {
            throw failure.get();
        }
    }

    private void read(final RecordReader reader, final Utf8Reader text, final double length) throws IOException
    {
        final long beganNs = clock.nanoTime();
        Batch batch = new Batch();
        KvRecord record;
        while (null == failure.get() && null != (record = reader.next()))
        {
            batch.keys.add(record.key());
            batch.values.add(record.value());
            if (BATCH == batch.keys.size())
            {
                hand(batch);
                batch = new Batch();
                final long nowNs = clock.nanoTime();
                progress.update(nowNs - beganNs, nowNs, "load", Math.min(MOST_FRACTION, text.position() / length),
                    stored(), "records");
            }
        }
        hand(batch);
    }

    private void hand(final Batch batch)
    {
        try
        {
            while (null == failure.get() && !batches.offer(batch, HANDOVER_MS, TimeUnit.MILLISECONDS))
            {
                continue; // look whether a writer has failed
            }
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    private void end(final List<Thread> writers)
    {
        try
        {
            for (final Thread writer : writers)
            {
                hand(LAST);
            }
            for (final Thread writer : writers)
            {
                writer.join();
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void write()
    {
        try
        {
            Batch batch = batches.poll(HANDOVER_MS, TimeUnit.MILLISECONDS);
            while (LAST != batch && null == failure.get())
            {
                if (null != batch)
                {
                    put(batch);
                }
                batch = batches.poll(HANDOVER_MS, TimeUnit.MILLISECONDS);
            }
        }
        catch (final InterruptedException | RuntimeException ex)
        {
            failure.compareAndSet(null, ex instanceof final RuntimeException known ? known :
                new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex));
        }
    }

    /** What was not put for want of an answer is put again: the same value, so it does not matter what became of it. */
    private void put(final Batch batch)
    {
        Batch left = batch;
        for (int attempt = 1; !left.keys.isEmpty(); attempt++)
        {
            final List<KvOutcome<Long>> outcomes = table.putAll(left.keys, left.values);
            final Batch again = new Batch();
            KvException first = null;
            for (int i = 0; i < outcomes.size(); i++)
            {
                final KvException ex = outcomes.get(i).failure();
                if (null == ex)
                {
                    stored.increment();
                }
                else if (MAX_ATTEMPTS == attempt || !mayHelp(ex))
                {
                    first = null == first ? ex : first;
                }
                else
                {
                    again.keys.add(left.keys.get(i));
                    again.values.add(left.values.get(i));
                }
            }
            if (null != first)
            {
                throw first; // when all that was put is counted
            }
            left = again;
        }
    }

    private static boolean mayHelp(final KvException ex)
    {
        return KvException.Category.UNAVAILABLE == ex.category() ||
            KvException.Category.NOT_APPLIED == ex.category() ||
            KvException.Category.OUTCOME_UNKNOWN == ex.category();
    }
}
