package io.verbena.load.connect;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.util.concurrent.TimeUnit;

/** A process that opens a device, connects, does one READ, says so and ends: the least that a start can take. */
final class FirstReadMain
{
    /** What it says when it has read. */
    static final String READ = "read";
    static final int SERVICE_PORT = 1;
    private static final int LENGTH_BYTES = 64;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final byte[] NOTHING = {};

    private FirstReadMain()
    {
    }

    /**
     * @param args as {@link BareStart} gives them: name of the fabric, the device address in three numbers, address and
     *             key of the memory.
     */
    public static void main(final String[] args)
    {
        final DeviceAddress peer =
            new DeviceAddress(Long.parseLong(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]));
        try (Fabric fabric = Fabrics.open(args[0]);
            Device device = fabric.openDevice("first-read");
            ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue completions = device.createCompletionQueue(2);
            MemoryRegion local = domain.allocateRegistered(LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
            QueuePair queuePair =
                domain.createQueuePair(completions, completions, new QueuePairCapabilities(1, 1, 0, 1)))
        {
            final long deadlineNs = device.clock().nanoTime() + TIMEOUT_NS;
            final ConnectionAttempt attempt =
                device.connect(queuePair, peer, SERVICE_PORT, NOTHING, TIMEOUT_NS);
            while (attempt.poll() == ConnectionAttempt.State.PENDING)
            {
                Thread.onSpinWait();
            }
            if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
            {
                throw new RdmaException("cannot connect to the process that measures: " + attempt.poll());
            }
            queuePair.begin();
            queuePair.read(1, SendFlags.SIGNALED, local.segment().address(), LENGTH_BYTES, local.localKey(),
                Long.parseLong(args[4]), Integer.parseInt(args[5]));
            queuePair.complete();
            final WorkCompletions polled = new WorkCompletions(1);
            while (completions.poll(polled) == 0)
            {
                if (device.clock().nanoTime() - deadlineNs > 0)
                {
                    throw new RdmaException("no completion of the READ within the time");
                }
                Thread.onSpinWait();
            }
            if (polled.status(0) != WorkCompletionStatus.SUCCESS)
            {
                throw new RdmaException("the READ ended with " + WorkCompletionStatus.text(polled.status(0)));
            }
        }
        System.out.println(READ);
    }
}
