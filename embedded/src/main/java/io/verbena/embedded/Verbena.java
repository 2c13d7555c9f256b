package io.verbena.embedded;

/** The shortest way to a store. */
public final class Verbena
{
    private Verbena()
    {
    }

    /**
     * Starts a cluster of default size in this process, in memory, with its files in a temporary folder that goes away
     * when it is closed.
     *
     * @return the cluster, closed by the caller: {@code try (EmbeddedCluster cluster = Verbena.embedded())}.
     */
    public static EmbeddedCluster embedded()
    {
        return EmbeddedCluster.start(new EmbeddedClusterOptions());
    }
}
