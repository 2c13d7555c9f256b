package io.verbena.client;

import io.verbena.request.NodeRequest;
import io.verbena.request.remote.TransportTurn;
import io.verbena.request.remote.Waker;

import org.agrona.concurrent.SystemNanoClock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
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

    /** Answers each request some polls after it was taken out of the queue; notices two owners at once. */
    private final class CountingNodes implements DrivenNodes
    {
        final ConcurrentLinkedQueue<NodeRequest> queue = new ConcurrentLinkedQueue<>();
        final AtomicInteger owners = new AtomicInteger();
        final AtomicInteger clashes = new AtomicInteger();
        final TransportTurn turn = new TransportTurn(this, waker, SystemNanoClock.INSTANCE);
        volatile RuntimeException error;
        volatile Throwable toldFailure;
        volatile boolean isClosed;
        private NodeRequest current;
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
            int work = 0;
            if (null == current && null != (current = queue.poll()))
            {
                current.start();
                pollsLeft = 3;
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
            return null != current || !queue.isEmpty();
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
        public TransportTurn turn()
        {
            return turn;
        }

        @Override
        public long idleNs()
        {
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

    private final Waker waker = new Waker();
    private final CountingNodes nodes = new CountingNodes();
    private final RemoteNodesThread thread = new RemoteNodesThread(nodes, waker, SystemNanoClock.INSTANCE, "driver",
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
    void shouldAnswerAllWhenCallersAndTheThreadPassTheTurnOn() throws InterruptedException
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

    private void call(final boolean waits, final AtomicInteger answered)
    {
        for (int i = 0; i < ROUNDS; i++)
        {
            final Request request = enqueue(new Request());
            if (waits)
            {
                nodes.turn.workFor(request);
            }
            else
            {
                nodes.turn.wake();
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
        nodes.turn.workFor(enqueue(new Request()));
        thread.close(LONG_NS);
        assertThat(thread.failure()).isNotNull();
        assertThat(nodes.toldFailure).isNotNull();
        assertThat(nodes.toldFailure.toString()).contains("broken");
    }

    /** What depends on an answer may close the client: the thread that received it has the turn then. */
    @Test
    void shouldNotWaitWhenClosedByWhoHasTheTurn()
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
        nodes.turn.workFor(request);
        assertThat(((Request)request).await()).isTrue();
        assertThat(tookNs[0]).isLessThan(LONG_NS / 4);
    }
}
