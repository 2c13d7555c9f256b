package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.CLibrary;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** {@code struct ibv_comp_channel}. An interrupt of the waiting thread is noticed within a tenth of a second. */
final class IbverbsCompletionChannel implements CompletionChannel
{
    private static final long MAX_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final DeviceContext device;
    private final long channel;
    private final int descriptor;
    private final AtomicInteger queues = new AtomicInteger();
    private volatile boolean isClosed;

    IbverbsCompletionChannel(final DeviceContext device)
    {
        device.childOpened();
        this.device = device;
        try
        {
            channel = Libibverbs.Maker.CREATE_COMP_CHANNEL.make(
                "cannot create a completion channel on " + device.name(), device.pointer(), 0);
        }
        catch (final RdmaException ex)
        {
            device.childClosed();
            throw ex;
        }
        descriptor = VerbsLayouts.intAt(channel, VerbsLayouts.offset(VerbsLayouts.IBV_COMP_CHANNEL, "fd"));
    }

    DeviceContext device()
    {
        return device;
    }

    long pointer()
    {
        checkOpen();
        return channel;
    }

    void childOpened()
    {
        queues.incrementAndGet();
    }

    void childClosed()
    {
        queues.decrementAndGet();
    }

    @Override
    public CompletionQueue await(final long timeoutNs)
    {
        checkOpen();
        final long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + timeoutNs;
        do
        {
            final long leftNs = Math.max(0, deadlineNs - SystemNanoClock.INSTANCE.nanoTime());
            // Rounded up: a wait of less than a millisecond must not spin.
            final int sliceMs = (int)TimeUnit.NANOSECONDS.toMillis(Math.min(leftNs, MAX_SLICE_NS) + 999_999);
            if (CLibrary.awaitReadable(descriptor, -1, sliceMs))
            {
                device.checkThere();
                return (CompletionQueue)device.events().source(Libibverbs.takeCompletionEvent(channel));
            }
        }
        while (!Thread.currentThread().isInterrupted() && deadlineNs - SystemNanoClock.INSTANCE.nanoTime() > 0);
        return null;
    }

    /** The library would follow a pointer that is gone. */
    private void checkOpen()
    {
        if (isClosed)
        {
            throw new RdmaException("completion channel is closed: device=" + device.name());
        }
    }

    @Override
    public synchronized void close()
    {
        if (isClosed)
        {
            return;
        }
        if (queues.get() > 0)
        {
            throw new RdmaException("completion channel is in use: close its completion queues first, open=" + queues);
        }
        Libibverbs.Destroyer.DESTROY_COMP_CHANNEL.destroy("a completion channel of " + device.name(), channel);
        isClosed = true;
        device.childClosed();
    }
}
