package io.verbena.server;

import java.util.concurrent.TimeUnit;

/**
 * When a role takes its figures anew for the health endpoint, which other threads read: soon after it has done
 * something, and else seldom, because to count and to list is most of what a role at rest would do. Used by one thread.
 */
final class FigurePace
{
    /** Between two, at work: 200 ms. */
    static final long WORK_NS = TimeUnit.MILLISECONDS.toNanos(200);
    /** Between two, at rest: 1 s. */
    static final long REST_NS = TimeUnit.SECONDS.toNanos(1);

    private long takenNs;
    private boolean hasWorked;

    /** @param nowNs when figures were taken first, or are to be taken at once: a second before that. */
    FigurePace(final long nowNs)
    {
        takenNs = nowNs;
    }

    /**
     * After each duty cycle.
     *
     * @param work  done in it.
     * @param nowNs time now.
     * @return whether to take the figures now.
     */
    boolean isDue(final int work, final long nowNs)
    {
        hasWorked |= work > 0;
        if (leftNs(nowNs) > 0)
        {
            return false;
        }
        takenNs = nowNs;
        hasWorked = false;
        return true;
    }

    /** @return how long they need not be taken, if nothing is done; less than 0 when they are overdue. */
    long leftNs(final long nowNs)
    {
        return takenNs + (hasWorked ? WORK_NS : REST_NS) - nowNs;
    }
}
