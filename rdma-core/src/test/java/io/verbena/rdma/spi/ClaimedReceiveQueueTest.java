package io.verbena.rdma.spi;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;

import static org.assertj.core.api.Assertions.assertThat;

/** Receives that are claimed from elsewhere are given back once each, whoever gives them back. */
@Timeout(60)
class ClaimedReceiveQueueTest
{
    private static final int COUNT = 1024;
    private static final int ROUNDS = 4096;

    private final AtomicIntegerArray releases = new AtomicIntegerArray(COUNT + 1);

    /** Each claim is the next number. */
    private final class Claims implements ReceiveClaims
    {
        private long last;

        @Override
        public long claim(final int queuePairNumber, final int neededBytes)
        {
            return ++last;
        }

        @Override
        public long wrId(final long claim)
        {
            return claim;
        }

        @Override
        public long address(final long claim)
        {
            return claim;
        }

        @Override
        public int lengthBytes(final long claim)
        {
            return 0;
        }

        @Override
        public int key(final long claim)
        {
            return 0;
        }

        @Override
        public void release(final long claim, final int queuePairNumber)
        {
            releases.incrementAndGet((int)claim);
        }
    }

    /** A thread that polls, and the one that finds no place for a completion. The same claims again and again. */
    @Test
    void shouldGiveReceivesBackInTurnThoughTwoThreadsRelease() throws InterruptedException
    {
        final ClaimedReceiveQueue queue = new ClaimedReceiveQueue(new Claims(), 7, COUNT);
        for (int i = 0; i < COUNT; i++)
        {
            assertThat(queue.isEmpty()).isFalse();
            queue.remove();
        }
        final CountDownLatch start = new CountDownLatch(2);
        final Thread other = Thread.ofPlatform().start(() -> release(queue, start));
        release(queue, start);
        other.join();
        for (int claim = 1; claim <= COUNT; claim++)
        {
            assertThat(releases.get(claim)).as("releases of claim %d", claim).isEqualTo(2 * ROUNDS);
        }
    }

    private static void release(final ClaimedReceiveQueue queue, final CountDownLatch start)
    {
        start.countDown();
        while (start.getCount() > 0)
        {
            Thread.onSpinWait();
        }
        for (int i = 0; i < ROUNDS * COUNT; i++)
        {
            queue.release();
        }
    }
}
