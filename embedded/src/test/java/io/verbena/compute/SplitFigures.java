package io.verbena.compute;

import io.verbena.compute.growth.SchedulerState;

/** Lets tests of a whole cluster see what a node has split. */
public final class SplitFigures
{
    /** Most splits and merges of a node that are complete and not made known. */
    public static final int MOST_UNPUBLISHED = SchedulerState.MOST_UNPUBLISHED;

    private SplitFigures()
    {
    }

    /** @return splits that the present session of a node has brought to their ends. */
    public static long splitCount(final ComputeNode node)
    {
        return SchedulerState.splitCount(node.session().growth());
    }

    /** @return whether a node splits or merges just now. */
    public static boolean isWorking(final ComputeNode node)
    {
        return SchedulerState.isWorking(node.session().growth());
    }

    /** @return splits and merges that are complete and not made known. */
    public static int unpublished(final ComputeNode node)
    {
        return SchedulerState.unpublished(node.session().growth());
    }
}
