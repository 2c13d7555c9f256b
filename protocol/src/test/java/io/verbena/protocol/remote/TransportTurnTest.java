package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.NodeRequest;
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
class TransportTurnTest
{
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int MEETINGS = 5_000;

    /** Answers each request some polls after it was taken out of the queue; notices two owners at once. */
    private static final class CountingTransport implements TransportTurn.Transport
    {
        final ConcurrentLinkedQueue<NodeRequest> queue = new ConcurrentLinkedQueue<>();
        final AtomicInteger owners = new AtomicInteger();
        final AtomicInteger clashes = new AtomicInteger();
        volatile int pollsPerAnswer = 2;
        volatile Throwable error;
        volatile boolean isDutyDue;
        volatile boolean mayDawdle;
        volatile Thread lastDriver;
        volatile boolean sawInterrupt;
        Runnable afterLook = () -> {};
        Runnable beforeEnd = () -> {};
        private NodeRequest current;
        private int pollsLeft;

        @Override
        public int doWork()
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
        public boolean isDutyDue()
        {
            if (mayDawdle)
            {
                Meetings.dawdle(4); // between the last look at the queues and the end of the turn
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
    private final TransportTurn turn = new TransportTurn(transport, waker, SystemNanoClock.INSTANCE);
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
        turn.share();
        final Request request = enqueue();
        waker.announce();
        turn.workFor(request);
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
        assertThat(turn.isTaken()).isFalse();
        assertThat(waker.isAnnounced()).isTrue();
    }

    @Test
    void shouldOnlyWakeTheThreadWhileNotShared()
    {
        waker.announce();
        turn.workFor(enqueue());
        assertThat(transport.lastDriver).isNull();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldLeaveItToWhoHasTheTurn() throws InterruptedException
    {
        turn.share();
        assertThat(turn.tryTake()).isTrue();
        waker.announce();
        final Thread caller = Thread.ofPlatform().start(() -> turn.workFor(enqueue()));
        caller.join();
        turn.giveBack();
        assertThat(transport.lastDriver).isNull();
        assertThat(turn.hasLeft()).isTrue();
        assertThat(waker.isAnnounced()).as("the holder sees it").isTrue();
        assertThat(turn.tryTake()).isTrue();
        assertThat(turn.hasLeft()).isFalse();
    }

    @Test
    void shouldWakeTheThreadForWhatIsLeftAfterATurn()
    {
        turn.share();
        final Request own = enqueue();
        enqueue();
        transport.pollsPerAnswer = 20;
        waker.announce();
        turn.workFor(own);
        assertThat(own.state()).isEqualTo(NodeRequest.DONE);
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** Another caller comes after the last look at the queues and before the turn is given back. */
    @Test
    void shouldWakeTheThreadForWhatWasLeftAfterTheLastLook()
    {
        turn.share();
        waker.announce();
        final AtomicInteger looks = new AtomicInteger();
        transport.afterLook = () ->
        {
            if (1 == looks.incrementAndGet())
            {
                CompletableFuture.runAsync(() -> turn.workFor(enqueue()), (task) -> new Thread(task).start()).join();
            }
        };
        turn.workFor(enqueue());
        assertThat(looks.get()).isEqualTo(1);
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** The same for one that does not wait. */
    @Test
    void shouldWakeTheThreadForWhatWasEnqueuedAfterTheLastLook()
    {
        turn.share();
        waker.announce();
        transport.beforeEnd = () -> CompletableFuture.runAsync(() ->
        {
            enqueue();
            turn.wake();
        }, (task) -> new Thread(task).start()).join();
        turn.workFor(enqueue());
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldWakeTheThreadWhenTheTurnEndsAsTheMarkIsMade()
    {
        turn.share();
        assertThat(turn.tryTake()).isTrue();
        turn.afterMark = turn::giveBack;
        waker.announce();
        enqueue();
        turn.wake();
        assertThat(turn.isTaken()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldTakeTheTurnWhenItEndsAsTheMarkIsMade() throws InterruptedException
    {
        turn.share();
        assertThat(turn.tryTake()).isTrue();
        turn.afterMark = turn::giveBack;
        final Request request = enqueue();
        final Thread caller = Thread.ofPlatform().start(() -> turn.workFor(request));
        caller.join();
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(caller);
    }

    @Test
    void shouldEnterByItselfWhenNobodyHasTheTurn()
    {
        turn.share();
        final Request request = new Request();
        final int status = turn.submit(request, this::enter, (entering) -> ComputeEndpoint.FULL);
        assertThat(status).isEqualTo(ComputeEndpoint.ACCEPTED);
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
    }

    @Test
    void shouldQueueAndWakeTheThreadWhenTheTurnIsNotToBeHad()
    {
        waker.announce();
        final int status = turn.submit(new Request(), (entering) -> ComputeEndpoint.FULL, this::enter);
        assertThat(status).isEqualTo(ComputeEndpoint.ACCEPTED);
        assertThat(transport.queue).hasSize(1);
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldGiveTheTurnBackWhenThereIsNoRoom()
    {
        turn.share();
        final int status = turn.submit(new Request(), (entering) -> ComputeEndpoint.FULL, this::enter);
        assertThat(status).isEqualTo(ComputeEndpoint.FULL);
        assertThat(turn.isTaken()).isFalse();
    }

    private int enter(final NodeRequest request)
    {
        request.queue();
        transport.queue.add(request);
        return ComputeEndpoint.ACCEPTED;
    }

    /** What never comes is not waited for here: the caller has its own deadline, and parks until then. */
    @Test
    void shouldEndItsTurnWhenNoAnswerComes()
    {
        turn.share();
        transport.pollsPerAnswer = Integer.MAX_VALUE;
        waker.announce();
        final long startNs = System.nanoTime();
        turn.workFor(enqueue());
        assertThat(System.nanoTime() - startNs).as("it ends at all").isLessThan(LONG_NS);
        assertThat(turn.isTaken()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldKeepAnInterruptForTheCallerAndFromTheTransport()
    {
        turn.share();
        Thread.currentThread().interrupt();
        final Request request = enqueue();
        turn.workFor(request);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(request.state()).isEqualTo(NodeRequest.DONE);
        assertThat(transport.sawInterrupt).isFalse();
    }

    @Test
    void shouldTellTheThreadThatADutyCycleFailed()
    {
        turn.share();
        transport.error = new IllegalStateException("broken");
        waker.announce();
        turn.workFor(enqueue());
        assertThat(turn.failure()).isSameAs(transport.error);
        assertThat(turn.isTaken()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
        transport.lastDriver = null;
        turn.workFor(enqueue());
        assertThat(transport.lastDriver).as("nobody drives it further").isNull();
    }

    @Test
    void shouldGiveAnErrorToTheCallerAndTellTheThread()
    {
        turn.share();
        transport.error = new StackOverflowError();
        waker.announce();
        assertThatThrownBy(() -> turn.workFor(enqueue())).isSameAs(transport.error);
        assertThat(turn.failure()).isSameAs(transport.error);
        assertThat(turn.isTaken()).isFalse();
        assertThat(turn.isMine()).isFalse();
        assertThat(waker.isAnnounced()).isFalse();
    }

    /** One that gives way is not scheduled again before all the others, with the turn in its hands. */
    @Test
    void shouldNeverBeTakenByAVirtualThread() throws InterruptedException
    {
        turn.share();
        waker.announce();
        Thread.ofVirtual().start(() -> turn.workFor(enqueue())).join();
        assertThat(transport.lastDriver).isNull();
        assertThat(waker.isAnnounced()).isFalse();
    }

    @Test
    void shouldBeLeftToTheThreadWhenItsDutyIsDue()
    {
        turn.share();
        transport.isDutyDue = true;
        waker.announce();
        final Request first = enqueue();
        turn.workFor(first);
        assertThat(first.state()).isEqualTo(NodeRequest.DONE);
        assertThat(waker.isAnnounced()).isFalse();

        transport.lastDriver = null;
        waker.announce();
        turn.workFor(enqueue());
        assertThat(transport.lastDriver).as("nobody before the thread").isNull();
        assertThat(waker.isAnnounced()).isFalse();

        assertThat(turn.tryTake()).isTrue();
        transport.doWork();
        turn.giveBack();
        turn.workFor(enqueue());
        assertThat(transport.lastDriver).isSameAs(Thread.currentThread());
    }

    /** The background thread sleeps for longer than anybody waits: one lost wake-up fails this. */
    @Test
    void shouldAnswerAllWhenCallersAndTheThreadPassTheTurnOn() throws InterruptedException
    {
        turn.share();
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
     * Two who meet as one's turn ends, and nobody after them who would do what they left: whatever the moment, all is
     * answered then, or the thread was woken.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLeaveNothingLyingWheneverATurnEnds(final boolean waits) throws InterruptedException
    {
        turn.share();
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
            turn.workFor(enqueue());
            meetings.await();
            lost += transport.isBusy() && waker.isAnnounced() ? 1 : 0;
            assertThat(turn.tryTake()).isTrue();
            while (transport.isBusy())
            {
                transport.poll();
            }
            turn.giveBack();
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
                turn.workFor(request);
            }
            else
            {
                turn.wake();
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
                turn.workFor(request);
            }
            else
            {
                turn.wake();
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
            if (!turn.tryTake())
            {
                waker.announce();
                waker.sleep(turn.isTaken() ? 2 * LONG_NS : 0);
                continue;
            }
            final boolean hasWorked = transport.doWork() > 0;
            waker.announce();
            final boolean rests = !hasWorked && !transport.isBusy();
            turn.giveBack();
            waker.sleep(rests && !turn.hasLeft() && !isEnding ? 2 * LONG_NS : 0);
        }
    }
}
