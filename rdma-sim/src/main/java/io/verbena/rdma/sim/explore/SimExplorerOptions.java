package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.schedule.StatePart;

import java.util.EnumSet;
import java.util.Set;

/** Bounds of a {@link SimExplorer}; what was cut off by one is reported. */
public final class SimExplorerOptions
{
    private int mostSteps = 400;
    private long mostStates = 1_000_000;
    private int mostCrashes;
    private boolean lines;
    private int mostLosses;
    private boolean weakOrder;
    private boolean late;
    private boolean everyOrder;
    private Set<StatePart> parts = StateHash.EVERYTHING;

    /** @return transitions of one run. */
    public int mostSteps()
    {
        return mostSteps;
    }

    /**
     * @param most transitions of one run; longer ones are cut off.
     * @return this.
     */
    public SimExplorerOptions mostSteps(final int most)
    {
        mostSteps = most;
        return this;
    }

    /** @return different states. */
    public long mostStates()
    {
        return mostStates;
    }

    /**
     * @param most different states, after which the search stops; each takes about 30 bytes of heap.
     * @return this.
     */
    public SimExplorerOptions mostStates(final long most)
    {
        mostStates = most;
        return this;
    }

    /** @return crashes of one run. */
    public int mostCrashes()
    {
        return mostCrashes;
    }

    /**
     * @param most actors that crash in one run, between any two of all transitions. What a crashed actor has posted
     *             executes late, in order, or never.
     * @return this.
     */
    public SimExplorerOptions mostCrashes(final int most)
    {
        mostCrashes = most;
        return this;
    }

    /** @return messages lost in one run. */
    public int mostLosses()
    {
        return mostLosses;
    }

    /**
     * @param most messages of UC and UD queue pairs that get lost in one run, each wholly.
     * @return this.
     */
    public SimExplorerOptions mostLosses(final int most)
    {
        mostLosses = most;
        return this;
    }

    /** @return whether READs and WRITEs take a transition for each line. */
    public boolean lines()
    {
        return lines;
    }

    /**
     * @param lines whether READs and WRITEs take a transition for each 64-byte line, in ascending order, not one.
     * @return this.
     */
    public SimExplorerOptions lines(final boolean lines)
    {
        this.lines = lines;
        return this;
    }

    /** @return whether requests overtake where the contract lets them. */
    public boolean weakOrder()
    {
        return weakOrder;
    }

    /**
     * @param weakOrder whether, without FENCE, READs are overtaken by later WRITEs and SENDs and atomics by later READs
     *                  (which the device attributes then say).
     * @return this.
     */
    public SimExplorerOptions weakOrder(final boolean weakOrder)
    {
        this.weakOrder = weakOrder;
        return this;
    }

    /** @return whether responses and looks take a transition each. */
    public boolean late()
    {
        return late;
    }

    /**
     * @param late whether a response reaches its requester, and an actor looks at what its device has for it, by a
     *             transition of its own, later than it could. Needed where actors are targets of others (two-sided
     *             protocols) or have requests of several queue pairs outstanding; without it they are never late.
     * @return this.
     */
    public SimExplorerOptions late(final boolean late)
    {
        this.late = late;
        return this;
    }

    /** @return whether orders that only differ in steps that commute are all run. */
    public boolean everyOrder()
    {
        return everyOrder;
    }

    /**
     * @param every whether every order is run, also those of which another one shows the same: for tests of the
     *              reduction, see {@link SleepSet}.
     * @return this.
     */
    public SimExplorerOptions everyOrder(final boolean every)
    {
        everyOrder = every;
        return this;
    }

    /** Whether of orders that show the same only one is run. */
    boolean isReduced()
    {
        // Elsewhere a transition is not identified by whose it is.
        return !everyOrder && !late && !weakOrder && mostLosses == 0;
    }

    Set<StatePart> parts()
    {
        return parts;
    }

    /** What of a state counts: for tests that show what goes wrong without a part. */
    SimExplorerOptions without(final StatePart part)
    {
        parts = EnumSet.complementOf(EnumSet.of(part));
        return this;
    }
}
