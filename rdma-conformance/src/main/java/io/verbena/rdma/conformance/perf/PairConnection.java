package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;

import java.util.concurrent.TimeUnit;

/** Connects two queue pairs whose both ends this thread owns. */
final class PairConnection
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final byte[] NOTHING = {};

    private PairConnection()
    {
    }

    /**
     * @param from        requesting device.
     * @param requester   its queue pair.
     * @param to          device that listens.
     * @param servicePort where.
     * @param listener    of that port.
     * @param responder   the other queue pair.
     * @param progress    lets the fabric go on while it is waited for.
     */
    static void make(
        final Device from,
        final QueuePair requester,
        final Device to,
        final int servicePort,
        final ConnectionListener listener,
        final QueuePair responder,
        final Runnable progress)
    {
        final ConnectionAttempt attempt = from.connect(requester, to.address(), servicePort, NOTHING, TIMEOUT_NS);
        boolean isAccepted = false;
        while (attempt.poll() == ConnectionAttempt.State.PENDING)
        {
            progress.run();
            final ConnectionRequest request = isAccepted ? null : listener.poll();
            if (request != null)
            {
                request.accept(responder, AccessFlags.ALL_REMOTE, NOTHING);
                isAccepted = true;
            }
        }
        if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
        {
            throw new RdmaException("cannot connect " + requester + ": " + attempt.poll());
        }
    }
}
