package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.WakeDescriptor;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread that waits, for packets or only for others to wake it. It announces itself, looks once more for what it
 * waits for, waits, and takes the announcement back; who has something for it looks for the announcement afterwards.
 */
final class ChannelWait implements AutoCloseable
{
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOSE_PAUSE_NS = 100_000;

    private final WakeDescriptor wake = new WakeDescriptor();
    private volatile Thread waiter;
    private volatile boolean isSignalled;

    /** Waiting thread: who has something to tell wakes it from now on. */
    void announce()
    {
        waiter = Thread.currentThread();
    }

    /** Waiting thread: it is awake. */
    synchronized void withdraw()
    {
        waiter = null;
        if (isSignalled)
        {
            isSignalled = false;
            wake.reset();
        }
    }

    /** Any thread: wakes the waiting one, unless it is itself. */
    void wake()
    {
        if (waiter == null || waiter == Thread.currentThread())
        {
            return;
        }
        synchronized (this)
        {
            if (waiter != null && !isSignalled)
            {
                isSignalled = true;
                wake.signal();
                LockSupport.unpark(waiter);
            }
        }
    }

    void awaitPackets(final UdpPort port, final long timeoutNs)
    {
        port.await(timeoutNs, wake.descriptor());
    }

    void awaitWake(final long timeoutNs)
    {
        if (!isSignalled)
        {
            LockSupport.parkNanos(this, timeoutNs);
        }
    }

    /** Wakes the waiting thread, and waits a little for it to go. */
    @Override
    public void close()
    {
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + CLOSE_TIMEOUT_NS;
        wake();
        while (waiter != null && waiter != Thread.currentThread() && SystemNanoClock.INSTANCE.nanoTime() - endNs < 0)
        {
            LockSupport.parkNanos(CLOSE_PAUSE_NS);
        }
        wake.close();
    }
}
