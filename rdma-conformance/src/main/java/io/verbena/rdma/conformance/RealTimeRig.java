package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.concurrent.locks.LockSupport;

/** Two devices of a fabric that works by itself, in real time. */
final class RealTimeRig implements VerbsRig
{
    private static final long PARK_NS = 50_000;
    private static final int DRIVE_ROUNDS = 8;

    private final Fabric requesterFabric;
    private final Fabric responderFabric;
    private final Device requester;
    private final Device responder;
    private final Pace pace;
    private final WorkCompletions none = new WorkCompletions(1);
    /** Polled empty, it has its device take what has arrived; null where nothing is driven by polling. */
    private final Driven requesterQueue;
    private final Driven responderQueue;

    /**
     * How fast a path is.
     *
     * @param settleNs         after which a message that was sent has arrived.
     * @param connectTimeoutNs after which a connection that is not made will not be.
     * @param isDriven         whether who polls drives the device.
     */
    record Pace(long settleNs, long connectTimeoutNs, boolean isDriven)
    {
    }

    /**
     * A completion queue that is never but empty, of a queue pair for datagrams, which take the network for sure; of
     * another one where there are none.
     */
    private static final class Driven implements AutoCloseable
    {
        private final CompletionQueue queue;
        private final ProtectionDomain domain;
        private final QueuePair queuePair;

        Driven(final Device device)
        {
            queue = device.createCompletionQueue(1);
            domain = device.allocateProtectionDomain();
            final QueuePairType type =
                device.attributes().supports(DeviceCapability.UD) ? QueuePairType.UD : QueuePairType.RC;
            queuePair = domain.createQueuePair(new QueuePairOptions().type(type).completions(queue, queue)
                .capabilities(new QueuePairCapabilities(1, 0, 0, 0)));
        }

        void poll(final WorkCompletions none)
        {
            queue.poll(none);
        }

        @Override
        public void close()
        {
            queuePair.close();
            domain.close();
            queue.close();
        }
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
        requesterQueue = pace.isDriven ? new Driven(requester) : null;
        responderQueue = pace.isDriven ? new Driven(responder) : null;
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
        drive();
        pass(pace.settleNs);
        drive();
    }

    /** What was sent lies in the peer's socket already: some rounds carry requests, answers and what follows. */
    private void drive()
    {
        for (int i = 0; pace.isDriven && i < DRIVE_ROUNDS; i++)
        {
            requesterQueue.poll(none);
            responderQueue.poll(none);
        }
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
        if (pace.isDriven)
        {
            requesterQueue.close();
            responderQueue.close();
        }
        requester.close();
        responder.close();
        if (responderFabric != requesterFabric)
        {
            responderFabric.close();
        }
        requesterFabric.close();
    }
}
