package io.verbena.resp.session;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * CLIENT PAUSE of a port: until when commands of all its clients do not begin, and which. Who waits has itself woken by
 * its own timer, or by {@link #end()}. Thread-safe; whether a command waits takes one volatile read.
 */
public final class ClientPause
{
    private record Period(long endNs, boolean isOfAll)
    {
    }

    private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();
    private volatile Period period;

    /**
     * Begins a pause. One that is there already is made neither shorter nor weaker.
     *
     * @param nowNs      by the clock of the workers.
     * @param durationNs how long from now, 0 or more.
     * @param isOfAll    whether all commands wait; else those that write.
     */
    public synchronized void begin(final long nowNs, final long durationNs, final boolean isOfAll)
    {
        final Period earlier = period;
        final boolean isLonger = null != earlier && earlier.endNs - nowNs > durationNs;
        final boolean isStronger = null != earlier && earlier.endNs - nowNs > 0 && earlier.isOfAll;
        period = new Period(isLonger ? earlier.endNs : nowNs + durationNs, isOfAll || isStronger);
    }

    /** Ends the pause: all that waits goes on. */
    public synchronized void end()
    {
        period = null;
        waiting.forEach(Runnable::run);
        waiting.clear();
    }

    /**
     * How long a command has to wait.
     *
     * @param isWrite whether the command writes.
     * @param nowNs   by the clock of the workers.
     * @return 0 or less: it may begin.
     */
    long remainingNs(final boolean isWrite, final long nowNs)
    {
        final Period present = period;
        return null == present || !isWrite && !present.isOfAll ? 0 : present.endNs - nowNs;
    }

    /** Takes what wakes who waits: run once, by any thread, if the pause is ended. */
    void add(final Runnable wake)
    {
        waiting.add(wake);
    }

    void remove(final Runnable wake)
    {
        waiting.remove(wake);
    }

    /** @return how many wait. */
    public int waiters()
    {
        return waiting.size();
    }

    @Override
    public String toString()
    {
        return "ClientPause{period=" + period + ", waiters=" + waiters() + '}';
    }
}
