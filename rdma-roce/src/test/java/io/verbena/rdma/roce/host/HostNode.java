package io.verbena.rdma.roce.host;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletions;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A device with one of everything, and queue pairs to others. Used by one thread at a time. */
final class HostNode implements AutoCloseable
{
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int REGION_BYTES = 1 << 14;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(64, 64, 64, 8);
    private static final AtomicInteger LAST_DIRECTORY = new AtomicInteger();
    private static final AtomicInteger LAST_SERVICE_PORT = new AtomicInteger(1000);

    private final Fabric fabric;
    final String fabricName;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    final Device device;
    final CompletionChannel channel;
    final CompletionQueue completions;
    final ProtectionDomain domain;
    final MemoryRegion region;
    final WorkCompletions polled = new WorkCompletions(1);
    /** Where the accepting side of the last connection heard that it comes from. */
    DeviceAddress lastSource;

    HostNode(final String fabricName)
    {
        this.fabricName = fabricName;
        fabric = Fabrics.open(fabricName);
        device = fabric.openDevice("node");
        channel = device.createCompletionChannel();
        completions = device.createCompletionQueue(512, channel);
        domain = device.allocateProtectionDomain();
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
    }

    /** A directory that nobody has, as a host of its own has it. */
    static Path directory()
    {
        return Path.of("/dev/shm",
            "verbena-test-host-" + ProcessHandle.current().pid() + "-" + LAST_DIRECTORY.incrementAndGet());
    }

    /** On a host. */
    static HostNode on(final Path directory)
    {
        return new HostNode("soft:" + directory + ",network=::1");
    }

    /** Frees named memory. */
    boolean discard(final String name)
    {
        return fabric.discardNamed(name);
    }

    QueuePair newQueuePair()
    {
        return newQueuePair((SharedReceiveQueue)null);
    }

    /** Which takes its receives from a shared queue, if there is one. */
    QueuePair newQueuePair(final SharedReceiveQueue receives)
    {
        return newQueuePair(new QueuePairOptions()
            .completions(completions, completions).sharedReceiveQueue(receives).capabilities(CAPABILITIES));
    }

    /** Which is closed with this, if not before. */
    QueuePair newQueuePair(final QueuePairOptions options)
    {
        final QueuePair queuePair = domain.createQueuePair(options);
        queuePairs.add(queuePair);
        return queuePair;
    }

    /** Connects to another node; returns both ends, the own one first. */
    QueuePair[] connect(final HostNode other)
    {
        return connect(other, null);
    }

    /** To a queue pair of the other node that takes its receives from a shared queue, if there is one. */
    QueuePair[] connect(final HostNode other, final SharedReceiveQueue receives)
    {
        final int servicePort = LAST_SERVICE_PORT.incrementAndGet();
        final QueuePair own = newQueuePair();
        final QueuePair accepting = other.newQueuePair(receives);
        try (ConnectionListener listener = other.device.listen(servicePort))
        {
            final ConnectionAttempt attempt = device.connect(
                own, other.device.address(), servicePort, AccessFlags.ALL_REMOTE, new byte[0], PATIENCE_NS);
            final long endNs = System.nanoTime() + PATIENCE_NS;
            while (attempt.poll() == ConnectionAttempt.State.PENDING && System.nanoTime() - endNs < 0)
            {
                final ConnectionRequest request = listener.poll();
                if (request != null)
                {
                    other.lastSource = request.source();
                    request.accept(accepting, AccessFlags.ALL_REMOTE, new byte[0]);
                }
                Thread.onSpinWait();
            }
            if (attempt.poll() != ConnectionAttempt.State.ESTABLISHED)
            {
                throw new AssertionError("not connected: " + attempt.poll() + ", " + attempt.problem());
            }
        }
        return new QueuePair[]{own, accepting};
    }

    /** Closes queue pairs before the end. */
    void close(final QueuePair queuePair)
    {
        queuePairs.remove(queuePair);
        queuePair.close();
    }

    /** Waits for a completion; returns its status. */
    int await()
    {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        while (completions.poll(polled) == 0)
        {
            if (System.nanoTime() - endNs > 0)
            {
                throw new AssertionError("no completion within 20 s");
            }
            Thread.onSpinWait();
        }
        return polled.status(0);
    }

    @Override
    public void close()
    {
        queuePairs.forEach(QueuePair::close);
        region.close();
        domain.close();
        completions.close();
        channel.close();
        device.close();
        fabric.close();
    }
}
