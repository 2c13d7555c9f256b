package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two engines used by real threads: for each queue pair one that posts, for each side one that polls what it sent, one
 * that polls what it received and posts receives again, and one that registers memory and moves an own queue pair
 * about; one more drives both sides. Packets are lost. Everything is executed once and in order, and what completes
 * is in memory. Time is counted in turns of both engines: on a busy machine a thread that drives was seen to wait for
 * 0.2 s, more than the time-outs of all retries.
 */
@Timeout(120)
class DriverStressTest
{
    private static final int LOST_PER_THOUSAND = 10;
    private static final int QUEUE_PAIRS = 2;
    private static final int OPERATIONS = 8_000;
    private static final int DEPTH = 32;
    private static final int KINDS = 4;
    /** More than fit the queue, so that what completed can be looked at after its request was freed. */
    private static final int BUFFERS = 1024;
    private static final int BUFFER_BYTES = 64;
    private static final int IDLE_SPINS = 20;
    private static final int IDLE_YIELDS = 20;
    private static final long IDLE_PARK_NS = 50_000;
    private static final int RECEIVES = 64;
    private static final int TARGETS = 64;
    private static final int RECEIVES_AT = 4096;
    private static final int AREAS_AT = RECEIVES_AT + RECEIVES * BUFFER_BYTES;
    private static final int AREA_BYTES = (BUFFERS + TARGETS) * BUFFER_BYTES;

    /** One end of a connection: posts, and counts what has completed. */
    private static final class End
    {
        final Side side;
        final RoceQueuePair queuePair;
        final int index;
        /** Requests whose completion was looked at. */
        final AtomicLong checked = new AtomicLong();
        long received;
        End peer;

        End(final Side side, final int index)
        {
            this.side = side;
            this.index = index;
            queuePair = side.node.domain.createQueuePair(new QueuePairOptions().type(QueuePairType.RC)
                .completions(side.sendCompletions, side.receiveCompletions)
                .capabilities(new QueuePairCapabilities(DEPTH, 1, 64, 0)).sharedReceiveQueue(side.receives));
        }

        int bufferOffset(final long operation)
        {
            return AREAS_AT + index * AREA_BYTES + (int)(operation % BUFFERS) * BUFFER_BYTES;
        }

        int targetOffset(final long operation)
        {
            return AREAS_AT + index * AREA_BYTES + (int)(BUFFERS + operation / KINDS % TARGETS) * BUFFER_BYTES;
        }

        void postAll()
        {
            final IdleStrategy idle = idle();
            for (long operation = 0; operation < OPERATIONS; operation++)
            {
                while (queuePair.sendQueueSpace() == 0 || operation - checked.get() >= BUFFERS / 2)
                {
                    side.checkRunning();
                    idle.idle();
                }
                idle.reset();
                post(operation);
            }
        }

        private void post(final long operation)
        {
            final ThreadedNode node = side.node;
            final ThreadedNode target = peer.side.node;
            final long local = node.region.address() + bufferOffset(operation);
            final int key = node.region.localKey();
            final int remoteKey = target.region.remoteKey();
            final int kind = (int)(operation % KINDS);
            if (kind == 0 || kind == 3)
            {
                fill(node, bufferOffset(operation), operation);
            }
            queuePair.begin();
            switch (kind)
            {
                case 0 -> queuePair.write(operation, SIGNALED, local, BUFFER_BYTES, key,
                    target.region.address() + targetOffset(operation), remoteKey);
                case 1 -> queuePair.read(operation, SIGNALED, local, BUFFER_BYTES, key,
                    target.region.address() + targetOffset(operation), remoteKey);
                case 2 -> queuePair.fetchAdd(operation, SIGNALED, local, key,
                    target.region.address() + (long)index * Long.BYTES, remoteKey, 1);
                default -> queuePair.send(operation, SIGNALED, local, BUFFER_BYTES, key);
            }
            assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
        }

        void onSent(final long operation, final int status)
        {
            assertThat(status).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(operation).isEqualTo(checked.get());
            final int kind = (int)(operation % KINDS);
            if (kind == 1)
            {
                assertFilled(side.node, bufferOffset(operation), operation - 1);
            }
            else if (kind == 2)
            {
                assertThat(side.node.region.segment().get(ValueLayout.JAVA_LONG, bufferOffset(operation)))
                    .isEqualTo(operation / KINDS);
            }
            checked.set(operation + 1);
        }

