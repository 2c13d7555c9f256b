package io.verbena.compute;

import io.verbena.compute.growth.SchedulerState;
import io.verbena.table.directory.OpenTable;

/** Lets tests of a whole cluster have a node do what it does for {@code table check --repair}. */
public final class SplitRepairs
{
    private SplitRepairs()
    {
    }

    /** Begins to end all splits that have begun. */
    public static void begin(final ComputeNode node)
    {
        node.session().growth().finishAll();
    }

    /** @return whether they have ended, and what they replaced has gone back. */
    public static boolean isDone(final ComputeNode node)
    {
        return !node.session().growth().isFinishingAll() && !node.session().isReturningIndex();
    }

    /** Has the node split a subtable of the only table that it has open, however full that is. */
    public static void split(final ComputeNode node, final int suffix)
    {
        final OpenTable table = node.session().tables().openTables().iterator().next();
        node.session().growth().requestSplit(table, table.subtable(suffix));
    }

    /** @return whether the node is splitting or merging something, or about to look at something. */
    public static boolean isBusy(final ComputeNode node)
    {
        return node.session().growth().isBusy();
    }

    /** @return whether the node is splitting or merging something just now. */
    public static boolean isWorking(final ComputeNode node)
    {
        return SchedulerState.isWorking(node.session().growth());
    }

    /** @return merges that the node has brought to their ends. */
    public static long merges(final ComputeNode node)
    {
        return SchedulerState.mergeCount(node.session().growth());
    }

    /** @return how many there were. */
    public static int count(final ComputeNode node)
    {
        return node.session().growth().finishedCount();
    }

    /** @return how many tables the node has open: those it looked at are. */
    public static int openTables(final ComputeNode node)
    {
        return node.session().tables().openTables().size();
    }
}
