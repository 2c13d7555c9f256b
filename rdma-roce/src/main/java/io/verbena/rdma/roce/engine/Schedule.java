package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RetryTimers;

import java.util.ArrayList;
import java.util.List;

/** Which queue pairs have something to send, in turn, and which deadline is next. Used by the engine's thread. */
final class Schedule
{
    private static final int QUANTUM_PACKETS = 16;
    private static final int MAX_ROUNDS = 64;

    private final List<ScheduleEntry> entries = new ArrayList<>();
    private ScheduleEntry firstReady;
    private ScheduleEntry lastReady;
    private long earliestDeadlineNs = RetryTimers.NEVER_NS;

    void add(final ScheduleEntry entry)
    {
        entries.add(entry);
    }

    void remove(final ScheduleEntry entry)
    {
        entries.remove(entry);
    }

    /** An entry has something to send. */
    void wake(final ScheduleEntry entry)
    {
        if (!entry.isReady)
        {
            entry.isReady = true;
            if (lastReady == null)
            {
                firstReady = entry;
            }
            else
            {
                lastReady.nextReady = entry;
            }
            lastReady = entry;
        }
    }

    /** Sets an entry's deadline. */
    void deadline(final ScheduleEntry entry, final long timeNs)
    {
        entry.deadlineNs = timeNs;
        earliestDeadlineNs = Math.min(earliestDeadlineNs, timeNs);
    }

    /** When something is to be done at the latest: now when entries are ready. */
    long nextDeadlineNs(final long nowNs)
    {
        return firstReady != null ? nowNs : earliestDeadlineNs;
    }

    /** Calls the entries whose deadlines are over; returns how many. */
    int fireTimers(final long nowNs)
    {
        if (nowNs < earliestDeadlineNs)
        {
            return 0;
        }
        int firedCount = 0;
        earliestDeadlineNs = RetryTimers.NEVER_NS;
        for (int i = 0; i < entries.size(); i++)
        {
            final ScheduleEntry entry = entries.get(i);
            if (entry.deadlineNs <= nowNs)
            {
                entry.deadlineNs = RetryTimers.NEVER_NS;
                entry.onTimer(nowNs);
                firedCount++;
            }
            earliestDeadlineNs = Math.min(earliestDeadlineNs, entry.deadlineNs);
        }
        return firedCount;
    }

    /** Lets ready entries send while there is room; returns how many did. */
    int transmit(final PacketWriter writer)
    {
        int count = 0;
        writer.retry();
        while (count < MAX_ROUNDS && firstReady != null && writer.hasRoom())
        {
            final ScheduleEntry entry = removeReady();
            if (entry.transmit(QUANTUM_PACKETS))
            {
                wake(entry);
            }
            count++;
        }
        return count;
    }

    private ScheduleEntry removeReady()
    {
        final ScheduleEntry entry = firstReady;
        firstReady = entry.nextReady;
        if (firstReady == null)
        {
            lastReady = null;
        }
        entry.nextReady = null;
        entry.isReady = false;
        return entry;
    }
}
