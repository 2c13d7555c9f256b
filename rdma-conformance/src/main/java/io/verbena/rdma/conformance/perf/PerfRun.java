package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.conformance.VerbsRig;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import org.HdrHistogram.Histogram;

import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * A measurement: queue pairs between the two devices of a rig, all posted and polled by one thread; each request is
 * signalled. The loop does not allocate. It polls as soon as it has posted, several times, before it makes way: on an
 * emulated processor a PAUSE, which is how one makes way, costs about as much as a verb.
 */
public final class PerfRun implements AutoCloseable
{
    private static final int SERVICE_PORT = 18_515;
    private static final long DRAIN_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int WARM_UP_SHARE = 10;
    private static final int BATCH = 64;
    private static final int SLICE = 1_000;
    private static final int SPINS = 16;
    /** Asked for once: the question allocates. Null where the JVM does not count. */
    private static final com.sun.management.ThreadMXBean THREADS =
        ManagementFactory.getThreadMXBean() instanceof final com.sun.management.ThreadMXBean threads ? threads : null;

    private final VerbsRig rig;
    private final PerfOptions options;
    private final Deque<AutoCloseable> closeables = new ArrayDeque<>();
    private final Histogram latencyNs = new Histogram(HIGHEST_NS, 3);
    private final WorkCompletions batch = new WorkCompletions(BATCH);
    private final WorkCompletions receivedBatch = new WorkCompletions(BATCH);
    private final QueuePair[] requesters;
    private final QueuePair[] responders;
    private final long[] postedNs;
    private final int[] freeSlots;
    private final int[] freeCounts;
    private final CompletionQueue requesterCompletions;
    private final CompletionQueue responderCompletions;
    private final MemoryRegion local;
    private final MemoryRegion remote;
    private long completedCount;
    private long sliceEnd;
    private long sliceAllocatedBytes;
    private long leastAllocatedBytes;
    private int outstanding;

    /**
     * Makes everything the measurement needs.
     *
     * @param rig     closed by the caller, afterwards.
     * @param options what to measure.
     * @throws RdmaException when the devices cannot do that; one line that says why.
     */
    public PerfRun(final VerbsRig rig, final PerfOptions options)
    {
        this.rig = rig;
        this.options = options;
        final int slots = options.queuePairsCount() * options.depth();
        requesters = new QueuePair[options.queuePairsCount()];
        responders = new QueuePair[options.queuePairsCount()];
        postedNs = new long[slots];
        freeSlots = new int[slots];
        freeCounts = new int[options.queuePairsCount()];
        checkDepths(slots);
        try
        {
            final ProtectionDomain from = own(rig.requester().allocateProtectionDomain());
            final ProtectionDomain to = own(rig.responder().allocateProtectionDomain());
            requesterCompletions = own(rig.requester().createCompletionQueue(slots));
            responderCompletions = own(rig.responder().createCompletionQueue(2 * slots));
            final long bytes = Math.max(8, slotBytes() * slots);
            local = own(from.allocateRegistered(bytes, AccessFlags.ALL_REMOTE));
            remote = own(to.allocateRegistered(bytes, AccessFlags.ALL_REMOTE));
            connect(from, to);
        }
        catch (final RuntimeException ex)
        {
            close();
            throw ex;
        }
    }

    /**
     * Measures; once more each time it is called.
     *
     * @return the figures.
     * @throws RdmaException when a request failed.
     */
    public PerfResult run()
    {
        final long startNs = now();
        final long measureNs = startNs + options.durationNs() / WARM_UP_SHARE;
        runUntil(measureNs);
        latencyNs.reset();
        completedCount = 0;
        sliceEnd = SLICE;
        leastAllocatedBytes = Long.MAX_VALUE;
        final long allocatedBefore = allocatedBytes();
        sliceAllocatedBytes = allocatedBefore;
        final long measuredFromNs = now();
        runUntil(measuredFromNs + options.durationNs());
        final long measuredNs = Math.max(1, now() - measuredFromNs);
        final long allocatedBytes = allocatedBefore < 0 ? -1 : allocatedBytes() - allocatedBefore;
        final PerfResult result = new PerfResult(options, completedCount, measuredNs, latencyNs.copy(), allocatedBytes,
            allocatedBytes < 0 ? -1 : Math.min(allocatedBytes, leastAllocatedBytes));
        drain();
        return result;
    }

    private static long allocatedBytes()
    {
        return THREADS == null ? -1 : THREADS.getCurrentThreadAllocatedBytes();
    }

    private void runUntil(final long endNs)
    {
        while (now() - endNs < 0)
        {
            for (int i = 0; i < requesters.length; i++)
            {
                if (freeCounts[i] > 0)
                {
                    post(i);
                }
            }
            int count = 0;
            for (int i = 0; i < SPINS && count == 0; i++)
            {
                count = poll();
            }
            if (count == 0)
            {
                rig.progress();
            }
            if (completedCount >= sliceEnd)
            {
                endSlice();
            }
        }
    }

    private void endSlice()
    {
        final long nowBytes = allocatedBytes();
        leastAllocatedBytes = Math.min(leastAllocatedBytes, nowBytes - sliceAllocatedBytes);
        sliceAllocatedBytes = nowBytes;
        sliceEnd = completedCount + SLICE;
    }

    private void drain()
    {
        final long endNs = now() + DRAIN_NS;
        while (outstanding > 0 && now() - endNs < 0)
        {
            rig.progress();
            poll();
        }
    }

