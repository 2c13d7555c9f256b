package io.verbena.protocol.request;

import io.verbena.test.Meetings;

import org.agrona.concurrent.SystemNanoClock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Callers that wait, callers that do not, and a background thread share one transport. */
@Timeout(120)
class DutyLockTest
{
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int MEETINGS = 5_000;

    /** Answers each request some polls after it was taken out of the queue; notices two owners at once. */
    private static final class CountingTransport implements DutyLock.Duty
    {
        final ConcurrentLinkedQueue<NodeRequest> queue = new ConcurrentLinkedQueue<>();
        final AtomicInteger owners = new AtomicInteger();
        final AtomicInteger clashes = new AtomicInteger();
        volatile int pollsPerAnswer = 2;
        volatile Throwable error;
        volatile boolean isDutyDue;
        volatile boolean isOpenToCallers = true;
        volatile boolean mayDawdle;
        volatile Thread lastDriver;
        volatile boolean sawInterrupt;
        Runnable afterLook = () -> {};
        Runnable beforeEnd = () -> {};
        Runnable beforeTry = () -> {};
        private NodeRequest current;
        private int pollsLeft;

        int doWork()
        {
            isDutyDue = false;
            return poll();
        }

        @Override
        public int serve()
        {
            lastDriver = Thread.currentThread();
            sawInterrupt |= Thread.currentThread().isInterrupted();
            if (error instanceof final RuntimeException exception)
            {
                throw exception;
            }
            if (error instanceof final Error thrown)
            {
                throw thrown;
            }
            return poll();
        }

        @Override
        public boolean isOpenToCallers()
        {
            beforeTry.run();
            return isOpenToCallers;
        }

        @Override
        public boolean isDutyDue()
        {
            if (mayDawdle)
            {
                Meetings.dawdle(4); // between the last look at the queues and the release
            }
            beforeEnd.run();
            return isDutyDue;
        }

        @Override
        public int poll()
        {
            clashes.addAndGet(owners.incrementAndGet() > 1 ? 1 : 0);
            int work = 0;
            if (null == current && null != (current = queue.poll()))
            {
                current.start();
                pollsLeft = pollsPerAnswer;
                work = 1;
            }
            else if (null != current && 0 == --pollsLeft)
            {
                final NodeRequest done = current;
                current = null;
                done.complete();
                work = 1;
            }
            owners.decrementAndGet();
            return work;
        }

        @Override
        public boolean isBusy()
        {
            final boolean isBusy = null != current || !queue.isEmpty();
            afterLook.run();
            return isBusy;
        }
    }

    private static final class Request extends NodeRequest
    {
        private final Thread submitter = Thread.currentThread();

        @Override
        protected void onDone()
        {
            LockSupport.unpark(submitter);
        }

        boolean await()
        {
            final long deadlineNs = System.nanoTime() + LONG_NS;
            while (DONE != state() && deadlineNs - System.nanoTime() > 0)
            {
                LockSupport.parkNanos(LONG_NS);
            }
            return DONE == state();
        }
    }

    private final CountingTransport transport = new CountingTransport();
    private final Waker waker = new Waker();
    private final DutyLock dutyLock = new DutyLock(
        transport, waker::wake, SystemNanoClock.INSTANCE, DutyLock.Patience.ANOTHER_PROCESS_ANSWERS);
    private volatile boolean isEnding;

    private Request enqueue()
    {
        final Request request = new Request();
        request.queue();
        transport.queue.add(request);
        return request;
    }

    @Test
    void shouldWorkInTheCallingThreadAndWakeNobody()
    {
        dutyLock.share();
        final Request request = enqueue();
        waker.announce();
        dutyLock.workFor(request);
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isTrue();
    }