        void onReceived(final int offset)
        {
            assertFilled(side.node, offset, received * KINDS + 3);
            received++;
        }
    }

    /** A node and the threads that use it. */
    private final class Side
    {
        final ThreadedNode node;
        final RoceCompletionQueue sendCompletions;
        final RoceCompletionQueue receiveCompletions;
        final RoceSharedReceiveQueue receives;
        final List<End> ends = new ArrayList<>();
        long receivedCount;
        long controlCount;

        Side(final int nodeIndex)
        {
            node = new ThreadedNode(clock, nodeIndex, AREAS_AT + QUEUE_PAIRS * AREA_BYTES, LOST_PER_THOUSAND);
            sendCompletions = node.engine.createCompletionQueue(QUEUE_PAIRS * DEPTH, null);
            receiveCompletions = node.engine.createCompletionQueue(RECEIVES, null);
            receives = node.domain.createSharedReceiveQueue(RECEIVES);
            for (int i = 0; i < QUEUE_PAIRS; i++)
            {
                ends.add(new End(this, i));
            }
            for (int i = 0; i < RECEIVES; i++)
            {
                postReceive(RECEIVES_AT + i * BUFFER_BYTES);
            }
        }

        private void postReceive(final int offset)
        {
            assertThat(receives.postReceive(
                offset, node.region.address() + offset, BUFFER_BYTES, node.region.localKey())).isZero();
        }

        void checkRunning()
        {
            if (failure.get() != null)
            {
                throw new IllegalStateException("another thread failed");
            }
        }

        void pollSent()
        {
            final WorkCompletions batch = new WorkCompletions(7);
            final IdleStrategy idle = idle();
            for (long left = (long)QUEUE_PAIRS * OPERATIONS; left > 0;)
            {
                checkRunning();
                final int count = sendCompletions.poll(batch);
                for (int i = 0; i < count; i++)
                {
                    end(batch.queuePairNumber(i)).onSent(batch.wrId(i), batch.status(i));
                }
                left -= count;
                idle.idle(count);
            }
        }

        void pollReceived()
        {
            final WorkCompletions batch = new WorkCompletions(5);
            final IdleStrategy idle = idle();
            while (receivedCount < (long)QUEUE_PAIRS * OPERATIONS / KINDS)
            {
                checkRunning();
                final int count = receiveCompletions.poll(batch);
                for (int i = 0; i < count; i++)
                {
                    assertThat(batch.status(i)).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(batch.opcode(i)).isEqualTo(WorkCompletionOpcode.RECV);
                    end(batch.queuePairNumber(i)).onReceived((int)batch.wrId(i));
                    postReceive((int)batch.wrId(i));
                }
                receivedCount += count;
                idle.idle(count);
            }
        }

        /** Control verbs beside everything else. */
        void control()
        {
            final RoceCompletionQueue own = node.engine.createCompletionQueue(4, null);
            while (receivedCount < (long)QUEUE_PAIRS * OPERATIONS / KINDS && failure.get() == null)
            {
                final MemoryRegion region = node.domain.allocateRegistered(4096, AccessFlags.ALL_REMOTE);
                final RoceQueuePair queuePair = node.domain.createQueuePair(new QueuePairOptions()
                    .completions(own, own).capabilities(EngineNode.CAPABILITIES));
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                    .accessFlags(0));
                queuePair.postReceive(1, region.address(), 8, region.localKey());
                queuePair.moveToError();
                queuePair.close();
                node.domain.allocateMemoryWindow().close();
                region.close();
                controlCount++;
                Thread.yield();
            }
            own.close();
        }

