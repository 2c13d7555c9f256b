package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import java.util.concurrent.locks.LockSupport;

/** Two devices of a fabric that works by itself, in real time. */
final class RealTimeRig implements VerbsRig
{
    private static final long PARK_NS = 50_000;

    private final Fabric requesterFabric;
    private final Fabric responderFabric;
    private final Device requester;
    private final Device responder;
    private final Pace pace;

    /**
     * How fast a path is.
     *
     * @param settleNs         after which a message that was sent has arrived.
     * @param connectTimeoutNs after which a connection that is not made will not be.
     */
    record Pace(long settleNs, long connectTimeoutNs)
    {
    }

    RealTimeRig(final Fabric fabric, final Pace pace)
    {
        this(fabric, fabric, pace);
    }

    /** The same fabric, opened at both ends. */
    RealTimeRig(final Fabric requesterFabric, final Fabric responderFabric, final Pace pace)
    {
        this.requesterFabric = requesterFabric;
        this.responderFabric = responderFabric;
        this.pace = pace;
        requester = requesterFabric.openDevice("requester");
        responder = responderFabric.openDevice("responder");
    }

    @Override
    public Device requester()
    {
        return requester;
    }

    @Override
    public Device responder()
    {
        return responder;
    }

    @Override
    public void progress()
    {
        Thread.onSpinWait();
    }

    @Override
    public void settle()
    {
        pass(pace.settleNs);
    }

    @Override
    public void pass(final long durationNs)
    {
        pass(requester, durationNs);
    }

    /** Sleeps until the clock of a device has moved on by a duration. */
    static void pass(final Device device, final long durationNs)
    {
        final long endNs = device.clock().nanoTime() + durationNs;
        while (device.clock().nanoTime() - endNs < 0)
        {
            LockSupport.parkNanos(PARK_NS);
        }
    }

    @Override
    public long connectTimeoutNs()
    {
        return pace.connectTimeoutNs;
    }

    @Override
    public void close()
    {
        requester.close();
        responder.close();
        if (responderFabric != requesterFabric)
        {
            responderFabric.close();
        }
        requesterFabric.close();
    }
}
