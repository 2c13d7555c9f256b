package io.verbena.compute;

import io.verbena.protocol.request.NodeRequest;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class RequestQueueTest
{
    private static final long FOR_EVER_NS = TimeUnit.HOURS.toNanos(1);

    private static final class Request extends NodeRequest
    {
        private final Thread submitter = Thread.currentThread();
        private final int number;

        Request(final int number)
        {
            this.number = number;
        }

        @Override
        protected void onDone()
        {
            LockSupport.unpark(submitter);
        }
    }

    @Test
    void shouldHandOverInOrder()
    {
        final RequestQueue queue = new RequestQueue(4);
        final Request first = new Request(1);
        final Request second = new Request(2);

        assertThat(queue.offer(first)).isEqualTo(RequestQueue.ACCEPTED);
        assertThat(queue.offer(second)).isEqualTo(RequestQueue.ACCEPTED);

        assertThat(queue.poll()).isSameAs(first);
        assertThat(queue.poll()).isSameAs(second);
        assertThat(queue.poll()).isNull();
    }

    @Test
    void shouldGiveRequestBackWhenFull()
    {
        final RequestQueue queue = new RequestQueue(2);
        queue.offer(new Request(1));
        queue.offer(new Request(2));
        final Request third = new Request(3);

        assertThat(queue.offer(third)).isEqualTo(RequestQueue.FULL);
        assertThat(third.state()).isEqualTo(NodeRequest.IDLE);

        queue.poll();
        assertThat(queue.offer(third)).isEqualTo(RequestQueue.ACCEPTED);
    }

    @Test
    void shouldRefuseWhenClosedAndTakeAgainWhenOpened()
    {
        final RequestQueue queue = new RequestQueue(2);
        final Request request = new Request(1);
        queue.close();

        assertThat(queue.offer(request)).isEqualTo(RequestQueue.CLOSED);
        assertThat(request.state()).isEqualTo(NodeRequest.IDLE);

        queue.open();
        assertThat(queue.offer(request)).isEqualTo(RequestQueue.ACCEPTED);
    }

    @Test
    void shouldNotStartWithdrawnRequest()
    {
        final RequestQueue queue = new RequestQueue(2);
        final Request request = new Request(1);
        queue.offer(request);

        assertThat(request.withdraw()).isTrue();

        assertThat(queue.poll().start()).isFalse();
    }

    @Test
    void shouldNotAnswerAbandonedRequest()
    {
        final RequestQueue queue = new RequestQueue(2);
        final Request request = new Request(1);
        queue.offer(request);
        queue.poll().start();

        assertThat(request.withdraw()).isFalse();
        assertThat(request.abandon()).isTrue();
        request.complete();

        assertThat(request.state()).isEqualTo(NodeRequest.ABANDONED);
    }

    @Test
    void shouldNotSleepWhenWokenBefore()
    {
        final RequestQueue queue = new RequestQueue(2);
        queue.sleep(0);
        queue.wake();

        queue.sleep(FOR_EVER_NS);
    }

    /** The node sleeps for an hour whenever its queue is empty: a single lost wake-up lets the test time out. */
    @Test
    void shouldLoseNoWakeUpWhenManySubmit() throws InterruptedException
    {
        final int submitters = 3;
        final int rounds = 20_000;
        final RequestQueue queue = new RequestQueue(8);
        final Thread node = startNode(queue, submitters * rounds);

        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < submitters; i++)
        {
            final Thread thread = new Thread(() -> submitAll(queue, rounds), "submitter-" + i);
            thread.start();
            threads.add(thread);
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        node.join();
    }

    /** Whatever a closing queue does with a request, exactly one side ends up with it. */
    @Test
    void shouldLoseNoRequestWhenClosedWhileManySubmit() throws InterruptedException
    {
        final int submitters = 3;
        final int rounds = 200;
        final AtomicInteger served = new AtomicInteger();
        final AtomicInteger refused = new AtomicInteger();

        for (int round = 0; round < rounds; round++)
        {
            closeUnderLoad(new RequestQueue(64), submitters, served, refused);
        }

        assertThat(served.get() + refused.get()).isEqualTo(rounds * submitters * 10);
    }

    private static void closeUnderLoad(
        final RequestQueue queue, final int submitters, final AtomicInteger served, final AtomicInteger refused)
        throws InterruptedException
    {
        final AtomicIntegerArray outcomes = new AtomicIntegerArray(submitters * 10);
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < submitters; i++)
        {
            final int base = i * 10;
            final Thread thread = new Thread(() -> submitTen(queue, base, outcomes), "submitter-" + i);
            thread.start();
            threads.add(thread);
        }
        final int before = ThreadLocalRandom.current().nextInt(20);
        for (int i = 0; i < before; i++)
        {
            serve(queue.poll(), outcomes);
            Thread.onSpinWait();
        }
        queue.close();
        for (final Thread thread : threads)
        {
            thread.join();
        }
        NodeRequest request;
        while (null != (request = queue.poll()))
        {
            serve(request, outcomes);
        }
        for (int i = 0; i < outcomes.length(); i++)
        {
            // 1: served, 2: refused; 3 would be both, 0 neither
            (1 == outcomes.get(i) ? served : refused).addAndGet(1 == outcomes.get(i) || 2 == outcomes.get(i) ? 1 : 0);
        }
    }

    private static void submitTen(final RequestQueue queue, final int base, final AtomicIntegerArray outcomes)
    {
        for (int i = 0; i < 10; i++)
        {
            if (RequestQueue.ACCEPTED != queue.offer(new Request(base + i)))
            {
                outcomes.addAndGet(base + i, 2);
            }
        }
    }

    private static void serve(final NodeRequest request, final AtomicIntegerArray outcomes)
    {
        if (null != request && request.start())
        {
            outcomes.addAndGet(((Request)request).number, 1);
        }
    }

    private static Thread startNode(final RequestQueue queue, final int requestCount)
    {
        final Thread node = new Thread(
            () ->
            {
                int served = 0;
                while (served < requestCount)
                {
                    final NodeRequest request = queue.poll();
                    if (null == request)
                    {
                        queue.sleep(FOR_EVER_NS);
                    }
                    else if (request.start())
                    {
                        served++;
                        request.complete();
                    }
                }
            },
            "node");
        node.start();
        return node;
    }

    private static void submitAll(final RequestQueue queue, final int rounds)
    {
        final Request request = new Request(0);
        for (int i = 0; i < rounds; i++)
        {
            while (RequestQueue.ACCEPTED != queue.offer(request))
            {
                Thread.yield();
            }
            while (NodeRequest.DONE != request.state())
            {
                LockSupport.parkNanos(FOR_EVER_NS);
            }
        }
    }
}
