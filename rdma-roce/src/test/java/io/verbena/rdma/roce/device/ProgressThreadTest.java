package io.verbena.rdma.roce.device;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** What the thread does while an application thread polls without a pause. */
@Timeout(60)
class ProgressThreadTest
{
    /** Watched at every moment; drives nothing. */
    private static final class Watched implements ProgressThread.Driven
    {
        final CountDownLatch sent = new CountDownLatch(1);
        final AtomicInteger receives = new AtomicInteger();
        volatile boolean hasPosted;

        @Override
        public boolean receive()
        {
            receives.incrementAndGet();
            if (hasPosted)
            {
                hasPosted = false;
                sent.countDown();
            }
            return false;
        }

        @Override
        public long deadlineNs()
        {
            return Long.MAX_VALUE;
        }

        @Override
        public long watchedNs()
        {
            return SystemNanoClock.INSTANCE.nanoTime();
        }

        @Override
        public boolean hasLeader()
        {
            return false;
        }

        @Override
        public boolean hasPosted()
        {
            return hasPosted;
        }

        @Override
        public boolean hasUnsent()
        {
            return false;
        }

        @Override
        public long spinNs()
        {
            return 0;
        }

        @Override
        public long receivedCount()
        {
            return 0;
        }
    }

    @Test
    void shouldSendDoorbellThatWasLeftThoughAnotherThreadPolls() throws InterruptedException
    {
        final Watched watched = new Watched();
        final ProgressThread thread = new ProgressThread("watched", watched, null);
        thread.start();
        try
        {
            Thread.sleep(20);
            assertThat(watched.receives.get()).as("packets are the polling thread's").isZero();
            watched.hasPosted = true;
            assertThat(watched.sent.await(10, TimeUnit.SECONDS)).isTrue();
        }
        finally
        {
            thread.close();
        }
    }
}
