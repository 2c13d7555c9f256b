package io.verbena.rdma.conformance;

import io.verbena.rdma.conformance.remote.ResponderProcess;
import io.verbena.rdma.verbs.Fabric;

/** Keeps one process for responders, and starts another when a rule has killed it. Used by one thread. */
final class ResponderHost implements AutoCloseable
{
    private ResponderProcess process;

    Fabric open(final String fabricName)
    {
        if (process == null || !process.isAlive())
        {
            process = new ResponderProcess();
        }
        return process.open(fabricName);
    }

    @Override
    public void close()
    {
        if (process != null)
        {
            process.close();
            process = null;
        }
    }
}