    @Test
    void shouldOnlyWakeTheThreadWhileNotShared()
    {
        waker.announce();
        dutyLock.workFor(enqueue());
        assertThat(transport.lastDriver).isNull();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldLeaveItToTheHolder() throws InterruptedException
    {
        dutyLock.share();
        assertThat(dutyLock.tryAcquire()).isTrue();
        waker.announce();
        final Thread caller = Thread.ofPlatform().start(() -> dutyLock.workFor(enqueue()));
        caller.join();
        dutyLock.release();
        assertThat(transport.lastDriver).isNull();
        assertThat(dutyLock.hasLeftWork()).isTrue();
        assertThat(waker.isAnnounced()).as("the holder sees it").isTrue();
        assertThat(dutyLock.tryAcquire()).isTrue();
        assertThat(dutyLock.hasLeftWork()).isFalse();
    }

    @Test
    void shouldWakeTheThreadForWhatIsLeftAtTheRelease()
    {
        dutyLock.share();
        final Request own = enqueue();
        enqueue();
        transport.pollsPerAnswer = 20;
        waker.announce();
        dutyLock.workFor(own);
        assertThat(own.state()).isEqualTo(NodeRequest.DONE);
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** Another caller comes after the last look at the queues and before the lock is released. */
    @Test
    void shouldWakeTheThreadForWhatWasLeftAfterTheLastLook()
    {
        dutyLock.share();
        waker.announce();
        final AtomicInteger looks = new AtomicInteger();
        transport.afterLook = () ->
        {
            if (1 == looks.incrementAndGet())
            {
                CompletableFuture.runAsync(
                    () -> dutyLock.workFor(enqueue()), (task) -> new Thread(task).start()).join();
            }
        };
        dutyLock.workFor(enqueue());
        assertThat(looks.get()).isEqualTo(1);
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** The same for one that does not wait. */
    @Test
    void shouldWakeTheThreadForWhatWasEnqueuedAfterTheLastLook()
    {
        dutyLock.share();
        waker.announce();
        transport.beforeEnd = () -> CompletableFuture.runAsync(() ->
        {
            enqueue();
            dutyLock.wake();
        }, (task) -> new Thread(task).start()).join();
        dutyLock.workFor(enqueue());
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldWakeTheThreadWhenTheLockIsReleasedAsTheMarkIsMade()
    {
        dutyLock.share();
        assertThat(dutyLock.tryAcquire()).isTrue();
        dutyLock.afterMark = dutyLock::release;
        waker.announce();
        enqueue();
        dutyLock.wake();
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldTakeTheLockWhenItIsReleasedAsTheMarkIsMade() throws InterruptedException
    {
        dutyLock.share();
        assertThat(dutyLock.tryAcquire()).isTrue();
        dutyLock.afterMark = dutyLock::release;
        final Request request = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> dutyLock.workFor(request));
        caller.join();
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(caller);
    }

    @Test
    void shouldEnterByItselfWhenNobodyHoldsTheLock()
    {
        dutyLock.share();
        final Request request = new Request();
        final int status = dutyLock.submit(request, this::enter, (entering) -> ComputeEndpoint.FULL);
        assertThat(status).isEqualTo(ComputeEndpoint.ACCEPTED);
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
    }

    @Test
    void shouldQueueAndWakeTheThreadWhenTheLockIsNotToBeHad()
    {
        waker.announce();
        final int status = dutyLock.submit(new Request(), (entering) -> ComputeEndpoint.FULL, this::enter);
        assertThat(status).isEqualTo(ComputeEndpoint.ACCEPTED);
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldReleaseTheLockWhenThereIsNoRoom()
    {
        dutyLock.share();
        final int status = dutyLock.submit(new Request(), (entering) -> ComputeEndpoint.FULL, this::enter);
        assertThat(status).isEqualTo(ComputeEndpoint.FULL);
        assertThat(dutyLock.isHeld()).isFalse();
    }

    private int enter(final NodeRequest request)
    {
        request.queue();
        transport.queue.add(request);
        return ComputeEndpoint.ACCEPTED;
    }

    /** What never comes is not waited for here: the caller has its own deadline, and parks until then. */
    @Test
    void shouldReleaseTheLockWhenNoAnswerComes()
    {
        dutyLock.share();
        transport.pollsPerAnswer = Integer.MAX_VALUE;
        waker.announce();
        final long startNs = System.nanoTime();
        dutyLock.workFor(enqueue());
        assertThat(System.nanoTime() - startNs).as("it ends at all").isLessThan(LONG_NS);
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldKeepAnInterruptForTheCallerAndFromTheTransport()
    {
        dutyLock.share();
        Thread.currentThread().interrupt();
        final Request request = enqueue();
        dutyLock.workFor(request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.sawInterrupt).isFalse();
    }

    @Test
    void shouldTellTheThreadThatADutyCycleFailed()
    {
        dutyLock.share();
        transport.error = new IllegalStateException("broken");
        waker.announce();
        dutyLock.workFor(enqueue());
        assertThat(dutyLock.failure()).isSameAs(transport.error);
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
        transport.lastDriver = null;
        dutyLock.workFor(enqueue());
        assertThat(transport.lastDriver).as("nobody drives it further").isNull();
    }

    @Test
    void shouldGiveAnErrorToTheCallerAndTellTheThread()
    {
        dutyLock.share();
        transport.error = new StackOverflowError();
        waker.announce();
        assertThatThrownBy(() -> dutyLock.workFor(enqueue())).isSameAs(transport.error);
        assertThat(dutyLock.failure()).isSameAs(transport.error);
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(dutyLock.isMine()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** The duty cycle itself answers: with nothing to do it is not run on, and a virtual thread may run it. */
    @Test
    void shouldReleaseTheLockAtOnceWhenTheDutyCycleHasNothingToDo() throws InterruptedException
    {
        final AtomicInteger clockReadings = new AtomicInteger();
        final DutyLock impatient = new DutyLock(transport, waker::wake, clockReadings::incrementAndGet,
            DutyLock.Patience.DUTY_CYCLE_ANSWERS);
        impatient.share();
        transport.pollsPerAnswer = Integer.MAX_VALUE;
        waker.announce();
        Thread.ofVirtual().start(() -> impatient.workFor(enqueue())).join();
        assertThat(transport.lastDriver).isNotNull();
        assertThat(clockReadings.get()).as("it gave up before any time was up").isZero();
        assertThat(impatient.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).as("the thread goes on").isFalse();
    }

    @Test
    void shouldNotBeTakenWhileTheDutyIsForTheThreadAlone()
    {
        dutyLock.share();
        transport.isOpenToCallers = false;
        waker.announce();
        final Request request = new Request();
        assertThat(dutyLock.submit(request, (entering) -> ComputeEndpoint.FULL, this::enter))
            .isEqualTo(ComputeEndpoint.ACCEPTED);
        assertThat(transport.lastDriver).isNull();
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** One that gives way is not scheduled again before all the others, with the lock held. */
    @Test
    void shouldNeverBeTakenByAVirtualThread() throws InterruptedException
    {
        dutyLock.share();
        waker.announce();
        Thread.ofVirtual().start(() -> dutyLock.workFor(enqueue())).join();
        assertThat(transport.lastDriver).isNull();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldBeLeftToTheThreadWhenItsDutyIsDue()
    {
        dutyLock.share();
        transport.isDutyDue = true;
        waker.announce();
        final Request first = enqueue();
        dutyLock.workFor(first);
        assertThat(first.state()).isEqualTo(NodeRequest.DONE);
        assertThat(waker.isAnnounced()).isFalse();

        transport.lastDriver = null;
        waker.announce();
        dutyLock.workFor(enqueue());
        assertThat(transport.lastDriver).as("nobody before the thread").isNull();
        assertThat(waker.isAnnounced()).isFalse();

        assertThat(dutyLock.tryAcquire()).isTrue();
        transport.doWork();
        dutyLock.release();
        dutyLock.workFor(enqueue());
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
    }

    /** The caller has found the lock open, and comes to try for it when it was reserved. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotBeTakenByACallerThatCameBeforeTheReservation(final boolean submits)
    {
        dutyLock.share();
        transport.beforeTry = dutyLock::reserve;
        waker.announce();
        final Request request = new Request();
        if (submits)
        {
            // There is no room, so that nothing but the failed attempt wakes the thread.
            assertThat(dutyLock.submit(request, (entered) -> ComputeEndpoint.ACCEPTED,
                (entered) -> ComputeEndpoint.FULL)).isEqualTo(ComputeEndpoint.FULL);
        }
        else
        {
            request.queue();
            transport.queue.add(request);
            dutyLock.workFor(request);
        }
        assertThat(transport.lastDriver).as("nobody before the thread").isNull();
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
        assertThat(dutyLock.tryAcquire()).isTrue();
        dutyLock.release();
        transport.beforeTry = () -> {};
        dutyLock.workFor(enqueue());
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
    }

    @Test
    void shouldLeaveItToTheThreadWhenTheLockIsReservedAndReleasedAsTheMarkIsMade() throws InterruptedException
    {
        dutyLock.share();
        assertThat(dutyLock.tryAcquire()).isTrue();
        dutyLock.afterMark = () ->
        {
            dutyLock.reserve();
            dutyLock.release();
        };
        waker.announce();
        final Request request = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> dutyLock.workFor(request));
        caller.join();
        assertThat(transport.lastDriver).as("nobody before the thread").isNull();
        assertThat(dutyLock.isHeld()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
        assertThat(request.state()).isNotEqualTo(NodeRequest.DONE);
    }

    /** The background thread sleeps for longer than anybody waits: one lost wake-up fails this. */
    @Test
    void shouldAnswerAllWhenCallersAndTheThreadPassTheLockOn() throws InterruptedException
    {
        dutyLock.share();
        final Thread background = Thread.ofPlatform().start(this::runBackground);
        final AtomicInteger answered = new AtomicInteger();
        final List<Thread> callers = new ArrayList<>();
        for (int c = 0; c < 5; c++)
        {
            final boolean waits = c < 3;
            callers.add(Thread.ofPlatform().start(() -> call(waits, answered)));
        }
        for (final Thread caller : callers)
        {
            caller.join();
        }
        isEnding = true;
        waker.wake();
        background.join();
        assertThat(answered.get()).isEqualTo(5 * 20_000);
        assertThat(transport.clashes.get()).isZero();
    }

    /**
     * Two threads meet as one releases the lock, and nobody comes after them: whatever the moment, all is answered
     * then, or the thread was woken.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLoseNothingWheneverTheLockIsReleased(final boolean waits) throws InterruptedException
    {
        dutyLock.share();
        transport.mayDawdle = true;
        final Meetings meetings = new Meetings(2);
        final Thread other = Thread.ofPlatform().start(() -> meet(meetings, waits));
        int lost = 0;
        for (int i = 0; i < MEETINGS; i++)
        {
            // Long enough for who waits to give up trying, about as often as not.
            transport.pollsPerAnswer = 2 + ThreadLocalRandom.current().nextInt(waits ? 300 : 30);
            waker.announce();
            meetings.await();
            dutyLock.workFor(enqueue());
            meetings.await();
            lost += transport.isBusy() && waker.isAnnounced() ? 1 : 0;
            assertThat(dutyLock.tryAcquire()).isTrue();
            while (transport.isBusy())
            {
                transport.poll();
            }
            dutyLock.release();
        }
        other.join();
        assertThat(lost).isZero();
        assertThat(transport.clashes.get()).isZero();
    }

    private void meet(final Meetings meetings, final boolean waits)
    {
        for (int i = 0; i < MEETINGS; i++)
        {
            meetings.await();
            Meetings.dawdle(40);
            final Request request = enqueue();
            if (waits)
            {
                dutyLock.workFor(request);
            }
            else
            {
                dutyLock.wake();
            }
            meetings.await();
        }
    }

    private void call(final boolean waits, final AtomicInteger answered)
    {
        for (int i = 0; i < 20_000; i++)
        {
            final Request request = enqueue();
            if (waits)
            {
                dutyLock.workFor(request);
            }
            else
            {
                dutyLock.wake();
            }
            if (!request.await())
            {
                return;
            }
            answered.incrementAndGet();
        }
    }

    private void runBackground()
    {
        while (!isEnding)
        {
            if (!dutyLock.tryAcquire())
            {
                waker.announce();
                waker.sleep(dutyLock.isHeld() ? 2 * LONG_NS : 0);
                continue;
            }
            final boolean hasWorked = transport.doWork() > 0;
            waker.announce();
            final boolean rests = !hasWorked && !transport.isBusy();
            dutyLock.release();
            waker.sleep(rests && !dutyLock.hasLeftWork() && !isEnding ? 2 * LONG_NS : 0);
        }
    }
}
