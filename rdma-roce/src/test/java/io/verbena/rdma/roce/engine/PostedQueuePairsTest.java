package io.verbena.rdma.roce.engine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What was posted reaches the thread that drives: once, in order, and never not at all. */
class PostedQueuePairsTest
{
    private static final int EXCHANGES = 100_000;
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long LOST_MS = 40_000;
    private static final int POSTERS = 3;

    /** Counts what it finds posted. */
    private static final class Posted extends ScheduleEntry
    {
        final AtomicLong end = new AtomicLong();
        final AtomicLong seen = new AtomicLong();
        final List<Posted> order;

        Posted(final List<Posted> order)
        {
            this.order = order;
        }

        @Override
        boolean transmit(final int quantum)
        {
            if (order != null)
            {
                order.add(this);
            }
            seen.setRelease(end.getAcquire());
            return false;
        }

        @Override
        void onTimer(final long nowNs)
        {
            // has none
        }
    }

    private final PostedQueuePairs list = new PostedQueuePairs();
    private final Schedule schedule = new Schedule();
    private final PacketWriter writer = new PacketWriter(null, null, null);

    @Test
    void shouldMakeReadyInPostingOrderAndOnce()
    {
        final List<Posted> order = new ArrayList<>();
        final Posted a = new Posted(order);
        final Posted b = new Posted(order);
        final Posted c = new Posted(order);
        list.add(a);
        list.add(b);
        list.add(a);
        list.add(c);
        assertThat(list.isPending()).isTrue();
        list.drainTo(schedule);
        assertThat(list.isPending()).isFalse();
        schedule.transmit(writer);
        assertThat(order).containsExactly(a, b, c);
        list.add(b);
        assertThat(list.isPending()).isTrue();
        list.drainTo(schedule);
        schedule.transmit(writer);
        assertThat(order).containsExactly(a, b, c, b);
    }

    /**
     * Each poster waits until its post was seen, so that each post races with the end of the look before it. A busy
     * machine has time for fewer of them; a poster that does not end waits for a post that was lost.
     */
    @Test
    @Timeout(120)
    void shouldLoseNoPostThatRacesWithTheDriver() throws InterruptedException
    {
        final AtomicBoolean isStopped = new AtomicBoolean();
        final long endNs = System.nanoTime() + LONGEST_NS;
        final Thread driver = new Thread(() ->
        {
            while (!isStopped.get())
            {
                list.drainTo(schedule);
                schedule.transmit(writer);
            }
        });
        final List<Thread> posters = new ArrayList<>();
        for (int i = 0; i < POSTERS; i++)
        {
            final Posted entry = new Posted(null);
            posters.add(new Thread(() ->
            {
                for (long post = 1; post <= EXCHANGES && System.nanoTime() - endNs < 0; post++)
                {
                    entry.end.setRelease(post);
                    list.add(entry);
                    while (entry.seen.getAcquire() < post && !isStopped.get())
                    {
                        Thread.yield();
                    }
                }
            }));
        }
        driver.start();
        posters.forEach(Thread::start);
        try
        {
            for (final Thread poster : posters)
            {
                poster.join(LOST_MS);
                assertThat(poster.isAlive()).as("waits for a post that was lost").isFalse();
            }
        }
        finally
        {
            isStopped.set(true);
            driver.join();
        }
    }
}
