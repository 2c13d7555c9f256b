package io.verbena.rdma.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The queue pairs on which something was posted, from the threads that post to the one that drives: a list without
 * locks, in which a queue pair is at most once.
 *
 * <p>A poster publishes its requests first and then marks the queue pair; the driver takes the mark away first and
 * then looks for requests. Both do it with one atomic exchange, so either the driver finds the requests or the poster
 * finds no mark and puts the queue pair on the list again.
 */
final class PostedQueuePairs
{
    private static final VarHandle FIRST;
    private static final VarHandle MARK;

    static
    {
        try
        {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            FIRST = lookup.findVarHandle(PostedQueuePairs.class, "first", ScheduleEntry.class);
            MARK = lookup.findVarHandle(ScheduleEntry.class, "postedMark", int.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private ScheduleEntry first;

    /** Any thread: what was posted is published; the next {@link #drainTo} finds it. */
    void add(final ScheduleEntry entry)
    {
        if ((int)MARK.getAndSet(entry, 1) == 0)
        {
            ScheduleEntry next;
            do
            {
                next = (ScheduleEntry)FIRST.getAcquire(this);
                entry.nextPosted = next;
            }
            while (!FIRST.compareAndSet(this, next, entry));
        }
    }

    /** Any thread: whether there is one to be drained; ordered after all that the caller has done before. */
    boolean isPending()
    {
        VarHandle.fullFence();
        return FIRST.getAcquire(this) != null;
    }

    /** Driver: makes them ready, the one posted first at first. */
    void drainTo(final Schedule schedule)
    {
        if (FIRST.getAcquire(this) == null)
        {
            return;
        }
        ScheduleEntry newest = (ScheduleEntry)FIRST.getAndSet(this, null);
        ScheduleEntry oldest = null;
        while (newest != null)
        {
            final ScheduleEntry next = newest.nextPosted;
            newest.nextPosted = oldest;
            oldest = newest;
            newest = next;
        }
        while (oldest != null)
        {
            final ScheduleEntry entry = oldest;
            oldest = entry.nextPosted;
            // From here on a poster may put it on the list again.
            entry.nextPosted = null;
            MARK.getAndSet(entry, 0);
            schedule.wake(entry);
        }
    }
}
