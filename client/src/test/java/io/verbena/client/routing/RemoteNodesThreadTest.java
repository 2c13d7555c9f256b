package io.verbena.client.routing;

import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.Waker;
import io.verbena.test.Meetings;

import org.agrona.concurrent.SystemNanoClock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/** The background thread as it is, with pauses longer than anybody waits: one lost wake-up fails this. */
@Timeout(120)
class RemoteNodesThreadTest
{
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int ROUNDS = 10_000;
    private static final int MEETINGS = 2_000;

    /** Answers each request some polls after it was taken out of the queue; notices two owners at once. */
    private final class CountingNodes implements DrivenNodes
    {
        final ConcurrentLinkedQueue<NodeRequest> queue = new ConcurrentLinkedQueue<>();
        final AtomicInteger owners = new AtomicInteger();
        final AtomicInteger clashes = new AtomicInteger();
        final DutyLock dutyLock = new DutyLock(
            this, waker::wake, SystemNanoClock.INSTANCE, DutyLock.Patience.ANOTHER_HOST_ANSWERS);
        final Semaphore ends = new Semaphore(0);
        final AtomicInteger waits = new AtomicInteger();
        volatile boolean canWait;
        volatile RuntimeException error;
        volatile Throwable toldFailure;
        volatile boolean isClosed;
        private NodeRequest current;
        volatile int pollsPerAnswer = 3;
        volatile long pollNs;
        volatile int polls;
        volatile boolean answersNow;
        private int pollsLeft;
        private int cycles;

        @Override
        public int doWork()
        {
            cycles = 0;
            return serve();
        }

        @Override
        public int serve()
        {
            cycles++;
            if (null != error)
            {
                throw error;
            }
            return poll();
        }

        @Override
        public int poll()
        {
            clashes.addAndGet(owners.incrementAndGet() > 1 ? 1 : 0);
            if (pollNs > 0)
            {
                polls++;
                LockSupport.parkNanos(pollNs);
            }
            int work = 0;
            if (null == current && null != (current = queue.poll()))
            {
                current.start();
                pollsLeft = pollsPerAnswer;
                work = 1;
            }
            else if (null != current && (answersNow || 0 == --pollsLeft))
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
            return null != current || !queue.isEmpty();
        }

        @Override
        public boolean canWait()
        {
            return canWait;
        }

