package io.verbena.protocol.request;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** The lock over a duty cycle whose holder waits for packets of another host instead of polling. */
@Timeout(120)
class WaitingDutyLockTest
{
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

    /** No poll finds an answer: what ends a wait brings it. */
    private static final class WaitingDuty implements DutyLock.Duty
    {
        final ConcurrentLinkedQueue<NodeRequest> queue = new ConcurrentLinkedQueue<>();
        final Semaphore ends = new Semaphore(0);
        final AtomicInteger waits = new AtomicInteger();
        final AtomicInteger polls = new AtomicInteger();
        private NodeRequest current;
        private boolean isAnswered;

        @Override
        public int serve()
        {
            return poll();
        }

        @Override
        public int poll()
        {
            polls.incrementAndGet();
            if (null == current && null != (current = queue.poll()))
            {
                current.start();
                return 1;
            }
            if (null != current && isAnswered)
            {
                final NodeRequest done = current;
                current = null;
                isAnswered = false;
                done.complete();
                return 1;
            }
            return 0;
        }

        @Override
        public boolean isBusy()
        {
            return null != current || !queue.isEmpty();
        }

        @Override
        public boolean isDutyDue()
        {
            return false;
        }

        @Override
        public void await(final long timeoutNs)
        {
            waits.incrementAndGet();
            try
            {
                isAnswered = ends.tryAcquire(LONG_NS, TimeUnit.NANOSECONDS);
            }
            catch (final InterruptedException ex)
            {
                throw new IllegalStateException(ex);
            }
        }

        @Override
        public void endWait()
        {
            ends.release();
        }
    }

    private static final class Request extends NodeRequest
    {
        @Override
        protected void onDone()
        {
            // Its state says so.
        }
    }

    private final WaitingDuty duty = new WaitingDuty();
    private final Waker waker = new Waker();
    private final DutyLock far = new DutyLock(duty, waker::wake, SystemNanoClock.INSTANCE,
        DutyLock.Patience.ANOTHER_HOST_ANSWERS);

    private Request enqueue()
    {
        final Request request = new Request();
        request.queue();
        duty.queue.add(request);
        return request;
    }

    @Test
    void shouldWaitAfterFewPollsWhereAnotherHostAnswers() throws InterruptedException
    {
        far.share();
        final Request request = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> far.workFor(request));
        assertWaits(1);
        assertThat(duty.polls.get()).isLessThan(20);
        duty.ends.release();
        caller.join();
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(duty.waits.get()).isEqualTo(1);
    }

    @Test
    void shouldEndTheWaitOfTheHolderForWhatNobodyWaitsFor() throws InterruptedException
    {
        far.share();
        final Request first = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> far.workFor(first));
        assertWaits(1);
        waker.announce();
        enqueue();
        far.wake();
        caller.join();
        assertThat(first.state()).isEqualTo(NodeRequest.DONE);
        assertThat(waker.isAnnounced()).as("the thread does the rest").isFalse();
    }

    @Test
    void shouldEndTheWaitOfTheHolderForAnotherCaller() throws InterruptedException
    {
        far.share();
        final Request first = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> far.workFor(first));
        assertWaits(1);
        final Thread other = Thread.ofPlatform().start(() -> far.workFor(enqueue()));
        caller.join();
        assertThat(first.state()).isEqualTo(NodeRequest.DONE);
        // The other one may be the holder by now, and waits for an answer of its own.
        while (other.isAlive())
        {
            duty.ends.release();
            LockSupport.parkNanos(100_000);
        }
    }

    private void assertWaits(final int count)
    {
        final long deadlineNs = System.nanoTime() + LONG_NS / 2;
        while (duty.waits.get() < count && deadlineNs - System.nanoTime() > 0)
        {
            LockSupport.parkNanos(100_000);
        }
        assertThat(duty.waits.get()).isEqualTo(count);
    }
}
