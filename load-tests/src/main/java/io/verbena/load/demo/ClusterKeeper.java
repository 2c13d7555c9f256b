package io.verbena.load.demo;

import io.verbena.load.report.Progress;

/**
 * Closes a cluster exactly once: when the run ends, or at Ctrl-C, also while the cluster
 * is only being started.
 */
final class ClusterKeeper implements AutoCloseable
{
    private final Thread hook = new Thread(this::onProcessEnd, "verbena-interrupted");
    private final Progress progress;
    private volatile boolean isEnding;
    private DemoCluster cluster;

    ClusterKeeper(final Progress progress)
    {
        this.progress = progress;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Starts the cluster; the end of the process waits until it can be closed.
     */
    synchronized DemoCluster start(final DemoCluster.Starter starter, final DemoCluster.Needs needs)
    {
        cluster = starter.start(needs);
        return cluster;
    }

    /**
     * When the process is ending, failures are its consequence, and not reported.
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
