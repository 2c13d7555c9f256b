package io.verbena.load.demo;

import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.EmbeddedClusterException;
import io.verbena.embedded.EmbeddedClusterOptions;
import io.verbena.embedded.FabricUnusableException;
import io.verbena.load.LoadException;
import io.verbena.load.report.Progress;

/**
 * Closes a cluster exactly once: when the run ends, or when the process is told to end (Ctrl-C), also while the cluster
 * is only being started.
 */
final class ClusterGuard implements AutoCloseable
{
    private final Thread hook = new Thread(this::onProcessEnd, "verbena-interrupted");
    private final Progress progress;
    private volatile boolean isEnding;
    private EmbeddedCluster cluster;

    ClusterGuard(final Progress progress)
    {
        this.progress = progress;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Starts the cluster; the end of the process waits until it can be closed.
     */
    synchronized EmbeddedCluster start(final EmbeddedClusterOptions options)
    {
        try
        {
            cluster = EmbeddedCluster.start(options);
            return cluster;
        }
        catch (final FabricUnusableException ex)
        {
            throw new LoadException(LoadException.Reason.UNAVAILABLE, ex.getMessage(), ex);
        }
        catch (final EmbeddedClusterException ex)
        {
            throw new LoadException(LoadException.Reason.CANNOT_CREATE, ex.getMessage(), ex);
        }
    }

    /**
     * When the process is ending, failures are its consequence and nobody's news.
     */
    void throwIfEnding(final Exception ex)
    {
        if (isEnding)
        {
            throw new InterruptedRunException(ex);
        }
    }

    @Override
    public synchronized void close()
    {
        if (!isEnding)
        {
            closeCluster();
            try
            {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
            catch (final IllegalStateException ex)
            {
                // The process began to end between the two lines above; the hook finds nothing left to close.
                isEnding = true;
            }
        }
    }

    private void onProcessEnd()
    {
        isEnding = true;
        synchronized (this)
        {
            closeCluster();
        }
        progress.say("verbena: interrupted; the cluster was closed");
    }

    private void closeCluster()
    {
        if (cluster != null)
        {
            cluster.close();
            cluster = null;
        }
    }
}
