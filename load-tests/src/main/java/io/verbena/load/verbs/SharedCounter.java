package io.verbena.load.verbs;

import io.verbena.rdma.sim.SimFaultOptions;
import io.verbena.rdma.sim.SimNode;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.device.SimFabric;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.Agent;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * A small scenario: three nodes count in a word of a memory node, with READ and CMP_SWAP, while one may die, two may
 * pause and one may lose its connection. No acknowledged increment may be lost, none may be done twice.
 */
final class SharedCounter
{
    private static final int NODES = 3;
    private static final int INCREMENTS = 12;
    private static final int REGION_BYTES = 4096;
    private static final int SERVICE_PORT = 1;
    private static final long HORIZON_NS = 150_000;
    private static final long LONGEST_PAUSE_NS = 60_000;
    private static final int MOST_STEPS = 100_000;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(4, 4, 0, 4);
    private static final byte[] NOTHING = {};

    private SharedCounter()
    {
    }

    /** Runs it in a world; throws when an increment was lost or done twice. */
    static void run(final SimWorld world)
    {
        final Host memory = new Host(world.addNode("memory").device());
        final List<Counter> counters = new ArrayList<>();
        for (int i = 0; i < NODES; i++)
        {
            final SimNode node = world.addNode("compute-" + i);
            final Counter counter = new Counter(new Host(node.device()), memory);
            counter.connect(world.fabric());
            counters.add(counter);
            node.addAgent(counter);
        }
        world.injectFaults(new SimFaultOptions().victims("compute-0", "compute-1", "compute-2").peers("memory")
            .kills(1).pauses(2, LONGEST_PAUSE_NS).breaks(1).horizonNs(HORIZON_NS));
        world.runUntil(
            () -> counters.stream().allMatch(counter -> counter.isOver() || counter.host.isDead()), MOST_STEPS);
        final long value = memory.word();
        final long acknowledged = counters.stream().mapToLong(counter -> counter.acknowledged).sum();
        final long unknown = counters.stream().filter(counter -> counter.isPosted || counter.isBroken).count();
        if (value < acknowledged || value > acknowledged + unknown)
        {
            throw world.failure("counter=" + value + ", acknowledged=" + acknowledged + ", unknown=" + unknown, null);
        }
    }

    /** Verbs objects of one node. */
    private static final class Host
    {
        private final SimDevice device;
        private final ProtectionDomain domain;
        private final CompletionQueue completions;
        private final MemoryRegion region;

        private Host(final SimDevice device)
        {
            this.device = device;
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(64);
            region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        }

        private QueuePair createQueuePair()
        {
            return domain.createQueuePair(completions, completions, CAPABILITIES);
        }

        private boolean isDead()
        {
            return device.isKilled();
        }

        private long word()
        {
            return region.segment().get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Increments with READ and CMP_SWAP; stops when a request fails. */
    private static final class Counter implements Agent
    {
        private final Host host;
        private final Host memory;
        private final QueuePair queuePair;
        private final WorkCompletions polled = new WorkCompletions(4);
        private long expected;
        private int acknowledged;
        private boolean isSwapping;
        private boolean isPosted;
        private boolean isBroken;

        private Counter(final Host host, final Host memory)
        {
            this.host = host;
            this.memory = memory;
            queuePair = host.createQueuePair();
        }

        private void connect(final SimFabric fabric)
        {
            try (ConnectionListener listener = memory.device.listen(SERVICE_PORT))
            {
                final ConnectionAttempt attempt = host.device.connect(
                    queuePair, memory.device.address(), SERVICE_PORT, NOTHING, Long.MAX_VALUE / 2);
                ConnectionRequest request = listener.poll();
                while (request == null)
                {
                    fabric.step();
                    request = listener.poll();
                }
                request.accept(memory.createQueuePair(), AccessFlags.ALL_REMOTE, NOTHING);
                while (attempt.poll() == ConnectionAttempt.State.PENDING)
                {
                    fabric.step();
                }
            }
        }

        private boolean isOver()
        {
            return isBroken || acknowledged == INCREMENTS;
        }

        @Override
        public int doWork()
        {
            if (isOver())
            {
                return 0;
            }
            if (!isPosted)
            {
                post();
                return 1;
            }
            final int count = host.completions.poll(polled);
            if (count > 0)
            {
                isPosted = false;
                onCompletion(polled.status(0));
            }
            return count;
        }

        private void post()
        {
            final long local = host.region.address();
            final int key = host.region.localKey();
            queuePair.begin();
            if (isSwapping)
            {
                queuePair.compareSwap(1, SendFlags.SIGNALED, local, key, memory.region.address(),
                    memory.region.remoteKey(), expected, expected + 1);
            }
            else
            {
                queuePair.read(1, SendFlags.SIGNALED, local, Long.BYTES, key, memory.region.address(),
                    memory.region.remoteKey());
            }
            queuePair.complete();
            isPosted = true;
        }

        private void onCompletion(final int status)
        {
            if (status != WorkCompletionStatus.SUCCESS)
            {
                isBroken = true;
                return;
            }
            final long found = host.word();
            acknowledged += isSwapping && found == expected ? 1 : 0;
            expected = found;
            isSwapping = !isSwapping;
        }

        @Override
        public String roleName()
        {
            return "counter";
        }
    }
}
