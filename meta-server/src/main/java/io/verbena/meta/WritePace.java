package io.verbena.meta;

import java.util.concurrent.TimeUnit;

/**
 * From one write of registrations to the next. A write that begins as soon as the one before has ended is shared by
 * the few nodes that came meanwhile, and where a write takes 2 ms a hundred nodes that start together cost fifty. So
 * when {@link #STORM_JOINS} have registered within {@link #STORM_NS}, by one write or by several, the next write waits
 * for more; a node that comes alone never does. Used by the server's thread.
 */
final class WritePace
{
    /** At most from the beginning of a write to that of the next one, unless no more may wait. */
    static final long STORM_NS = TimeUnit.MILLISECONDS.toNanos(8);

    /** The same in lengths of the last write: where a write takes no time, no node waits to save one. */
    static final int STORM_WRITES = 16;

    /** Nodes from which on more are expected. */
    static final int STORM_JOINS = 4;

    private boolean isWriting;
    private long beganNs;
    private long lengthNs;
    private boolean hasWindow;
    private long windowBeganNs;
    private int joinedInWindow;

    /**
     * A write begins, which blocks the thread.
     *
     * @param joined nodes that have registered since the one before; by far most of them share this one.
     * @param nowNs  the clock now.
     */
    void begin(final int joined, final long nowNs)
    {
        isWriting = true;
        beganNs = nowNs;
        if (!hasWindow || nowNs - windowBeganNs >= STORM_NS)
        {
            hasWindow = true;
            windowBeganNs = nowNs;
            joinedInWindow = 0;
        }
        joinedInWindow += joined;
    }

    /**
     * The thread goes on: if there was a write, it has ended.
     *
     * @param nowNs the clock now.
     */
    void poll(final long nowNs)
    {
        if (isWriting)
        {
            isWriting = false;
            lengthNs = nowNs - beganNs;
        }
    }

    /** @return what the last write took; 0 before the first has ended. */
    long lengthNs()
    {
        return lengthNs;
    }

    /**
     * @param nowNs the clock now.
     * @return whether the next write waits for more nodes.
     */
    boolean isPausing(final long nowNs)
    {
        return joinedInWindow >= STORM_JOINS && nowNs - beganNs < Math.min(STORM_NS, STORM_WRITES * lengthNs);
    }
}
