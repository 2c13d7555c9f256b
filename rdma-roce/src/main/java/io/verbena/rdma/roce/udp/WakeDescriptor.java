package io.verbena.rdma.roce.udp;

import io.verbena.rdma.verbs.RdmaException;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Wakes a thread that waits in {@link UdpPort#await}: an {@code eventfd(2)}. {@link #signal} may be called by any
 * thread, {@link #reset} by the one that waited. Closed by its owner when nobody uses it any more.
 */
public final class WakeDescriptor implements AutoCloseable
{
    private static final long ONE = 1;

    private final UnsafeBuffer one = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Long.BYTES, Long.BYTES));
    private final UnsafeBuffer count = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Long.BYTES, Long.BYTES));
    private final int descriptor;
    private boolean isClosed;

    /** Makes one that is not signalled. */
    public WakeDescriptor()
    {
        one.putLong(0, ONE);
        descriptor = ThreadCalls.get().calls().eventfd(SocketConstants.EVENT_FLAGS);
        if (descriptor < 0)
        {
            throw new RdmaException("cannot make an eventfd to wake threads: " + SocketFailure.name(-descriptor) +
                "; raise the limit of open files, 'ulimit -n'");
        }
    }

    /** @return the descriptor, readable while signalled. */
    public int descriptor()
    {
        return descriptor;
    }

    /** Wakes who waits now or next. */
    public synchronized void signal()
    {
        if (!isClosed)
        {
            ThreadCalls.get().calls().write(descriptor, one.addressOffset(), Long.BYTES);
        }
    }

    /** Takes the signals given until now. */
    public synchronized void reset()
    {
        if (!isClosed)
        {
            ThreadCalls.get().calls().read(descriptor, count.addressOffset(), Long.BYTES);
        }
    }

    @Override
    public synchronized void close()
    {
        if (!isClosed)
        {
            isClosed = true;
            ThreadCalls.get().calls().close(descriptor);
        }
    }
}
