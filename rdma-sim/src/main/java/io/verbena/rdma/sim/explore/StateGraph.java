package io.verbena.rdma.sim.explore;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongArrayList;

/**
 * States and what follows them, to tell how many different schedules an exploration has covered. A step that
 * {@link SleepSet sleeps} was not taken, but where it leads is known: where the step that led here leads from
 * where the sleeping one would have led from the state before.
 */
final class StateGraph
{
    private static final long UNKNOWN = -1;
    private static final long ON_PATH = -2;
    /** Words of an entry: a step and where it leads, or, if negative, a step that sleeps, the state and step before. */
    private static final int ENTRY = 3;
    private static final long STACK_BYTES = 1L << 30;

    private final Long2ObjectHashMap<LongArrayList> followers = new Long2ObjectHashMap<>();
    private final Long2LongHashMap counts = new Long2LongHashMap(UNKNOWN);
    private boolean isAnyLost;

    void add(final long from, final int step, final long to)
    {
        add(from, step, to, 0);
    }

    /** Adds what sleeps in a state that is reached for the first time, by a step from another one. */
    void addSleeping(final long state, final long asleep, final long before, final int lastStep)
    {
        for (long left = asleep; left != 0; left &= left - 1)
        {
            add(state, ~(long)Long.numberOfTrailingZeros(left), before, lastStep);
        }
    }

    private void add(final long from, final long step, final long one, final long two)
    {
        final LongArrayList entries = followers.computeIfAbsent(from, state -> new LongArrayList(2 * ENTRY, UNKNOWN));
        entries.addLong(step);
        entries.addLong(one);
        entries.addLong(two);
    }

    /** Paths from a state to where nothing follows; {@link Long#MAX_VALUE} when there are more, or endless ones. */
    long paths(final long from)
    {
        final long[] paths = new long[1];
        // As deep as the longest way to a state, and that takes stack.
        final Thread thread = new Thread(null, () -> paths[0] = count(from), "paths", STACK_BYTES);
        thread.start();
        try
        {
            thread.join();
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
        return isAnyLost ? Long.MAX_VALUE : paths[0];
    }

    private long count(final long from)
    {
        final LongArrayList next = followers.get(from);
        if (next == null)
        {
            return 1;
        }
        final long known = counts.get(from);
        if (known == ON_PATH)
        {
            return Long.MAX_VALUE;
        }
        if (known != UNKNOWN)
        {
            return known;
        }
        counts.put(from, ON_PATH);
        long sum = 0;
        for (int i = 0; i < next.size(); i += ENTRY)
        {
            final long step = next.getLong(i);
            if (step >= 0 || indexOf(next, ~step) < 0)
            {
                final long more = count(step >= 0 ? next.getLong(i + 1) : behind(from, ~step));
                sum = sum > Long.MAX_VALUE - more ? Long.MAX_VALUE : sum + more;
            }
        }
        counts.put(from, sum);
        return sum;
    }

    /** Where a step leads to. Found out once for one that sleeps, and kept. */
    private long behind(final long state, final long step)
    {
        final LongArrayList entries = followers.get(state);
        final int at = entries == null ? -1 : indexOf(entries, step);
        final int sleepingAt = entries == null ? -1 : indexOf(entries, ~step);
        if (at >= 0)
        {
            return entries.getLong(at + 1);
        }
        if (sleepingAt < 0)
        {
            // Cut off before it was taken.
            isAnyLost = true;
            return state;
        }
        final long before = entries.getLong(sleepingAt + 1);
        final long lastStep = entries.getLong(sleepingAt + 2);
        final long to = behind(behind(before, step), lastStep);
        entries.setLong(sleepingAt, step);
        entries.setLong(sleepingAt + 1, to);
        return to;
    }

    private static int indexOf(final LongArrayList entries, final long step)
    {
        for (int i = 0; i < entries.size(); i += ENTRY)
        {
            if (entries.getLong(i) == step)
            {
                return i;
            }
        }
        return -1;
    }
}
