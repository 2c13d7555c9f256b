package io.verbena.embedded;

import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.device.SimHost;
import io.verbena.rdma.sim.device.SimObserver;
import io.verbena.rdma.sim.device.SimRequest;
import io.verbena.rdma.spi.WorkRequest;

/** Shows a test of a whole cluster each one-sided request that is carried out in its simulated world. */
public final class VerbWatch
{
    private VerbWatch()
    {
    }

    /** Takes requests. */
    public interface Watcher
    {
        /** Takes a request, or a piece of one, that was carried out at a device just now. */
        void onVerb(SimHost target, String requester, boolean isRead, long remoteAddress, int lengthBytes);
    }

    /** From now on; one for a world. */
    public static void watch(final SimWorld world, final Watcher watcher)
    {
        world.fabric().observe(new SimObserver()
        {
            @Override
            public void onCompleted(final SimRequest request)
            {
                // of no interest
            }

            @Override
            public void onExecuted(final SimHost target, final SimRequest request)
            {
                if (request.operation == WorkRequest.READ || request.operation == WorkRequest.WRITE ||
                    request.isAtomic())
                {
                    watcher.onVerb(target, request.requesterHost().name(), request.operation == WorkRequest.READ,
                        request.remoteAddress, request.lengthBytes);
                }
            }

            @Override
            public void onShown(final SimHost device, final long value)
            {
                // of no interest
            }
        });
    }
}