        private End end(final int number)
        {
            for (final End end : ends)
            {
                if (end.queuePair.number() == number)
                {
                    return end;
                }
            }
            throw new AssertionError("no queue pair of this side: " + number);
        }
    }

    private final DrivenClock clock = new DrivenClock();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();

    /** Lets go of the processor soon: the threads are more than the processors, and one of them has what to do. */
    private static IdleStrategy idle()
    {
        return new BackoffIdleStrategy(IDLE_SPINS, IDLE_YIELDS, 1, IDLE_PARK_NS);
    }

    private void start(final String name, final Runnable body)
    {
        final Thread thread = new Thread(() ->
        {
            try
            {
                body.run();
            }
            catch (final Throwable ex)
            {
                failure.compareAndSet(null, ex);
            }
        }, name);
        thread.setDaemon(true);
        threads.add(thread);
    }

    @Test
    void shouldExecuteEverythingOnceWhenManyThreadsUseTheEngine() throws InterruptedException
    {
        final Side a = new Side(0);
        final Side b = new Side(1);
        ThreadedNode.join(a.node, b.node);
        for (int i = 0; i < QUEUE_PAIRS; i++)
        {
            connect(a, b, i);
            connect(b, a, i);
        }
        for (final Side side : List.of(a, b))
        {
            start("sent", side::pollSent);
            start("received", side::pollReceived);
            start("control", side::control);
            side.ends.forEach((end) -> start("poster", end::postAll));
        }
        threads.forEach(Thread::start);
        while (threads.stream().anyMatch(Thread::isAlive) && failure.get() == null)
        {
            a.node.drive();
            b.node.drive();
            Thread.yield();
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(failure.get()).isNull();
        for (final Side side : List.of(a, b))
        {
            assertThat(side.controlCount).isPositive();
            for (int i = 0; i < QUEUE_PAIRS; i++)
            {
                assertThat(side.node.region.segment().get(ValueLayout.JAVA_LONG, (long)i * Long.BYTES))
                    .isEqualTo(OPERATIONS / KINDS);
                assertThat(side.ends.get(i).queuePair.sendQueueSpace()).isEqualTo(DEPTH);
            }
        }
        assertThat(a.node.engine.counters().resent).isPositive();
    }

    private static void connect(final Side side, final Side peer, final int index)
    {
        final End end = side.ends.get(index);
        end.peer = peer.ends.get(index);
        final ConnectOptions options = ConnectOptions.DEFAULT;
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
            .accessFlags(AccessFlags.ALL_REMOTE));
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(peer.node.address)
            .pathMtuBytes(256).destinationNumber(end.peer.queuePair.number()).rqPsn(options.firstSequence())
            .maxDestinationReadAtomic(4).minRnrTimer(1));
        // 4 ms, some 400 turns of both engines, then twice that and so on.
        end.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(options.firstSequence())
            .timeout(10).retryCount(7).rnrRetry(7).maxReadAtomic(4));
    }

    private static void fill(final ThreadedNode node, final int offset, final long operation)
    {
        for (int i = 0; i < BUFFER_BYTES; i += Long.BYTES)
        {
            node.region.segment().set(ValueLayout.JAVA_LONG, offset + i, pattern(operation, i));
        }
    }

    private static void assertFilled(final ThreadedNode node, final int offset, final long operation)
    {
        for (int i = 0; i < BUFFER_BYTES; i += Long.BYTES)
        {
            assertThat(node.region.segment().get(ValueLayout.JAVA_LONG, offset + i))
                .isEqualTo(pattern(operation, i));
        }
    }

    private static long pattern(final long operation, final int at)
    {
        return (operation + 1) * 0x9E37_79B9_7F4A_7C15L + at;
    }

    /**
     * The end of driving and a post of another thread meet in the worst moment: the poster has found that somebody
     * drives, and the driver has found nothing more to do. Nobody else drives.
     */
    @Test
    void shouldSendWhatWasPostedWhileDrivingEnded() throws InterruptedException
    {
        final Side a = new Side(0);
        final Side b = new Side(1);
        ThreadedNode.join(a.node, b.node);
        connect(a, b, 0);
        connect(b, a, 0);
        final Thread poster = new Thread(() -> a.ends.get(0).post(0));
        a.node.atEndOfDriving = () ->
        {
            if (poster.getState() == Thread.State.NEW)
            {
                poster.start();
                joinUninterrupted(poster);
            }
        };
        a.node.drive();
        assertThat(a.node.engine.counters().sent).isEqualTo(1);
        assertThat(a.node.engine.hasPosted()).isFalse();
        assertThat(a.node.drivenCount).isGreaterThanOrEqualTo(2);
    }

    /** The same with a control verb in the place of driving. */
    @Test
    void shouldSendWhatWasPostedDuringControlVerb() throws InterruptedException
    {
        final Side a = new Side(0);
        final Side b = new Side(1);
        ThreadedNode.join(a.node, b.node);
        connect(a, b, 0);
        connect(b, a, 0);
        a.node.enter();
        final Thread poster = new Thread(() -> a.ends.get(0).post(0));
        poster.start();
        poster.join();
        assertThat(a.node.engine.counters().sent).isZero();
        a.node.exit();
        assertThat(a.node.engine.counters().sent).isEqualTo(1);
    }

    private static void joinUninterrupted(final Thread thread)
    {
        try
        {
            thread.join();
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
    }
}
