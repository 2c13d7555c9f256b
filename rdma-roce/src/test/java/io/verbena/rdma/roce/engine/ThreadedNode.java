package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine used by several threads, joined to another one in memory. What it sends is lost now and then. Time passes
 * while both are driven.
 */
final class ThreadedNode implements EngineDriver, PacketSink
{
    private static final int PACKETS = 1024;
    private static final int PER_THOUSAND = 1000;
    private static final long ENTER_TIMEOUT_S = 20;

    final DeviceAddress address;
    final RoceEngine engine;
    final RoceProtectionDomain domain;
    final MemoryRegion region;
    /** Runs while this thread drives, after its work. */
    Runnable atEndOfDriving = () ->
    {
    };
    long drivenCount;
    private final ReentrantLock lock = new ReentrantLock();
    private final ManyToManyConcurrentArrayQueue<RocePacket> inbound = new ManyToManyConcurrentArrayQueue<>(PACKETS);
    private final ManyToManyConcurrentArrayQueue<RocePacket> free = new ManyToManyConcurrentArrayQueue<>(PACKETS);
    private final SplittableRandom random;
    private final DrivenClock clock;
    private final int index;
    private final int lostPerThousand;
    private ThreadedNode peer;
    private RocePacket claimed;

    /**
     * Makes one of two nodes.
     *
     * @param clock           of both.
     * @param index           0 or 1.
     * @param regionBytes     of its memory.
     * @param lostPerThousand packets that it sends.
     */
    ThreadedNode(final DrivenClock clock, final int index, final int regionBytes, final int lostPerThousand)
    {
        this.clock = clock;
        this.index = index;
        this.lostPerThousand = lostPerThousand;
        random = new SplittableRandom(index);
        for (int i = 0; i < PACKETS / 2; i++)
        {
            free.offer(new RocePacket());
        }
        address = new DeviceAddress(0xFD00_0000_0000_0002L, index + 1);
        final SplittableRandom numbers = new SplittableRandom(index + 100);
        engine = new RoceEngine(new EngineOptions(address), this, clock, numbers::nextInt, this);
        domain = engine.createProtectionDomain();
        region = domain.allocateRegistered(regionBytes, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
    }

    static void join(final ThreadedNode a, final ThreadedNode b)
    {
        a.peer = b;
        b.peer = a;
    }

    @Override
    public void drive()
    {
        if (lock.isHeldByCurrentThread())
        {
            return;
        }
        do
        {
            if (!lock.tryLock())
            {
                return;
            }
            try
            {
                work();
            }
            finally
            {
                lock.unlock();
            }
        }
        while (engine.hasPosted());
    }

    private void work()
    {
        drivenCount++;
        for (RocePacket packet = inbound.poll(); packet != null; packet = inbound.poll())
        {
            engine.onPacket(packet);
            assertThat(peer.free.offer(packet)).isTrue();
        }
        engine.doWork();
        clock.onDriven(index);
        atEndOfDriving.run();
    }

    @Override
    public void enter()
    {
        try
        {
            assertThat(lock.tryLock(ENTER_TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void exit()
    {
        lock.unlock();
        if (!lock.isHeldByCurrentThread() && engine.hasPosted())
        {
            drive();
        }
    }

    @Override
    public RocePacket claim()
    {
        if (claimed == null)
        {
            claimed = free.poll();
        }
        return claimed;
    }

    @Override
    public void send(final RocePacket packet)
    {
        claimed = null;
        final boolean isLost = random.nextInt(PER_THOUSAND) < lostPerThousand || !peer.inbound.offer(packet);
        if (isLost)
        {
            assertThat(free.offer(packet)).isTrue();
        }
    }
}
