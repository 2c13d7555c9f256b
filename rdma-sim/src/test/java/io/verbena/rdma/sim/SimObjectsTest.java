package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletions;

import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Shared receive queues, memory windows, completion channels and events under delays, reorders and pauses. */
class SimObjectsTest
{
    private static final int SEEDS = 60;

    private static Runnable send(final SimPair pair, final QueuePair from, final long wrId, final int flags)
    {
        return () -> from.send(wrId, SendFlags.SIGNALED | flags, pair.a.at(0), 8, pair.a.key());
    }

    @Test
    void shouldHaveEveryCapability()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            for (final DeviceCapability capability : DeviceCapability.values())
            {
                assertThat(pair.a.device.attributes().supports(capability)).isTrue();
            }
            assertThat(pair.a.device.port().pathMtuBytes()).isEqualTo(4096);
        }
    }

    @Test
    void shouldShareReceivesTellLimitOnceAndLastOne()
    {
        for (int seed = 0; seed < SEEDS; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions()))
            {
                final SharedReceiveQueue shared = pair.b.domain.createSharedReceiveQueue(8);
                final QueuePair[] from = new QueuePair[2];
                final QueuePair[] to = new QueuePair[2];
                for (int i = 0; i < 2; i++)
                {
                    from[i] = pair.a.queuePair(QueuePairType.RC, null);
                    to[i] = pair.b.queuePair(QueuePairType.RC, shared);
                    SimPair.raise(from[i], pair.b, to[i].number());
                    SimPair.raise(to[i], pair.a, from[i].number());
                }
                assertThatThrownBy(() -> to[0].postReceive(1, 0, 0, 0)).isInstanceOf(RdmaException.class);
                for (int i = 0; i < 5; i++)
                {
                    shared.postReceive(i, pair.b.at(i * 8L), 8, pair.b.key());
                }
                shared.armLimit(4);
                SimPair.post(from[0], send(pair, from[0], 1, 0), send(pair, from[0], 2, 0));
                SimPair.post(from[1], send(pair, from[1], 3, 0));
                pair.drain();
                final List<SimPair.Done> done = pair.b.poll();
                assertThat(done).extracting(SimPair.Done::wrId).containsExactly(0L, 1L, 2L);
                assertThat(done).extracting(SimPair.Done::queuePair)
                    .containsExactlyInAnyOrder(to[0].number(), to[0].number(), to[1].number());
                assertThat(pair.b.events()).containsExactly(AsyncEventType.SRQ_LIMIT_REACHED);
                assertThat(shared.armedLimit()).isZero();
                to[0].moveToError();
                assertThat(pair.b.events()).containsExactly(AsyncEventType.QP_LAST_WQE_REACHED);
                assertThat(pair.b.poll()).as("receives of the shared queue are not flushed").isEmpty();
                SimPair.post(from[1], send(pair, from[1], 4, 0));
                pair.drain();
                assertThat(pair.b.poll()).extracting(SimPair.Done::wrId).containsExactly(3L);
                assertThatThrownBy(shared::close).isInstanceOf(RdmaException.class);
            }
        }
    }

    private static final class Window
    {
        private final MemoryWindow window;
        private final QueuePair owner;
        private final SimPair pair;

        private Window(final SimPair pair, final QueuePair owner)
        {
            this.pair = pair;
            this.owner = owner;
            window = pair.b.domain.allocateMemoryWindow();
        }

        private int bind(final long offset, final long bytes, final int rights)
        {
            final int key = window.nextRemoteKey();
            SimPair.post(owner, () -> owner.bindMemoryWindow(
                100, SendFlags.SIGNALED, window, key, pair.b.region, pair.b.at(offset), bytes, rights));
            return key;
        }
    }

    @Test
    void shouldLandNothingThroughWindowOnceItsInvalidationHasCompleted()
    {
        final Set<String> seen = new HashSet<>();
        for (int seed = 0; seed < SEEDS * 2; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions()))
            {
                final QueuePair[] ends = pair.connected(QueuePairType.RC);
                final Window window = new Window(pair, ends[1]);
                final int key = window.bind(0, 512, AccessFlags.REMOTE_WRITE);
                pair.drain();
                assertThat(pair.b.statuses()).containsExactly("100 success");
                pair.a.region.segment().fill((byte)1);
                SimPair.post(ends[0], () -> ends[0].write(
                    1, SendFlags.SIGNALED, pair.a.at(0), 512, pair.a.key(), pair.b.at(0), key));
                for (int i = 0; i < seed % 12; i++)
                {
                    pair.fabric.step();
                }
                SimPair.post(ends[1], () -> ends[1].localInvalidate(101, SendFlags.SIGNALED, key));
                List<String> done = pair.b.statuses();
                while (done.isEmpty())
                {
                    pair.fabric.step();
                    done = pair.b.statuses();
                }
                assertThat(done).containsExactly("101 success");
                pair.b.region.segment().fill((byte)0);
                pair.drain();
                assertThat(pair.b.region.segment().mismatch(
                    MemorySegment.ofArray(new byte[1 << 16]))).isEqualTo(-1);
                seen.addAll(pair.a.statuses());
            }
        }
        assertThat(seen).containsExactlyInAnyOrder("1 success", "1 remote access error");
    }

    @Test
    void shouldAllowAccessThroughBoundWindowOfThatQueuePairOnly()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.RC);
            final QueuePair[] others = pair.connected(QueuePairType.RC);
            final Window window = new Window(pair, ends[1]);
            final int key = window.bind(64, 64, AccessFlags.REMOTE_READ | AccessFlags.ZERO_BASED);
            pair.drain();
            pair.b.word(64 + 8, 9);
            SimPair.post(ends[0], () -> ends[0].read(
                1, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), 8, key));
            SimPair.post(others[0], () -> others[0].read(
                2, SendFlags.SIGNALED, pair.a.at(8), 8, pair.a.key(), 8, key));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactlyInAnyOrder("1 success", "2 remote access error");
            assertThat(pair.a.word(0)).isEqualTo(9);
            assertThat(pair.b.events()).contains(AsyncEventType.QP_ACCESS_ERR);
            assertThatThrownBy(pair.b.region::close).isInstanceOf(RdmaException.class);
            pair.b.poll();
            assertThat(window.bind(64, 64, 0)).isNotZero();
            pair.drain();
            assertThat(pair.b.statuses()).as("bound already").containsExactly("100 memory window bind error");
            assertThat(ends[1].state()).isEqualTo(QueuePairState.ERR);
        }
    }

    @Test
    void shouldTakeWindowBackBySendWithInvalidateOnce()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.RC);
            final int key = new Window(pair, ends[1]).bind(0, 64, AccessFlags.REMOTE_WRITE);
            pair.drain();
            pair.b.poll();
            ends[1].postReceive(1, pair.b.at(1024), 8, pair.b.key());
            ends[1].postReceive(2, pair.b.at(1024), 8, pair.b.key());
            final Runnable invalidate = () -> ends[0].sendWithInvalidate(
                5, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), key);
            SimPair.post(ends[0], invalidate);
            pair.drain();
            final SimPair.Done done = pair.b.poll().get(0);
            assertThat(done.flags()).isEqualTo(WorkCompletions.WITH_INVALIDATION);
            assertThat(done.extra()).isEqualTo(key);
            SimPair.post(ends[0], invalidate);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("5 success", "5 remote access error");
            assertThat(pair.b.statuses()).containsExactly("2 local access error");
        }
    }

    @Test
    void shouldFailLocalInvalidationOfUnboundKey()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.RC);
            SimPair.post(ends[1], () -> ends[1].localInvalidate(1, 0, 0x8001_0100));
            pair.drain();
            assertThat(pair.b.statuses()).containsExactly("1 local QP operation error");
        }
    }

    @Test
    void shouldMoveVirtualTimeWhileATestWaitsForNotifications()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final CompletionChannel channel = pair.b.device.createCompletionChannel();
            final CompletionQueue queue = pair.b.device.createCompletionQueue(16, channel);
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            final QueuePair right = pair.b.domain.createQueuePair(new QueuePairOptions()
                .completions(queue, queue).capabilities(new QueuePairCapabilities(8, 8, 0, 1)));
            SimPair.raise(left, pair.b, right.number());
            SimPair.raise(right, pair.a, left.number());
            right.postReceive(1, pair.b.at(0), 8, pair.b.key());
            right.postReceive(2, pair.b.at(8), 8, pair.b.key());
            final long startNs = pair.fabric.clock().nanoTime();
            assertThat(channel.await(1_000)).isNull();
            assertThat(pair.fabric.clock().nanoTime()).isEqualTo(startNs + 1_000);
            queue.requestNotification(true);
            SimPair.post(left, send(pair, left, 1, 0), send(pair, left, 2, SendFlags.SOLICITED));
            assertThat(channel.await(1_000_000_000)).isSameAs(queue);
            assertThat(queue.poll(new WorkCompletions(8))).isEqualTo(2);
            assertThat(channel.await(0)).as("one-shot").isNull();
            queue.requestNotification(true);
            right.moveToError();
            right.postReceive(3, 0, 0, 0);
            assertThat(channel.await(0)).as("errors wake too").isSameAs(queue);
            assertThatThrownBy(channel::close).isInstanceOf(RdmaException.class);
            assertThatThrownBy(() -> pair.a.completions.requestNotification(false)).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void shouldNeverBlockAgentThatAwaits()
    {
        final List<Long> first = new ArrayList<>();
        for (int run = 0; run < 2; run++)
        {
            final List<Long> wakeUps = new ArrayList<>();
            try (SimWorld world = new SimWorld(7, new SimFabricOptions()))
            {
                final CompletionChannel channel = world.addNode("n").device().createCompletionChannel();
                world.nodes().get(0).addAgent(new Agent()
                {
                    @Override
                    public int doWork()
                    {
                        assertThat(channel.await(Long.MAX_VALUE)).isNull();
                        wakeUps.add(world.clock().nanoTime());
                        return 0;
                    }

                    @Override
                    public String roleName()
                    {
                        return "waiter";
                    }
                });
                world.runFor(100_000);
            }
            assertThat(wakeUps).hasSizeGreaterThan(5);
            assertThat(first.isEmpty() || first.equals(wakeUps)).isTrue();
            first.addAll(run == 0 ? wakeUps : List.of());
        }
    }

    @Test
    void shouldTellOverrunAsEventOfQueueAndQueuePair()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final CompletionQueue small = pair.a.device.createCompletionQueue(1);
            final QueuePair queuePair = pair.a.domain.createQueuePair(new QueuePairOptions()
                .completions(small, small).capabilities(new QueuePairCapabilities(8, 8, 0, 1)));
            SimPair.raise(queuePair, pair.b, 5);
            queuePair.postReceive(1, 0, 0, 0);
            queuePair.postReceive(2, 0, 0, 0);
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            assertThat(pair.a.events()).containsExactly(AsyncEventType.CQ_ERR, AsyncEventType.QP_FATAL);
        }
    }
}
