package io.verbena.rdma.sim.explore;

import java.util.stream.IntStream;

/** A point of a run at which several things can happen: which of them are to be tried, and which one is. */
final class ExploredFrame
{
    private final int[] open;
    private final long[] sets;
    private long asleep;
    private int at;

    /**
     * @param open   choices to be tried, at least one.
     * @param sets   each of them as a set, for {@link SleepSet}.
     * @param asleep what sleeps there before the first one.
     */
    ExploredFrame(final int[] open, final long[] sets, final long asleep)
    {
        this.open = open;
        this.sets = sets;
        this.asleep = asleep;
    }

    static ExploredFrame ofAll(final int count)
    {
        return new ExploredFrame(IntStream.range(0, count).toArray(), new long[count], SleepSet.NONE);
    }

    static ExploredFrame ofOne(final int choice)
    {
        return new ExploredFrame(new int[]{choice}, new long[1], SleepSet.NONE);
    }

    int choice()
    {
        return open[at];
    }

    /** What slept there before, and what was tried. */
    long asleep()
    {
        return asleep;
    }

    /** Goes on to the next one, if there is one. */
    boolean next()
    {
        asleep |= sets[at];
        return ++at < open.length;
    }
}
