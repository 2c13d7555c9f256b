package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.QueuePairState;

/**
 * A DC target of shared memory and one of the network with the same number, key, rights and receives: initiators of
 * this host find the one, all others the other. Closed by its creator; state and count may be read by any thread.
 */
final class HostDcTarget implements DcTarget
{
    private final HostCompletionQueue completions;
    private final DcTarget shared;
    private final DcTarget network;
    private final Runnable failure = this::fail;
    private volatile boolean hasFailed;
    private boolean isClosed;

    HostDcTarget(final HostCompletionQueue completions, final DcTarget shared, final DcTarget network)
    {
        this.completions = completions;
        this.shared = shared;
        this.network = network;
        completions.attachTarget(failure);
    }

    @Override
    public int number()
    {
        return shared.number();
    }

    @Override
    public QueuePairState state()
    {
        return hasFailed || network.state() == QueuePairState.ERR ? QueuePairState.ERR : shared.state();
    }

    @Override
    public long accessKeyViolations()
    {
        return shared.accessKeyViolations() + network.accessKeyViolations();
    }

    /** Its completions have no place any more: neither part serves anybody from now on. */
    private void fail()
    {
        hasFailed = true;
        // That of the network first: the other one frees what either has taken from the shared queue.
        network.close();
        shared.close();
    }

    @Override
    public synchronized void close()
    {
        if (!isClosed)
        {
            network.close();
            shared.close();
            hasFailed = false;
            isClosed = true;
            completions.detachTarget(failure);
        }
    }

    @Override
    public String toString()
    {
        return "HostDcTarget{shared=" + shared + ", network=" + network + '}';
    }
}
