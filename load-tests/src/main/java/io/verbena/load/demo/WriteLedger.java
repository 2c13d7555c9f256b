package io.verbena.load.demo;

import io.verbena.load.ycsb.WriteListener;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows of each record which writes may be the last. A write cannot be the last once an acknowledged one has begun
 * after it had ended; so a record must hold the last acknowledged write or one that overlapped it, or one whose outcome
 * is unknown. Thread-safe; memory grows with the number of records, not of writes.
 */
final class WriteLedger
{
    private static final long NEVER_ENDED = Long.MAX_VALUE;

    private final NanoClock clock;
    private final ConcurrentHashMap<String, Writes> writesByKey = new ConcurrentHashMap<>();

    WriteLedger(final NanoClock clock)
    {
        this.clock = clock;
    }

    /**
     * Where one writer's binding reports its writes.
     */
    WriteListener writer(final int writer)
    {
        return new WriteListener()
        {
            private long startNs;

            @Override
            public void onWriteStart()
            {
                startNs = clock.nanoTime();
            }

            @Override
            public void onWriteEnd(final String key, final long sequence, final Outcome outcome)
            {
                if (outcome != Outcome.NOT_APPLIED)
                {
                    final long endNs = clock.nanoTime();
                    final Write write =
                        new Write(writer, sequence, startNs, outcome == Outcome.ACKNOWLEDGED ? endNs : NEVER_ENDED);
                    writesByKey.computeIfAbsent(key, ignored -> new Writes()).add(write);
                }
            }
        };
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

    private record Write(int writer, long sequence, long startNs, long endNs)
    {
        @Override
        public String toString()
        {
            return "(writer " + writer + ", sequence " + sequence + (endNs == NEVER_ENDED ? ", outcome unknown)" : ")");
        }
    }

    private static final class Writes
    {
        private final List<Write> candidates = new ArrayList<>(2);
        private long lastAcknowledgedStartNs = Long.MIN_VALUE;

        private synchronized void add(final Write write)
        {
            if (write.endNs != NEVER_ENDED)
            {
                lastAcknowledgedStartNs = Math.max(lastAcknowledgedStartNs, write.startNs);
            }
            candidates.add(write);
            candidates.removeIf(candidate -> candidate.endNs < lastAcknowledgedStartNs);
        }

        private synchronized String violation(final int writer, final long sequence)
        {
            for (final Write candidate : candidates)
            {
                if (candidate.writer == writer && candidate.sequence == sequence)
                {
                    return null;
                }
            }
            return "holds (writer " + writer + ", sequence " + sequence + ") instead of one of " + candidates;
        }

        private synchronized boolean hasAcknowledged()
        {
            return lastAcknowledgedStartNs != Long.MIN_VALUE;
        }
    }
}
