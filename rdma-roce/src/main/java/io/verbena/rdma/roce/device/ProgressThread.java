package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.WakeDescriptor;

import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Drives a device while nobody else does: it sleeps until packets arrive or the engine has something to do. As long as
 * an application thread polls, it looks at the clock once a millisecond and leaves packets to that one; as long as one
 * waits for packets, it sleeps until that one has left.
 */
final class ProgressThread
{
    /** What it drives. Thread-safe. */
    interface Driven
    {
        /** Takes what has arrived and does what is due, unless another thread does; whether it did. */
        boolean receive();

        /** When the engine has something to do without another packet. */
        long deadlineNs();

        /** When an application thread polled in a loop or left a wait the last time. */
        long watchedNs();

        /** Whether an application thread waits for packets. */
        boolean hasLeader();

        /** Whether something was posted that nobody has sent. */
        boolean hasPosted();

        /** Whether packets wait for room in the socket. */
        boolean hasUnsent();

        /** For how long after a packet a thread polls before it sleeps; 0 for not at all. */
        long spinNs();

        /** Packets received so far; may be a bit old. */
        long receivedCount();
    }

    private static final System.Logger LOGGER = System.getLogger(ProgressThread.class.getName());
    /** After this without a poll of an application thread, packets are this thread's. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_SLEEP_NS = TimeUnit.SECONDS.toNanos(1);
    /** Between two attempts to send into a full socket. */
    static final long FULL_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CLOSE_PAUSE_NS = 200_000;
    private static final long AWAKE = Long.MIN_VALUE;

    private final String deviceName;
    private final Driven driver;
    private final UdpPort port;
    private final WakeDescriptor wake = new WakeDescriptor();
    private final Thread thread;
    private final SpinWait spin;
    /** When it looks again, while it waits for packets; {@link #AWAKE} else. */
    private volatile long sleepsUntilNs = AWAKE;
    /** Whether it waits for a leader to leave. */
    private volatile boolean isBehindLeader;
    private volatile boolean isWanted;
    private volatile boolean isClosed;
    private boolean hasFailed;

    ProgressThread(final String deviceName, final Driven driver, final UdpPort port)
    {
        this.deviceName = deviceName;
        this.driver = driver;
        this.port = port;
        spin = new SpinWait(driver.spinNs());
        thread = Thread.ofPlatform().daemon().name("roce-progress-" + deviceName).unstarted(this::run);
    }

    String deviceName()
    {
        return deviceName;
    }

    void start()
    {
        thread.start();
    }

    /** There is something to do then at the latest. Any thread. */
    void onDeadline(final long deadlineNs)
    {
        if (deadlineNs < sleepsUntilNs)
        {
            sleepsUntilNs = deadlineNs;
            wake.signal();
        }
    }

    /** A thread no longer waits for packets; it may or may not poll from now on. */
    void onLeaderLeft()
    {
        if (isBehindLeader)
        {
            isBehindLeader = false;
            LockSupport.unpark(thread);
        }
    }

    /** No thread polls any more; it looks at the sockets now, not when it would have looked at the clock. */
    void onPollingPaused()
    {
        LockSupport.unpark(thread);
    }

    /** Has it drive once, soon. */
    void wake()
    {
        isWanted = true;
        wake.signal();
        LockSupport.unpark(thread);
    }

    private void run()
    {
        while (!isClosed)
        {
            try
            {
                step();
            }
            catch (final RuntimeException ex)
            {
                if (!hasFailed)
                {
                    LOGGER.log(System.Logger.Level.ERROR, "device " + deviceName + " cannot be driven, goes on trying",
                        ex);
                }
                hasFailed = true;
                LockSupport.parkNanos(QUIET_NS);
            }
        }
    }

    private void step()
    {
        // A doorbell that was left is sent, whether or not the thread that left it polls again.
        final boolean wasWanted = isWanted || driver.hasPosted();
        isWanted = false;
        final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        if (!wasWanted && nowNs - driver.watchedNs() < QUIET_NS)
        {
            LockSupport.parkNanos(QUIET_NS);
        }
        else if (!wasWanted && driver.hasLeader())
        {
            isBehindLeader = true;
            // Looked at again: who left before has not seen that this thread waits.
            if (driver.hasLeader() && !isClosed && !isWanted)
            {
                LockSupport.parkNanos(MAX_SLEEP_NS);
            }
            isBehindLeader = false;
        }
        else if (!driver.receive())
        {
            // Another thread drives.
            LockSupport.parkNanos(FULL_NS);
        }
        else if (driver.hasUnsent())
        {
            LockSupport.parkNanos(FULL_NS);
        }
        else if (spin.isSpinning() && spin.mayGoOn(nowNs, driver.receivedCount()))
        {
            Thread.yield();
        }
        else
        {
            sleep();
        }
    }

    private void sleep()
    {
        final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        final long untilNs = Math.min(driver.deadlineNs(), nowNs + MAX_SLEEP_NS);
        sleepsUntilNs = untilNs;
        // Looked at again: who drove before has not seen until when this thread sleeps.
        if (driver.deadlineNs() >= untilNs && !driver.hasPosted() && !isWanted && !isClosed)
        {
            if (!port.await(untilNs - nowNs, wake.descriptor()))
            {
                wake.reset();
            }
        }
        sleepsUntilNs = AWAKE;
    }

    void close()
    {
        isClosed = true;
        wake();
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + CLOSE_TIMEOUT_NS;
        while (thread.isAlive() && SystemNanoClock.INSTANCE.nanoTime() - endNs < 0)
        {
            LockSupport.parkNanos(CLOSE_PAUSE_NS);
        }
        if (!thread.isAlive())
        {
            wake.close();
        }
    }
}