        /** A wait that nothing ends is too long for every test. */
        @Override
        public void await(final long timeoutNs)
        {
            if (!canWait)
            {
                Thread.yield();
                return;
            }
            waits.incrementAndGet();
            try
            {
                if (null == current || pollsPerAnswer == Integer.MAX_VALUE)
                {
                    ends.tryAcquire(2 * LONG_NS, TimeUnit.NANOSECONDS);
                }
                pollsLeft = 1; // a packet
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

        /** Now and then, for turns that are reserved. */
        @Override
        public boolean isDutyDue()
        {
            return cycles > 500;
        }

        @Override
        public boolean isSettling()
        {
            return false;
        }

        @Override
        public DutyLock dutyLock()
        {
            return dutyLock;
        }

        @Override
        public long idleNs()
        {
            isAboutToRest = true;
            return 2 * LONG_NS;
        }

        @Override
        public void onFailure(final Throwable failure)
        {
            toldFailure = failure;
        }

        @Override
        public void onClose()
        {
            isClosed = true;
        }
    }

    private static class Request extends NodeRequest
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

    private volatile boolean mayDawdle;
    private volatile boolean isLost;
    /** Done by the driver between its look at the queues and releasing the lock, once. */
    private volatile Runnable beforeRest;
    private volatile boolean isAboutToRest;
    private final Waker waker = new Waker();
    private final CountingNodes nodes = new CountingNodes();
    private final RemoteNodesThread thread = new RemoteNodesThread(nodes, waker, this::nanoTime, "driver",
        new RemoteNodesThread.Pauses(2 * LONG_NS, 2 * LONG_NS, 2 * LONG_NS), () -> {});

    @AfterEach
    void tearDown()
    {
        thread.close(LONG_NS);
        assertThat(nodes.isClosed).isTrue();
    }

    private <T extends NodeRequest> T enqueue(final T request)
    {
        request.queue();
        nodes.queue.add(request);
        return request;
    }

    @Test
    void shouldAnswerAllWhenCallersAndTheThreadPassTheLockOn() throws InterruptedException
    {
        thread.start();
        final AtomicInteger answered = new AtomicInteger();
        final List<Thread> callers = new ArrayList<>();
        for (int c = 0; c < 6; c++)
        {
            final boolean waits = c < 4;
            callers.add((3 == c ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> call(waits, answered)));
        }
        for (final Thread caller : callers)
        {
            caller.join();
        }
        assertThat(answered.get()).isEqualTo(6 * ROUNDS);
        assertThat(nodes.clashes.get()).isZero();
    }

    /**
     * A few requests at a time, and nobody after them who would answer what was left: whatever the moment,
     * each is answered. The clock takes its time at the steps at which a wake-up could be lost.
     */
    @Test
    void shouldAnswerEachBeforeAnyOtherComes() throws InterruptedException
    {
        mayDawdle = true;
        thread.start();
        final AtomicInteger answered = new AtomicInteger();
        final Meetings meetings = new Meetings(3);
        final List<Thread> callers = new ArrayList<>();
        for (int c = 0; c < 3; c++)
        {
            final boolean waits = 0 == c;
            callers.add(Thread.ofPlatform().start(() -> meet(meetings, waits, answered)));
        }
        for (final Thread caller : callers)
        {
            caller.join();
        }
        assertThat(isLost).isFalse();
        assertThat(answered.get()).isEqualTo(3 * MEETINGS);
        assertThat(nodes.clashes.get()).isZero();
    }

    /** The same where they wait for packets. */
    @Test
    void shouldAnswerEachWhereItWaitsForPackets() throws InterruptedException
    {
        nodes.canWait = true;
        nodes.pollsPerAnswer = 40;
        shouldAnswerEachBeforeAnyOtherComes();
        assertThat(nodes.waits.get()).isPositive();
    }

    /** Answers that take long are waited for asleep: whoever is to answer may need this processor. */
    @Test
    void shouldNotGiveWayForLongInsteadOfSleeping() throws InterruptedException
    {
        nodes.pollsPerAnswer = Integer.MAX_VALUE;
        nodes.pollNs = 50_000;
        thread.start();
        final Request request = enqueue(new Request());
        nodes.dutyLock.wake();
        final long beganNs = System.nanoTime();
        do
        {
            Thread.sleep(300);
        }
        while (nodes.polls < 10 && System.nanoTime() - beganNs < LONG_NS);
        final long tookNs = System.nanoTime() - beganNs;
        assertThat((long)nodes.polls).as("%d ns: of one in 50 us that it may take where they sleep not", tookNs)
            .isBetween(10L, tookNs / TimeUnit.MICROSECONDS.toNanos(1_500));
        nodes.answersNow = true;
        nodes.dutyLock.wake();
        assertThat(request.await()).isTrue();
    }

    /** The thread holds the lock while it waits for an answer that does not come; another request goes out at once. */
    @Test
    void shouldEndItsWaitForAnotherRequest() throws InterruptedException
    {
        nodes.canWait = true;
        nodes.pollsPerAnswer = Integer.MAX_VALUE;
        thread.start();
        final Request first = enqueue(new Request());
        nodes.dutyLock.wake();
        final long deadlineNs = System.nanoTime() + LONG_NS;
        while (0 == nodes.waits.get() && deadlineNs - System.nanoTime() > 0)
        {
            LockSupport.parkNanos(100_000);
        }
        assertThat(first.state()).isNotEqualTo(NodeRequest.DONE);
        final Request second = new Request();
        final Thread caller = Thread.ofPlatform().start(() -> nodes.dutyLock.workFor(enqueue(second)));
        assertThat(first.await()).isTrue();
        while (NodeRequest.DONE != second.state() && deadlineNs - System.nanoTime() > 0)
        {
            nodes.dutyLock.wake();
            LockSupport.parkNanos(1_000_000);
        }
        caller.join();
        assertThat(second.state()).isEqualTo(NodeRequest.DONE);
    }

    private void meet(final Meetings meetings, final boolean waits, final AtomicInteger answered)
    {
        for (int i = 0; i < MEETINGS; i++)
        {
            meetings.await();
            if (isLost)
            {
                return;
            }
            Meetings.dawdle(200);
            final Request request = enqueue(new Request());
            if (waits)
            {
                nodes.dutyLock.workFor(request);
            }
            else
            {
                nodes.dutyLock.wake();
            }
            final boolean isAnswered = request.await();
            isLost |= !isAnswered;
            answered.addAndGet(isAnswered ? 1 : 0);
            meetings.await();
        }
    }

    /** Left after the thread's last look at the queues, while it still holds the lock: only the mark tells of it. */
    @Test
    void shouldNotSleepOverWhatWasLeftAfterItsLastLook()
    {
        final Request request = new Request();
        beforeRest = () -> CompletableFuture.runAsync(() ->
        {
            enqueue(request);
            nodes.dutyLock.wake();
        }, (task) -> new Thread(task).start()).join();
        thread.start();
        assertThat(request.await()).isTrue();
    }

    /** An answer that takes long is looked for in naps, not in the sleep of who has nothing to wait for. */
    @Test
    void shouldOnlyNapWhileAnAnswerIsAwaited()
    {
        nodes.pollsPerAnswer = 3_000;
        final RemoteNodesThread napping = new RemoteNodesThread(nodes, waker, this::nanoTime, "napping",
            new RemoteNodesThread.Pauses(1_000, 2 * LONG_NS, 2 * LONG_NS), () -> {});
        napping.start();
        final Request request = enqueue(new Request());
        nodes.dutyLock.wake();
        assertThat(request.await()).isTrue();
        napping.close(LONG_NS);
    }

    private long nanoTime()
    {
        final Runnable now = beforeRest;
        if (isAboutToRest && null != now)
        {
            beforeRest = null;
            now.run();
        }
        isAboutToRest = false;
        if (mayDawdle)
        {
            Meetings.dawdle(8);
        }
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    private void call(final boolean waits, final AtomicInteger answered)
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final Request request = enqueue(new Request());
            if (waits)
            {
                nodes.dutyLock.workFor(request);
            }
            else
            {
                nodes.dutyLock.wake();
            }
            if (!request.await())
            {
                return;
            }
            answered.incrementAndGet();
        }
    }

    @Test
    void shouldEndAndSayWhyWhenACallersCycleFails()
    {
        thread.start();
        nodes.error = new IllegalStateException("broken");
        nodes.dutyLock.workFor(enqueue(new Request()));
        thread.close(LONG_NS);
        assertThat(thread.failure()).isNotNull();
        assertThat(nodes.toldFailure).isNotNull();
        assertThat(nodes.toldFailure.toString()).contains("broken");
    }

    /** What depends on an answer may close the client: the thread that received it holds the lock then. */
    @Test
    void shouldNotWaitWhenClosedByTheHolder()
    {
        thread.start();
        final long[] tookNs = {Long.MAX_VALUE};
        final NodeRequest request = enqueue(new Request()
        {
            @Override
            protected void onDone()
            {
                final long startNs = System.nanoTime();
                thread.close(LONG_NS);
                tookNs[0] = System.nanoTime() - startNs;
                super.onDone();
            }
        });
        nodes.dutyLock.workFor(request);
        assertThat(((Request)request).await()).isTrue();
        assertThat(tookNs[0]).isLessThan(LONG_NS / 4);
    }
}
