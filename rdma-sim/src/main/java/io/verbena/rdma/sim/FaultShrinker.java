package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFault;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a fault schedule smaller that makes a run fail: leaves out faults by delta debugging (Zeller and Hildebrandt,
 * "Simplifying and Isolating Failure-Inducing Input", 2002) until none can be left out alone, then shortens durations
 * and rounds times.
 */
final class FaultShrinker
{
    private static final long[] GRAINS_NS = {1_000_000, 100_000, 10_000, 1_000, 100, 10};

    private final Predicate<List<SimFault>> fails;
    private final int mostRuns;
    private int runs;

    /**
     * @param fails    runs with exactly these faults; true when the run fails as the first one did.
     * @param mostRuns bound.
     */
    FaultShrinker(final Predicate<List<SimFault>> fails, final int mostRuns)
    {
        this.fails = fails;
        this.mostRuns = mostRuns;
    }

    int runs()
    {
        return runs;
    }

    /** Whether the bound ended it, so that the result may not be the smallest. */
    boolean isCutShort()
    {
        return runs >= mostRuns;
    }

    List<SimFault> shrink(final List<SimFault> failing)
    {
        if (stillFails(List.of()))
        {
            return List.of();
        }
        List<SimFault> smallest = minimize(failing);
        for (int i = 0; i < smallest.size(); i++)
        {
            smallest = simplify(smallest, i);
        }
        return minimize(smallest);
    }

    /** No fault of the result can be left out alone, unless the bound was reached. */
    private List<SimFault> minimize(final List<SimFault> failing)
    {
        List<SimFault> current = failing;
        int parts = 2;
        while (current.size() > 1)
        {
            final List<SimFault> smaller = smaller(current, parts);
            if (smaller != null)
            {
                current = smaller;
                parts = Math.max(2, parts - 1);
            }
            else if (parts >= current.size())
            {
                return current;
            }
            else
            {
                parts = Math.min(current.size(), parts * 2);
            }
        }
        return current;
    }

    /** One part alone, or all but one part; null when none of these fails. */
    private List<SimFault> smaller(final List<SimFault> current, final int parts)
    {
        for (int pass = 0; pass < (parts > 2 ? 2 : 1); pass++)
        {
            for (int part = 0; part < parts; part++)
            {
                final int from = (int)((long)current.size() * part / parts);
                final int to = (int)((long)current.size() * (part + 1) / parts);
                final List<SimFault> candidate = new ArrayList<>(current.subList(from, to));
                if (pass > 0)
                {
                    candidate.clear();
                    candidate.addAll(current.subList(0, from));
                    candidate.addAll(current.subList(to, current.size()));
                }
                if (stillFails(candidate))
                {
                    return candidate;
                }
            }
        }
        return null;
    }

    private List<SimFault> simplify(final List<SimFault> faults, final int index)
    {
        List<SimFault> current = faults;
        while (current.get(index).durationNs() > 1)
        {
            final SimFault fault = current.get(index);
            final List<SimFault> shorter = with(current, index, fault.withDurationNs(fault.durationNs() / 2));
            if (!stillFails(shorter))
            {
                break;
            }
            current = shorter;
        }
        current = round(current, index, false);
        return current.get(index).isScheduled() ? round(current, index, true) : current;
    }

    /** Takes the roundest time, or duration, that still fails. */
    private List<SimFault> round(final List<SimFault> current, final int index, final boolean isTime)
    {
        final SimFault fault = current.get(index);
        final long ns = isTime ? fault.atNs() : fault.durationNs();
        for (final long grainNs : GRAINS_NS)
        {
            for (long rounded = ns / grainNs * grainNs; rounded <= ns + grainNs; rounded += grainNs)
            {
                if (rounded == ns)
                {
                    return current;
                }
                final List<SimFault> candidate = with(
                    current, index, isTime ? fault.withAtNs(rounded) : fault.withDurationNs(rounded));
                if ((rounded > 0 || isTime) && stillFails(candidate))
                {
                    return candidate;
                }
            }
        }
        return current;
    }

    private static List<SimFault> with(final List<SimFault> faults, final int index, final SimFault fault)
    {
        final List<SimFault> changed = new ArrayList<>(faults);
        changed.set(index, fault);
        return changed;
    }

    private boolean stillFails(final List<SimFault> candidate)
    {
        if (runs >= mostRuns)
        {
            return false;
        }
        runs++;
        return fails.test(candidate);
    }
}