    private void post(final int index)
    {
        final QueuePair queuePair = requesters[index];
        final int first = index * options.depth();
        final int count = freeCounts[index];
        queuePair.begin();
        final long nowNs = now();
        for (int i = 0; i < count; i++)
        {
            final int slot = freeSlots[first + i];
            postedNs[slot] = nowNs;
            stage(queuePair, slot);
        }
        final int status = queuePair.complete();
        if (status != PostStatus.OK)
        {
            throw new RdmaException("posting failed: status=" + status + ", queue pair=" + queuePair.state());
        }
        freeCounts[index] = 0;
        outstanding += count;
    }

    private void stage(final QueuePair queuePair, final int slot)
    {
        final int flags = SendFlags.SIGNALED;
        final long from = local.address() + slotBytes() * slot;
        final long to = remote.address() + slotBytes() * slot;
        final int length = options.sizeBytes();
        switch (options.operation())
        {
            case READ -> queuePair.read(slot, flags, from, length, local.localKey(), to, remote.remoteKey());
            case WRITE -> queuePair.write(slot, flags, from, length, local.localKey(), to, remote.remoteKey());
            case WRITE_WITH_IMM -> queuePair.writeWithImmediate(
                slot, flags, from, length, local.localKey(), to, remote.remoteKey(), slot);
            case SEND -> queuePair.send(slot, flags, from, length, local.localKey());
            case COMPARE_SWAP -> queuePair.compareSwap(
                slot, flags, from, local.localKey(), to, remote.remoteKey(), 0, 0);
            case FETCH_ADD -> queuePair.fetchAdd(slot, flags, from, local.localKey(), to, remote.remoteKey(), 1);
        }
    }

    /** How many requests have completed since the last call. */
    private int poll()
    {
        final int count = requesterCompletions.poll(batch);
        if (count > 0)
        {
            final long nowNs = now();
            for (int i = 0; i < count; i++)
            {
                if (batch.status(i) != WorkCompletionStatus.SUCCESS)
                {
                    throw new RdmaException(
                        options.operation().word() + " failed: " + WorkCompletionStatus.text(batch.status(i)));
                }
                final int slot = (int)batch.wrId(i);
                latencyNs.recordValue(Math.clamp(nowNs - postedNs[slot], 0, HIGHEST_NS));
                final int index = slot / options.depth();
                freeSlots[index * options.depth() + freeCounts[index]++] = slot;
            }
            completedCount += count;
            outstanding -= count;
        }
        if (options.operation().isTwoSided())
        {
            repost();
        }
        return count;
    }

    private void repost()
    {
        final int count = responderCompletions.poll(receivedBatch);
        for (int i = 0; i < count; i++)
        {
            if (receivedBatch.status(i) == WorkCompletionStatus.SUCCESS)
            {
                postReceive((int)receivedBatch.wrId(i));
            }
        }
    }

    private void postReceive(final int slot)
    {
        responders[slot / (2 * options.depth())].postReceive(
            slot, remote.address() + slotBytes() * (slot / 2), options.sizeBytes(), remote.localKey());
    }

    private void connect(final ProtectionDomain from, final ProtectionDomain to)
    {
        final int depth = options.depth();
        final int reads = Math.min(depth, rig.requester().attributes().maxReadAtomic());
        final QueuePairCapabilities capabilities = new QueuePairCapabilities(depth, 2 * depth, 0, reads);
        try (ConnectionListener listener = rig.responder().listen(SERVICE_PORT))
        {
            for (int i = 0; i < requesters.length; i++)
            {
                requesters[i] = own(from.createQueuePair(requesterCompletions, requesterCompletions, capabilities));
                responders[i] = own(to.createQueuePair(responderCompletions, responderCompletions, capabilities));
                PairConnection.make(rig.requester(), requesters[i], rig.responder(), SERVICE_PORT, listener,
                    responders[i], rig::progress);
                freeCounts[i] = depth;
                for (int slot = 0; slot < depth; slot++)
                {
                    freeSlots[i * depth + slot] = i * depth + slot;
                    if (options.operation().isTwoSided())
                    {
                        postReceive(2 * (i * depth + slot));
                        postReceive(2 * (i * depth + slot) + 1);
                    }
                }
            }
        }
    }

    private void checkDepths(final int slots)
    {
        final DeviceAttributes attributes = rig.requester().attributes();
        if (2 * options.depth() > attributes.maxQueuePairRequests() || 2L * slots > attributes.maxCompletions())
        {
            throw new RdmaException("too deep for this device: depth=" + options.depth() + ", queue pairs=" +
                requesters.length + "; it has queues of " + attributes.maxQueuePairRequests() +
                " and completion queues of " + attributes.maxCompletions() + ", and twice the depth is needed");
        }
    }

    private long slotBytes()
    {
        return (options.sizeBytes() + 63L) & ~63L;
    }

    private long now()
    {
        return rig.requester().clock().nanoTime();
    }

    private <T extends AutoCloseable> T own(final T closeable)
    {
        closeables.push(closeable);
        return closeable;
    }

    /** Closes what the measurement made, the rig left alone. */
    @Override
    public void close()
    {
        while (!closeables.isEmpty())
        {
            try
            {
                closeables.pop().close();
            }
            catch (final Exception ex)
            {
                throw new RdmaException("cannot close after the measurement: " + ex.getMessage(), ex);
            }
        }
    }
}
