package io.verbena.compute.growth;

import static io.verbena.test.Mutation.field;

/** Lets tests of a whole cluster see what the scheduler of splits and merges does. */
public final class SchedulerState
{
    /** Most splits and merges of a node that are complete and not made known. */
    public static final int MOST_UNPUBLISHED = Publications.MOST;

    private SchedulerState()
    {
    }

    /** @return whether a subtable is being split or merged just now. */
    public static boolean isWorking(final GrowthScheduler scheduler)
    {
        return "WORKING".equals(field(scheduler, "step", Enum.class).name());
    }

    /** @return splits that it has brought to their ends. */
    public static long splitCount(final GrowthScheduler scheduler)
    {
        return scheduler.splitCount();
    }

    /** @return merges that it has brought to their ends. */
    public static long mergeCount(final GrowthScheduler scheduler)
    {
        return scheduler.mergeCount();
    }

    /** @return splits and merges that are complete and not made known. */
    public static int unpublished(final GrowthScheduler scheduler)
    {
        return field(scheduler, "publications", Publications.class).size();
    }
}
