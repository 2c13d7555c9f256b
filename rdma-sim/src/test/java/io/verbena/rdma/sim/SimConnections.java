package io.verbena.rdma.sim;

import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;

/** Connects endpoints of one simulated fabric. */
public final class SimConnections
{
    private static final byte[] NOTHING = {};

    private SimConnections()
    {
    }

    public static void connect(final SimFabric fabric, final Endpoint from, final Endpoint to)
    {
        connect(fabric, from, from.queuePair, to, to.queuePair);
    }

    public static void connect(
        final SimFabric fabric,
        final Endpoint from,
        final QueuePair source,
        final Endpoint to,
        final QueuePair target)
    {
        try (ConnectionListener listener = to.device.listen(1))
        {
            final ConnectionAttempt attempt =
                from.device.connect(source, to.device.address(), 1, NOTHING, Long.MAX_VALUE / 2);
            ConnectionRequest request = listener.poll();
            while (request == null)
            {
                fabric.step();
                request = listener.poll();
            }
            request.accept(target, AccessFlags.ALL_REMOTE, NOTHING);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                fabric.step();
            }
        }
    }
}
