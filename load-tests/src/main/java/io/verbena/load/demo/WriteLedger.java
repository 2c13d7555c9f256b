package io.verbena.load.demo;

import io.verbena.load.ycsb.RecordCodec;
import io.verbena.load.ycsb.RecordFormatException;
import io.verbena.load.ycsb.RecordListener;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Knows of each record which writes a read may return. A write is replaced once an acknowledged one has begun after it
 * had ended. A read must return a write that had begun when it ended, and that was not replaced when it began: the last
 * acknowledged write, one that overlapped it, one that was in flight since, or one whose outcome is unknown.
 * Thread-safe; memory grows with the number of records, and with the writes of a record during one read of it.
 */
final class WriteLedger
{
    private static final long NOT_ENDED = Long.MAX_VALUE;

    private final NanoClock clock;
    private final ConcurrentHashMap<String, Writes> writesByKey = new ConcurrentHashMap<>();
    private final LongAdder reads = new LongAdder();
    private final LongAdder readViolations = new LongAdder();
    private final AtomicReference<String> firstReadViolation = new AtomicReference<>();

    WriteLedger(final NanoClock clock)
    {
        this.clock = clock;
    }

    /**
     * Where one worker's binding reports its reads and writes.
     *
     * @param writer stamped on the worker's writes.
     */
    RecordListener worker(final int writer)
    {
        return new Worker(writer);
    }

    Set<String> keys()
    {
        return writesByKey.keySet();
    }

    /**
     * Judges what a record holds after all writers have ended.
     *
     * @param key      of the record, one of {@link #keys()}.
     * @param writer   stamped on the record that was found.
     * @param sequence stamped on the record that was found.
     * @return null when it may hold that, else what it should hold.
     */
    String violation(final String key, final int writer, final long sequence)
    {
        return writesByKey.get(key).violation(writer, sequence);
    }

    /**
     * Whether the record must be there: some write of it was acknowledged.
     */
    boolean mustExist(final String key)
    {
        final Writes writes = writesByKey.get(key);
        return null != writes && writes.hasAcknowledged();
    }

    /**
     * Writes of the record that are kept, because some read may return them.
     */
    int candidates(final String key)
    {
        return writesByKey.get(key).count();
    }

    /**
     * What the reads so far returned.
     */
    ReadFigures reads()
    {
        return new ReadFigures(reads.sum(), readViolations.sum(), firstReadViolation.get());
    }

    private Writes writes(final String key)
    {
        final Writes known = writesByKey.get(key);
        return known != null ? known : writesByKey.computeIfAbsent(key, ignored -> new Writes());
    }

    /**
     * Reads of a value that some write had left.
     *
     * @param reads          that returned a value.
     * @param violations     of these, those that returned what they must not.
     * @param firstViolation text of one of them, or null.
     */
    record ReadFigures(long reads, long violations, String firstViolation)
    {
    }

    private static final class Write
    {
        private final int writer;
        private final long sequence;
        private final long startNs;
        private long endNs = NOT_ENDED;

        private Write(final int writer, final long sequence, final long startNs)
        {
            this.writer = writer;
            this.sequence = sequence;
            this.startNs = startNs;
        }

        @Override
        public String toString()
        {
            return "(writer " + writer + ", sequence " + sequence + (endNs == NOT_ENDED ? ", outcome unknown)" : ")");
        }
    }

    /** The one read and the one write that a worker may have open; the read belongs to the lock of its record. */
    private final class Worker implements RecordListener
    {
        private final int writer;
        private Writes written;
        private Write write;
        private Writes read;
        private String readKey;
        private long replacedBeforeNs;
        private Worker nextReader;

        private Worker(final int writer)
        {
            this.writer = writer;
        }

        @Override
        public void onReadStart(final String key)
        {
            readKey = key;
            read = writes(key);
            read.beginRead(this);
        }

        @Override
        public void onReadEnd(final byte[] record)
        {
            final String violation = violation(record);
            if (record != null)
            {
                reads.increment();
            }
            if (violation != null)
            {
                readViolations.increment();
                firstReadViolation.compareAndSet(null, "a read of record " + readKey + " " + violation);
            }
        }

        private String violation(final byte[] record)
        {
            try
            {
                return record == null ? null :
                    read.violation(RecordCodec.writer(record), RecordCodec.sequence(record), replacedBeforeNs);
            }
            catch (final RecordFormatException ex)
            {
                return "cannot be judged: " + ex.getMessage();
            }
            finally
            {
                read.endRead(this);
            }
        }

        @Override
        public void onWriteStart(final String key, final long sequence)
        {
            written = writes(key);
            write = new Write(writer, sequence, clock.nanoTime());
            written.begin(write);
        }

        @Override
        public void onWriteEnd(final String key, final long sequence, final Outcome outcome)
        {
            switch (outcome)
            {
                case ACKNOWLEDGED -> written.acknowledge(write, clock.nanoTime());
                case NOT_APPLIED -> written.remove(write);
                case UNKNOWN ->
                {
                    // A candidate for ever.
                }
            }
        }
    }

    private static final class Writes
    {
        private final List<Write> candidates = new ArrayList<>(2);
        private long lastAcknowledgedStartNs = Long.MIN_VALUE;
        /** The workers that have a read of this record open. */
        private Worker readers;

        private synchronized void begin(final Write write)
        {
            candidates.add(write);
        }

        private synchronized void acknowledge(final Write write, final long endNs)
        {
            write.endNs = endNs;
            lastAcknowledgedStartNs = Math.max(lastAcknowledgedStartNs, write.startNs);
            long replacedBeforeNs = lastAcknowledgedStartNs;
            for (Worker reader = readers; reader != null; reader = reader.nextReader)
            {
                replacedBeforeNs = Math.min(replacedBeforeNs, reader.replacedBeforeNs);
            }
            for (int i = candidates.size() - 1; i >= 0; i--)
            {
                if (candidates.get(i).endNs < replacedBeforeNs)
                {
                    candidates.remove(i);
                }
            }
        }

        private synchronized void remove(final Write write)
        {
            candidates.remove(write);
        }

        private synchronized void beginRead(final Worker reader)
        {
            reader.replacedBeforeNs = lastAcknowledgedStartNs;
            reader.nextReader = readers;
            readers = reader;
        }

        private synchronized void endRead(final Worker reader)
        {
            if (readers == reader)
            {
                readers = reader.nextReader;
            }
            else
            {
                Worker before = readers;
                while (before.nextReader != reader)
                {
                    before = before.nextReader;
                }
                before.nextReader = reader.nextReader;
            }
            reader.nextReader = null;
        }

        private synchronized String violation(final int writer, final long sequence)
        {
            return violation("holds", writer, sequence, lastAcknowledgedStartNs);
        }

        private synchronized String violation(final int writer, final long sequence, final long replacedBeforeNs)
        {
            return violation("returned", writer, sequence, replacedBeforeNs);
        }

        private String violation(
            final String what, final int writer, final long sequence, final long replacedBeforeNs)
        {
            for (int i = 0; i < candidates.size(); i++)
            {
                final Write candidate = candidates.get(i);
                if (candidate.writer == writer && candidate.sequence == sequence && candidate.endNs >= replacedBeforeNs)
                {
                    return null;
                }
            }
            return what + " (writer " + writer + ", sequence " + sequence + ") instead of one of " +
                candidates.stream().filter(candidate -> candidate.endNs >= replacedBeforeNs).toList();
        }

        private synchronized int count()
        {
            return candidates.size();
        }

        private synchronized boolean hasAcknowledged()
        {
            return lastAcknowledgedStartNs != Long.MIN_VALUE;
        }
    }
}
