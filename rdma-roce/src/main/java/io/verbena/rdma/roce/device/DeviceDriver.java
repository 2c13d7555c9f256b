package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.engine.EngineDriver;
import io.verbena.rdma.roce.engine.RoceEngine;
import io.verbena.rdma.roce.udp.PacketHandler;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.RdmaException;

import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Drives an engine over a UDP port: whichever thread finds the lock free does, and nobody waits for it but control
 * verbs. Any thread.
 *
 * <p>It also knows who watches: a thread that polls in a loop, one that {@linkplain #await waits}, or else the
 * {@link ProgressThread}, which is woken when the engine has something to do earlier than it meant to look.
 */
final class DeviceDriver implements EngineDriver, ProgressThread.Driven
{
    /** A thread that drives again within this time polls in a loop. */
    private static final long LOOP_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /**
     * Who polls several queues in a row finds all that arrives by the first of them: after a call that received nothing
     * the polls of so long, counted from before it, make none.
     */
    private static final long EMPTY_NS = 2_000;
    private static final long ENTER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    /** Cycles in a row of one thread while others post; then the progress thread goes on. */
    private static final int MAX_CYCLES = 16;
    /** Cycles in a row that only send what was posted. */
    private static final int MAX_SEND_CYCLES = 8;
    private static final int RECEIVE_ROUNDS = 4;
    /** Doorbells in a row that are left to the next poll of a thread that polls: their packets share system calls. */
    private static final int MAX_LEFT = 15;
    /** A thread that polled within this time polls again. */
    private static final long POLLED_NS = TimeUnit.MICROSECONDS.toNanos(500);
    /** When the progress thread sends what was left, should nobody poll after all; if it is awake, within 1 ms. */
    private static final long LEFT_NS = TimeUnit.MICROSECONDS.toNanos(100);
    /** Nothing was posted since the last poll: the next doorbell is sent at once. */
    private static final int POLLED = -1;
    private final ReentrantLock lock = new ReentrantLock();
    /** The engine asks for the time with each packet; once for all that have arrived is enough. */
    private final CachedNanoClock clock = new CachedNanoClock();
    private final UdpPort port;
    private final ProgressThread progress;
    private final PathProbes probes;
    private final long spinNs;
    private final boolean isPolled;
    private final PacketHandler handler = this::onPacket;
    private RoceEngine engine;
    private int sendCycles;
    private long drivenNs;
    /** Doorbells left in a row, or POLLED; threads that count at once may leave some more. */
    private volatile int left = POLLED;
    private volatile long polledNs;
    /** Before the last call that received nothing; written under the lock. */
    private volatile long emptyNs;
    /** When a thread polled in a loop, or left a wait; read by the progress thread. */
    private volatile long watchedNs;
    private volatile long deadlineNs = Long.MAX_VALUE;
    /** The thread that waits for packets. */
    private final AtomicReference<ChannelWait> leader = new AtomicReference<>();
    private volatile long leaderUntilNs = Long.MIN_VALUE;

    /**
     * @param port     that packets come from.
     * @param spinNs   for which a thread polls before it sleeps.
     * @param isPolled whether threads that poll or wait take packets; else the progress thread alone does, and what
     *                 others post they send at most.
     */
    DeviceDriver(final String name, final UdpPort port, final long spinNs, final boolean isPolled)
    {
        this.isPolled = isPolled;
        this.port = port;
        this.spinNs = spinNs;
        probes = new PathProbes(port, this, (number) -> engine.cipher(number));
        watchedNs = SystemNanoClock.INSTANCE.nanoTime() - TimeUnit.SECONDS.toNanos(1);
        emptyNs = watchedNs;
        polledNs = watchedNs;
        updateClock();
        progress = new ProgressThread(name, this, port);
    }

    /** Begins; once, before anything else. */
    void start(final RoceEngine driven)
    {
        lock.lock();
        try
        {
            engine = driven;
        }
        finally
        {
            lock.unlock();
        }
        progress.start();
    }

    /** @return for the engine: the time as of the last call that received, or of the verb that has entered. */
    NanoClock clock()
    {
        return clock;
    }

    PathProbes probes()
    {
        return probes;
    }

    @Override
    public void drive()
    {
        final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        if (nowNs - emptyNs >= EMPTY_NS || nowNs >= deadlineNs || engine.hasPosted())
        {
            polledNs = nowNs;
            left = POLLED;
            drive(nowNs);
        }
    }

    /**
     * The first doorbell after a poll is sent at once. Others are sent together by the next poll, a doorbell many
     * later, or else the progress thread. Who waits for packets looks for them before.
     */
    @Override
    public void onPosted()
    {
        final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        final int before = left;
        if (before != POLLED && before < MAX_LEFT && nowNs - polledNs < POLLED_NS && leader.get() == null)
        {
            left = before + 1;
            progress.onDeadline(nowNs + LEFT_NS);
        }
        else
        {
            left = 0;
            drive(nowNs);
        }
    }

    private void drive(final long nowNs)
    {
        if (lock.isHeldByCurrentThread())
        {
            return;
        }
        for (int cycles = 0; lock.tryLock(); cycles++)
        {
            try
            {
                if (isPolled && nowNs - drivenNs < LOOP_NS)
                {
                    watchedNs = nowNs;
                }
                drivenNs = nowNs;
                if (!cycle(true))
                {
                    emptyNs = nowNs;
                }
            }
            finally
            {
                lock.unlock();
            }
            if (!engine.hasPosted())
            {
                return;
            }
            if (cycles == MAX_CYCLES)
            {
                progress.wake();
                return;
            }
        }
    }

    @Override
    public boolean receive()
    {
        boolean hasDriven = false;
        for (int cycles = 0; cycles <= MAX_CYCLES && (!hasDriven || engine.hasPosted()) && lock.tryLock(); cycles++)
        {
            try
            {
                cycle(false);
                hasDriven = true;
            }
            finally
            {
                lock.unlock();
            }
        }
        return hasDriven;
    }

    /** Under the lock. Returns false when there was nothing to receive. */
    private boolean cycle(final boolean maySkipReceiving)
    {
        boolean hasReceived = true;
        updateClock();
        if (maySkipReceiving && sendCycles < MAX_SEND_CYCLES && engine.hasPosted())
        {
            // A post: what has arrived is taken by the poll that follows.
            sendCycles++;
        }
        else
        {
            sendCycles = 0;
            hasReceived = port.receive(handler) > 0;
            boolean isMore = hasReceived;
            for (int i = 1; isMore && i < RECEIVE_ROUNDS; i++)
            {
                engine.doWork();
                updateClock();
                isMore = port.receive(handler) > 0;
            }
        }
        engine.doWork();
        port.flush();
        final long nextNs = engine.nextDeadlineNs();
        deadlineNs = nextNs;
        progress.onDeadline(nextNs);
        if (nextNs < leaderUntilNs)
        {
            leaderUntilNs = nextNs;
            final ChannelWait waiting = leader.get();
            if (waiting != null)
            {
                waiting.wake();
            }
        }
        return hasReceived;
    }

    private void updateClock()
    {
        clock.update(SystemNanoClock.INSTANCE.nanoTime());
    }

    private void onPacket(final RocePacket packet)
    {
        probes.onPacket(packet, engine.onPacket(packet));
    }

    @Override
    public void enter()
    {
        boolean isEntered = lock.tryLock();
        boolean isInterrupted = false;
        final long endNs = SystemNanoClock.INSTANCE.nanoTime() + ENTER_TIMEOUT_NS;
        while (!isEntered)
        {
            try
            {
                isEntered = lock.tryLock(endNs - SystemNanoClock.INSTANCE.nanoTime(), TimeUnit.NANOSECONDS);
                if (!isEntered)
                {
                    throw new RdmaException("a thread that drives the device does not go on: " + progress.deviceName() +
                        ", waited 30 s; if its process was stopped let it run, else this is a defect");
                }
            }
            catch (final InterruptedException ex)
            {
                isInterrupted = true;
            }
        }
        if (isInterrupted)
        {
            Thread.currentThread().interrupt();
        }
        updateClock();
        if (engine != null && lock.getHoldCount() == 1 && engine.hasPosted())
        {
            // Doorbells that were left: what the verb closes or changes has been posted to before.
            engine.doWork();
            port.flush();
        }
    }

    @Override
    public void exit()
    {
        final boolean isOutermost = lock.getHoldCount() == 1;
        lock.unlock();
        if (isOutermost && engine != null)
        {
            // What a control verb has left to be sent, or others have posted meanwhile.
            drive(SystemNanoClock.INSTANCE.nanoTime());
        }
    }

    /**
     * Waits, at most until the engine has something to do. The first of several threads waits for packets, too.
     *
     * @param timeoutNs longest wait.
     * @param waiter    that can be woken.
     */
    void await(final long timeoutNs, final ChannelWait waiter)
    {
        if (!leader.compareAndSet(null, waiter))
        {
            waiter.awaitWake(timeoutNs);
            return;
        }
        try
        {
            final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            // Packets that wait for room in the socket are sent by who looks again.
            final long longestNs = port.hasUnsent() ? Math.min(timeoutNs, ProgressThread.FULL_NS) : timeoutNs;
            final long untilNs = Math.min(deadlineNs, nowNs + longestNs);
            leaderUntilNs = untilNs;
            // Looked at again: who drove or posted before has not seen until when this thread waits.
            if (deadlineNs >= untilNs && !engine.hasPosted())
            {
                waiter.awaitPackets(port, Math.max(0, untilNs - nowNs));
            }
        }
        finally
        {
            leaderUntilNs = Long.MIN_VALUE;
            watchedNs = SystemNanoClock.INSTANCE.nanoTime();
            leader.set(null);
            progress.onLeaderLeft();
        }
    }

    @Override
    public long spinNs()
    {
        return spinNs;
    }

    @Override
    public long receivedCount()
    {
        return port.counters().received;
    }

    /** A waiting thread that found nothing polls again. */
    void onPollingOn(final long nowNs)
    {
        watchedNs = nowNs;
        // On a busy processor others go first: what is waited for may need it.
        Thread.yield();
    }

    /** A thread that polled does something else: the progress thread takes packets from now on. */
    void pollingPauses()
    {
        watchedNs = SystemNanoClock.INSTANCE.nanoTime() - TimeUnit.SECONDS.toNanos(1);
        progress.onPollingPaused();
    }

    @Override
    public long deadlineNs()
    {
        return deadlineNs;
    }

    @Override
    public long watchedNs()
    {
        return watchedNs;
    }

    @Override
    public boolean hasLeader()
    {
        return leader.get() != null;
    }

    @Override
    public boolean hasPosted()
    {
        return engine.hasPosted();
    }

    @Override
    public boolean hasUnsent()
    {
        return port.hasUnsent();
    }

    /** Stops the progress thread; nobody drives afterwards by itself. */
    void close()
    {
        progress.close();
    }
}
