package io.verbena.load.demo;

import io.verbena.elle.history.EventType;
import io.verbena.elle.history.RecordingLane;
import org.agrona.concurrent.NanoClock;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * The deadlines that register clients gave to records, and what the checker has to know of them: for each one an
 * operation "elapse" of the clock's, which begins before any clock says that the deadline has passed, and ends when all
 * do, and not before the write ends that named it. So the checker finds one instant of that time at which the record
 * ends for everybody, or says that there is none. Thread-safe.
 */
final class ElapsedDeadlines
{
    /** Deadlines are multiples of this, so that writes often name the same, and many operations are about it. */
    static final long GRID_MS = 10;
    /** Longest time from a write to the deadline that it names. */
    static final long LONGEST_MS = 40;
    private static final long SHORTEST_MS = 3;
    /** By which the clocks of all processes may differ from the one that recordings have, besides its steps. */
    private static final long TOLERANCE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int SAMPLES = 20;
    /** Processes from here on are the clock's. */
    private static final int FIRST_PROCESS = 1 << 20;

    private final NanoClock clock;
    private final long firstOffsetNs;
    private final List<Named> named = new ArrayList<>();

    /** A deadline of a record; of a write of unknown outcome it may never come to be. */
    private record Named(String key, long deadlineMs, long endNs, boolean isUnknown)
    {
    }

    private record Elapse(Named deadline, long fromNs, long toNs)
    {
    }

    ElapsedDeadlines(final NanoClock clock)
    {
        this.clock = clock;
        firstOffsetNs = offsetNs(clock);
    }

    /** What the wall clock is ahead of a clock, by the sample that was taken in the shortest time. */
    private static long offsetNs(final NanoClock clock)
    {
        long shortestNs = Long.MAX_VALUE;
        long offsetNs = 0;
        for (int i = 0; i < SAMPLES; i++)
        {
            final long beforeNs = clock.nanoTime();
            final Instant wall = Instant.now();
            final long tookNs = clock.nanoTime() - beforeNs;
            if (tookNs < shortestNs)
            {
                shortestNs = tookNs;
                offsetNs = TimeUnit.SECONDS.toNanos(wall.getEpochSecond()) + wall.getNano() - beforeNs - tookNs / 2;
            }
        }
        return offsetNs;
    }

    /** Chooses a deadline, in ms since 1970. */
    static long draw(final SplittableRandom random, final long nowMs)
    {
        final long soonestMs = nowMs + SHORTEST_MS + random.nextLong(LONGEST_MS - GRID_MS - SHORTEST_MS);
        return (soonestMs + GRID_MS - 1) / GRID_MS * GRID_MS;
    }

    /**
     * A write that named a deadline has ended, and may have taken effect.
     *
     * @param key        of the record.
     * @param deadlineMs that it named.
     * @param endNs      when it ended.
     * @param isUnknown  whether it may still take effect, or never.
     */
    synchronized void onWrite(final String key, final long deadlineMs, final long endNs, final boolean isUnknown)
    {
        named.add(new Named(key, deadlineMs, endNs, isUnknown));
    }

    synchronized int count()
    {
        return named.size();
    }

    /** Writes the operations of the clock down; after all clients have ended. */
    synchronized void record(final RecordingLane lane, final int elapse)
    {
        final long lastOffsetNs = offsetNs(clock);
        final List<Elapse> operations = new ArrayList<>();
        for (final Named deadline : named)
        {
            final long wallNs = TimeUnit.MILLISECONDS.toNanos(deadline.deadlineMs);
            operations.add(new Elapse(deadline, wallNs - Math.max(firstOffsetNs, lastOffsetNs) - TOLERANCE_NS,
                Math.max(deadline.endNs, wallNs - Math.min(firstOffsetNs, lastOffsetNs) + TOLERANCE_NS)));
        }
        operations.sort(Comparator.comparingLong(Elapse::fromNs));
        final PriorityQueue<Running> running = new PriorityQueue<>(Comparator.comparingLong(Running::toNs));
        final List<Integer> free = new ArrayList<>();
        int processes = FIRST_PROCESS;
        for (final Elapse operation : operations)
        {
            while (!running.isEmpty() && running.peek().toNs() < operation.fromNs)
            {
                end(lane, elapse, running.poll(), free);
            }
            final int process = free.isEmpty() ? processes++ : free.removeLast();
            lane.event(EventType.INVOKE, operation.fromNs, process, elapse).value(operation.deadline.key)
                .number(operation.deadline.deadlineMs);
            running.add(new Running(operation, process));
        }
        while (!running.isEmpty())
        {
            end(lane, elapse, running.poll(), free);
        }
    }

    private record Running(Elapse operation, int process)
    {
        private long toNs()
        {
            return operation.toNs;
        }
    }

    private static void end(
        final RecordingLane lane, final int elapse, final Running running, final List<Integer> free)
    {
        final Named deadline = running.operation.deadline;
        lane.event(deadline.isUnknown ? EventType.INFO : EventType.OK, running.toNs(), running.process, elapse)
            .value(deadline.key).nil();
        if (!deadline.isUnknown)
        {
            free.add(running.process);
        }
    }
}
