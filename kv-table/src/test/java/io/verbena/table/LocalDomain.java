package io.verbena.table;

import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Registers local memory for {@link StepFabric}, which copies to and from it directly. Freed memory is kept and used
 * again by this JVM's next runs, of which there are very many, also on several threads.
 */
public final class LocalDomain implements ProtectionDomain
{
    private static final Map<Long, Queue<MemorySegment>> POOL = new ConcurrentHashMap<>();

    private final AtomicInteger open = new AtomicInteger();

    static DeviceAttributes attributes(final boolean readAfterAtomicNeedsFence)
    {
        return new DeviceAttributes(
            "step", Set.of(), readAfterAtomicNeedsFence, 1 << 10, 1 << 10, 1 << 30, 0, 1, 16, 0, 0, 0);
    }

    @Override
    public MemoryRegion allocateRegistered(final long lengthBytes, final int accessFlags)
    {
        final MemorySegment pooled =
            POOL.computeIfAbsent(lengthBytes, length -> new ConcurrentLinkedQueue<>()).poll();
        // As new memory is: what an earlier run left there is none of a run's business.
        open.incrementAndGet();
        return new LocalRegion(
            pooled == null ? Arena.global().allocate(lengthBytes, 64) : pooled.fill((byte)0), open);
    }

    /** @return regions that are not closed. */
    public int openRegions()
    {
        return open.get();
    }

    @Override
    public MemoryRegion register(final MemorySegment segment, final int accessFlags)
    {
        throw new UnsupportedOperationException("memory comes from the pool here");
    }

    @Override
    public QueuePair createQueuePair(final QueuePairOptions options)
    {
        throw new UnsupportedOperationException("ports are made by StepFabric");
    }

    @Override
    public void close()
    {
    }

    private record LocalRegion(MemorySegment segment, AtomicInteger open) implements MemoryRegion
    {
        @Override
        public long address()
        {
            return segment.address();
        }

        @Override
        public long lengthBytes()
        {
            return segment.byteSize();
        }

        @Override
        public int localKey()
        {
            return 0;
        }

        @Override
        public int remoteKey()
        {
            return 0;
        }

        @Override
        public int accessFlags()
        {
            return 0;
        }

        @Override
        public void close()
        {
            open.decrementAndGet();
            POOL.get(segment.byteSize()).add(segment);
        }
    }
}
