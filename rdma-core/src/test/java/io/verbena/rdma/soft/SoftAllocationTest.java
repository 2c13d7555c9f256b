package io.verbena.rdma.soft;

import com.sun.management.ThreadMXBean;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Posting and polling allocate nothing, also when a batch does not fit. */
class SoftAllocationTest
{
    private static final int OPERATIONS = 50_000;

    @Test
    void shouldAllocateNothingWhenPostingAndPolling()
    {
        try (SoftFabric fabric = SoftFabric.open(new SoftFabricOptions().directory(TestDirectories.next()));
            Device a = fabric.openDevice("a");
            Device b = fabric.openDevice("b");
            Endpoint from = new Endpoint(a, AccessFlags.ALL_REMOTE, 64, new QueuePairCapabilities(16, 16, 64, 16, 3));
            Endpoint to = new Endpoint(b, AccessFlags.ALL_REMOTE, 64, new QueuePairCapabilities(16, 16, 64, 16)))
        {
            SoftConnections.connect(from, to);
            final WorkCompletions completions = new WorkCompletions(16);
            final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
            run(from, to, completions);
            long allocated = Long.MAX_VALUE;
            // The first measurement itself, and late compilation, may allocate; a steady zero is what counts.
            for (int attempt = 0; attempt < 3 && allocated != 0; attempt++)
            {
                final long before = threads.getCurrentThreadAllocatedBytes();
                run(from, to, completions);
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertThat(allocated).isZero();
        }
    }

    private static void run(final Endpoint from, final Endpoint to, final WorkCompletions completions)
    {
        final QueuePair queuePair = from.queuePair;
        for (int i = 0; i < OPERATIONS; i++)
        {
            to.queuePair.postReceive(1, to.address(0), 64, to.key());
            queuePair.begin();
            queuePair.read(1, 0, from.address(0), 64, from.key(), to.address(0), to.key());
            queuePair.write(2, 0, from.address(0), 1024, from.key(), to.address(1024), to.key());
            queuePair.write(2, SendFlags.INLINE, from.address(0), 32, 0, to.address(1024), to.key());
            queuePair.write(2, 0, from.address(0), 20, from.key(), to.address(1024), to.key());
            queuePair.addSegment(from.address(64), 100, from.key());
            queuePair.addSegment(from.address(256), 0, from.key());
            queuePair.read(2, 0, from.address(0), 20, from.key(), to.address(1024), to.key());
            queuePair.addSegment(from.address(64), 100, from.key());
            queuePair.compareSwap(3, 0, from.address(0), from.key(), to.address(0), to.key(), 0, 0);
            queuePair.fetchAdd(4, 0, from.address(0), from.key(), to.address(64), to.key(), 1);
            queuePair.sendWithImmediate(5, SendFlags.SIGNALED, from.address(0), 64, from.key(), 9);
            queuePair.complete();
            queuePair.begin();
            for (int j = 0; j < 17; j++)
            {
                queuePair.read(1, 0, from.address(0), 64, from.key(), to.address(0), to.key());
            }
            queuePair.complete();
            from.completions.poll(completions);
            to.completions.poll(completions);
        }
    }
}
