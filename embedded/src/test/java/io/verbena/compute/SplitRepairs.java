package io.verbena.compute;

/** Lets tests of a whole cluster have a node do what it does for {@code table check --repair}. */
public final class SplitRepairs
{
    private SplitRepairs()
    {
    }

    /** Begins to end all splits that have begun. */
    public static void begin(final ComputeNode node)
    {
        node.session().splits().finishAll();
    }

    /** @return whether they have ended, and what they replaced has gone back. */
    public static boolean isDone(final ComputeNode node)
    {
        return !node.session().splits().isFinishingAll() && !node.session().isReturningIndex();
    }

    /** @return how many there were. */
    public static int count(final ComputeNode node)
    {
        return node.session().splits().finishedCount();
    }

    /** @return how many tables the node has open: those it looked at are. */
    public static int openTables(final ComputeNode node)
    {
        return node.session().tables().openTables().size();
    }
}
