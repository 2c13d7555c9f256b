package io.verbena.compute;

/** How far a node's sweep of its chunks is. */
public final class Sweeps
{
    private Sweeps()
    {
    }

    /** @return whether a claim of chunks is under way. */
    public static boolean isClaiming(final ComputeNode node)
    {
        return node.session().memoryLinks().all().stream().anyMatch((link) -> link.maintenance().isClaiming());
    }
}
