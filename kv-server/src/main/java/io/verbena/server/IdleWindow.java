package io.verbena.server;

/**
 * How long the thread of a role goes on looking for work before it sleeps: some cycles that spin, then some that give
 * way, since callers often come back at once. After a long sleep the first pieces of work, a heartbeat's say, get a
 * short window: an idle role would spend most of its time on looking for more. Where each cycle is a system call, few
 * cycles are enough, and none gives way: sleeping costs little more, and does so, too. Used by one thread.
 */
final class IdleWindow
{
    /** What to do in a cycle without work. */
    enum Step
    {
        SPIN, YIELD, SLEEP
    }

    static final int SPINS = 100;
    static final int YIELDS = 50;
    /** More than the empty polls after which a context arms its completion queues. */
    static final int SHORT_CYCLES = 40;
    /** Cycles where each is a system call; again more than the empty polls after which queues are armed. */
    static final int CALLS = 6;
    /** Cycles with work after a long sleep until the window is the long one: more than a heartbeat takes. */
    static final int SHORT_WORKS = 8;
    /** A longer sleep is a long one: 5 ms. */
    static final long LONG_SLEEP_NS = 5_000_000;

    private final int spins;
    private final int cycles;
    private final int shortCycles;
    private int works = SHORT_WORKS;
    private int idleCycles;

    /** @param pollsBySystemCall whether each cycle costs a system call. */
    IdleWindow(final boolean pollsBySystemCall)
    {
        spins = pollsBySystemCall ? CALLS : SPINS;
        cycles = pollsBySystemCall ? CALLS : SPINS + YIELDS;
        shortCycles = Math.min(cycles, SHORT_CYCLES);
    }

    /** A cycle did something. */
    void onWork()
    {
        works = Math.min(works + 1, SHORT_WORKS + 1);
        idleCycles = works > SHORT_WORKS ? 0 : cycles - shortCycles;
    }

    /**
     * The thread has slept.
     *
     * @param sleptNs how long.
     * @param isEvent whether an event ended it, which may be of what was seen already: then its queue has to be armed
     *                again, in a whole window.
     */
    void onSleep(final long sleptNs, final boolean isEvent)
    {
        works = sleptNs > LONG_SLEEP_NS ? 0 : works;
        idleCycles = isEvent ? 0 : idleCycles;
    }

    /** A cycle did nothing; says how to pass the time until the next one. */
    Step next()
    {
        if (idleCycles >= cycles)
        {
            return Step.SLEEP;
        }
        idleCycles++;
        return idleCycles <= spins ? Step.SPIN : Step.YIELD;
    }
}
