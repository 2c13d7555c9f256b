package io.verbena.raas;

import com.sun.management.ThreadMXBean;
import io.verbena.rdma.verbs.PostStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class AllocationTest
{
    private static final int WARM_UP_BATCHES = 20_000;
    private static final int BATCHES = 20_000;

    @TempDir
    Path directory;
    private long completed;

    private void onComplete(final VirtualQp vqp, final int cookie, final int status)
    {
        completed += status == 0 ? 1 : 0;
    }

    @Test
    void shouldAllocateNothingWhenBatchesArePostedPolledAndDispatched()
    {
        measure(new RaasConfiguration());
    }

    @Test
    void shouldAllocateNothingWhereRequestsAreKeptUntilTheyHaveCompleted()
    {
        measure(new RaasConfiguration().replayTimeoutNs(1_000_000_000L));
    }

    private void measure(final RaasConfiguration forClient)
    {
        try (SoftPair pair = new SoftPair(directory, new RaasConfiguration(), forClient))
        {
            final VirtualQp[] vqps = new VirtualQp[8];
            for (int i = 0; i < vqps.length; i++)
            {
                vqps[i] = pair.connect(this::onComplete);
            }
            final RemoteRegion remote = pair.remote();
            run(pair, vqps, remote, WARM_UP_BATCHES);
            final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 5 && least > 0; attempt++)
            {
                final long before = threads.getCurrentThreadAllocatedBytes();
                final long overhead = threads.getCurrentThreadAllocatedBytes() - before;
                final long start = threads.getCurrentThreadAllocatedBytes();
                run(pair, vqps, remote, BATCHES);
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - start - overhead);
            }
            assertThat(least).as("bytes allocated in " + BATCHES + " batches").isZero();
        }
    }

    private void run(final SoftPair pair, final VirtualQp[] vqps, final RemoteRegion remote, final int batches)
    {
        final long target = completed + batches;
        for (int posted = 0; posted < batches; posted++)
        {
            final VirtualQp vqp = vqps[posted % vqps.length];
            while (vqp.space() < 4)
            {
                pair.client.poll();
            }
            vqp.begin();
            vqp.read(pair.local, 0, 64, remote, 0);
            vqp.write(pair.local, 64, 64, remote, 64);
            vqp.fenceNext();
            vqp.compareSwap(pair.local, 128, remote, 128, 0, 0);
            vqp.fetchAdd(pair.local, 136, remote, 136, 1);
            if (vqp.complete(posted) != PostStatus.OK)
            {
                throw new AssertionError("not posted");
            }
        }
        while (completed < target)
        {
            pair.client.poll();
        }
    }
}
