package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.ReceiveSlots;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/** {@code struct ibv_srq}. */
final class IbverbsSharedReceiveQueue implements SharedReceiveQueue
{
    private static final int LIMIT_MASK = 2;
    private static final long LIMIT = VerbsLayouts.offset(VerbsLayouts.IBV_SRQ_ATTR, "srq_limit");

    private final OpenDomain domain;
    private final int capacity;
    private final long srq;
    private final int serial;
    private final ReceiveSlots slots;
    private final MemorySegment postReceive;
    private final AtomicInteger queuePairs = new AtomicInteger();
    private volatile boolean isClosed;

    IbverbsSharedReceiveQueue(final OpenDomain domain, final int capacity)
    {
        this.domain = domain;
        this.capacity = capacity;
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_SRQ_INIT_ATTR);
            attributes.set(
                JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_SRQ_INIT_ATTR, "attr", "max_wr"), capacity);
            attributes.set(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_SRQ_INIT_ATTR, "attr", "max_sge"), 1);
            srq = Libibverbs.Maker.CREATE_SRQ.make(
                "cannot create a shared receive queue of " + capacity, domain.pointer(), attributes.address());
        }
        serial = domain.device().nextSerial();
        slots = new ReceiveSlots(capacity);
        postReceive = domain.device().operation("post_srq_recv");
        domain.device().events().add(srq, this);
    }

    OpenDomain domain()
    {
        return domain;
    }

    long pointer()
    {
        checkOpen();
        return srq;
    }

    int serial()
    {
        return serial;
    }

    ReceiveSlots slots()
    {
        return slots;
    }

    void childOpened()
    {
        queuePairs.incrementAndGet();
    }

    void childClosed()
    {
        queuePairs.decrementAndGet();
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        checkOpen();
        final int result = slots.post(postReceive, srq, serial, wrId, localAddress, lengthBytes, localKey);
        if (result > 0 && result != Errno.ENOMEM)
        {
            throw Errno.failure("cannot post a receive to a shared receive queue", result);
        }
        return result == 0 ? PostStatus.OK : PostStatus.QUEUE_FULL;
    }

    @Override
    public void armLimit(final int receiveCount)
    {
        DeviceContext.checkRange("receiveCount", receiveCount, 0, capacity);
        checkOpen();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_SRQ_ATTR);
            attributes.set(JAVA_INT, LIMIT, receiveCount);
            final int errno = Libibverbs.modifySharedReceiveQueue(srq, attributes, LIMIT_MASK);
            if (errno != 0)
            {
                throw Errno.failure("cannot arm the limit of a shared receive queue", errno);
            }
        }
    }

    @Override
    public int armedLimit()
    {
        checkOpen();
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_SRQ_ATTR);
            final int errno = Libibverbs.querySharedReceiveQueue(srq, attributes);
            if (errno != 0)
            {
                throw Errno.failure("cannot query a shared receive queue", errno);
            }
            return attributes.get(JAVA_INT, LIMIT);
        }
    }

    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("shared receive queue is closed: device=" + domain.device().name());
        }
    }

    @Override
    public int capacity()
    {
        return capacity;
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (queuePairs.get() > 0)
        {
            throw new RdmaException("shared receive queue is in use: close its queue pairs first, open=" + queuePairs);
        }
        domain.device().events().remove(srq);
        Libibverbs.Destroyer.DESTROY_SRQ.destroy("a shared receive queue", srq);
        isClosed = true;
        domain.childClosed();
    }
}
