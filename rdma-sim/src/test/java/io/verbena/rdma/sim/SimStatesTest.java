package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Queue pairs brought up, drained, failed and reset by hand; timers by their codes. */
class SimStatesTest
{
    private static Runnable write(final SimPair pair, final QueuePair from, final long wrId, final long offset)
    {
        return () -> from.write(
            wrId, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(offset), pair.b.key());
    }

    private static Runnable send(final SimPair pair, final QueuePair from, final long wrId)
    {
        return () -> from.send(wrId, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key());
    }

    @Test
    void shouldChangeNothingWhenAnAttributeIsWrong()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair queuePair = pair.a.queuePair(QueuePairType.RC, null);
            queuePair.modify(SimPair.init(QueuePairType.RC, AccessFlags.REMOTE_READ));
            final QueuePairAttributes wrong =
                SimPair.rtr(QueuePairType.RC, pair.b, 7).accessFlags(AccessFlags.ALL_REMOTE).minRnrTimer(32);
            assertThatThrownBy(() -> queuePair.modify(wrong)).isInstanceOf(RdmaException.class);
            assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
            final QueuePairAttributes seen = new QueuePairAttributes();
            queuePair.query(seen);
            assertThat(seen.state()).isEqualTo(QueuePairState.INIT);
            assertThat(seen.accessFlags()).isEqualTo(AccessFlags.REMOTE_READ);
            assertThat(seen.has(QueuePairAttributes.DESTINATION_NUMBER)).isFalse();
        }
    }

    @Test
    void shouldHoldPostedRequestsInSqdAndTellWhenDrained()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions()))
            {
                final QueuePair[] ends = pair.connected(QueuePairType.RC);
                SimPair.post(ends[0], write(pair, ends[0], 1, 0));
                pair.fabric.step();
                ends[0].modify(new QueuePairAttributes().state(QueuePairState.SQD));
                SimPair.post(ends[0], write(pair, ends[0], 2, 8));
                pair.a.word(0, 5);
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("1 success");
                assertThat(pair.a.events()).containsExactly(AsyncEventType.SQ_DRAINED);
                assertThat(pair.b.word(8)).isZero();
                ends[0].modify(new QueuePairAttributes().state(QueuePairState.RTS));
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("2 success");
                assertThat(pair.b.word(8)).isEqualTo(5);
            }
        }
    }

    @Test
    void shouldDropEverythingWithoutCompletionsOnResetAndWorkAgain()
    {
        for (int seed = 0; seed < 100; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions()))
            {
                final QueuePair[] ends = pair.connected(QueuePairType.RC);
                ends[1].postReceive(9, pair.b.at(64), 8, pair.b.key());
                pair.a.word(0, 3);
                SimPair.post(ends[0], write(pair, ends[0], 1, 0), write(pair, ends[0], 2, 8));
                for (int i = 0; i < seed % 7; i++)
                {
                    pair.fabric.step();
                }
                ends[0].modify(new QueuePairAttributes().state(QueuePairState.RESET));
                ends[1].modify(new QueuePairAttributes().state(QueuePairState.RESET));
                pair.b.word(0, 0);
                pair.b.word(8, 0);
                pair.a.word(0, 7);
                SimPair.raise(ends[0], pair.b, ends[1].number());
                SimPair.raise(ends[1], pair.a, ends[0].number());
                pair.drain();
                assertThat(pair.a.poll()).as("seed " + seed).isEmpty();
                assertThat(pair.b.word(0)).as("late request, seed " + seed).isZero();
                assertThat(ends[0].sendQueueSpace()).isEqualTo(32);
                SimPair.post(ends[0], write(pair, ends[0], 3, 0), send(pair, ends[0], 4));
                ends[1].postReceive(10, pair.b.at(128), 8, pair.b.key());
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("3 success", "4 success");
                assertThat(pair.b.statuses()).containsExactly("10 success");
                assertThat(pair.b.word(0)).isEqualTo(7);
            }
        }
    }

    @Test
    void shouldServeInRtrAndTellOnceThatCommunicationIsEstablished()
    {
        try (SimPair pair = new SimPair(3, new SimFabricOptions()))
        {
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            final QueuePair right = pair.b.queuePair(QueuePairType.RC, null);
            SimPair.raise(left, pair.b, right.number());
            right.modify(SimPair.init(QueuePairType.RC, AccessFlags.ALL_REMOTE));
            right.modify(SimPair.rtr(QueuePairType.RC, pair.a, left.number()));
            right.begin();
            right.send(1, 0, pair.b.at(0), 8, pair.b.key());
            assertThat(right.complete()).isEqualTo(PostStatus.INVALID_STATE);
            SimPair.post(left, write(pair, left, 1, 0), write(pair, left, 2, 8));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success", "2 success");
            assertThat(pair.b.events()).containsExactly(AsyncEventType.COMM_EST);
        }
    }

    @Test
    void shouldWaitForPeerInInitNoLongerThanRetryTime()
    {
        try (SimPair pair = new SimPair(3, SimFabricOptions.calm()))
        {
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            final QueuePair right = pair.b.queuePair(QueuePairType.RC, null);
            SimPair.raise(left, pair.b, right.number());
            right.modify(SimPair.init(QueuePairType.RC, AccessFlags.ALL_REMOTE));
            final long startNs = pair.fabric.clock().nanoTime();
            SimPair.post(left, write(pair, left, 1, 0));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 transport retry counter exceeded");
            assertThat(pair.fabric.clock().nanoTime() - startNs).isBetween((4_096L << 8) * 4, (4_096L << 8) * 4 + 10);
        }
    }

    @Test
    void shouldCountRetriesOfReceiverNotReadyWithTheTimerOfItsCode()
    {
        try (SimPair pair = new SimPair(3, SimFabricOptions.calm()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.RC);
            ends[1].modify(new QueuePairAttributes().minRnrTimer(12));
            final long startNs = pair.fabric.clock().nanoTime();
            SimPair.post(ends[0], send(pair, ends[0], 1));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 RNR retry counter exceeded");
            // Code 12 is 640 microseconds, 3 retries are allowed.
            assertThat(pair.fabric.clock().nanoTime() - startNs).isBetween(3 * 640_000L, 3 * 640_000L + 4_000);
            assertThat(ends[0].state()).isEqualTo(QueuePairState.ERR);
            assertThat(ends[1].state()).isEqualTo(QueuePairState.RTS);
        }
    }

    @Test
    void shouldFailAtOnceWithoutAndNeverWithEndlessRnrRetries()
    {
        try (SimPair pair = new SimPair(3, SimFabricOptions.calm()))
        {
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            final QueuePair right = pair.b.queuePair(QueuePairType.RC, null);
            SimPair.raise(right, pair.a, left.number());
            left.modify(SimPair.init(QueuePairType.RC, 0));
            left.modify(SimPair.rtr(QueuePairType.RC, pair.b, right.number()));
            left.modify(SimPair.rts(QueuePairType.RC).rnrRetry(7));
            SimPair.post(left, send(pair, left, 1));
            pair.fabric.advanceTo(10_000_000_000L);
            assertThat(pair.a.poll()).isEmpty();
            right.postReceive(1, pair.b.at(0), 8, pair.b.key());
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success");
            left.modify(new QueuePairAttributes().state(QueuePairState.SQD));
            left.modify(new QueuePairAttributes().rnrRetry(0));
            left.modify(new QueuePairAttributes().state(QueuePairState.RTS));
            final long startNs = pair.fabric.clock().nanoTime();
            SimPair.post(left, send(pair, left, 2));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("2 RNR retry counter exceeded");
            assertThat(pair.fabric.clock().nanoTime() - startNs).isLessThan(5_000);
        }
    }

    @Test
    void shouldRefuseReadsBeyondTheRespondersDepth()
    {
        try (SimPair pair = new SimPair(3, SimFabricOptions.calm()))
        {
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            final QueuePair right = pair.b.queuePair(QueuePairType.RC, null);
            SimPair.raise(left, pair.b, right.number());
            right.modify(SimPair.init(QueuePairType.RC, AccessFlags.ALL_REMOTE));
            right.modify(SimPair.rtr(QueuePairType.RC, pair.a, left.number()).maxDestinationReadAtomic(1));
            final Runnable read = () -> left.read(
                1, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key());
            SimPair.post(left, read);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success");
            SimPair.post(left, read, read);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success", "1 remote invalid request");
            assertThat(pair.b.events()).contains(AsyncEventType.QP_REQ_ERR);
        }
    }

    @Test
    void shouldWaitForEverWhenTimeoutIsZero()
    {
        try (SimPair pair = new SimPair(3, SimFabricOptions.calm()))
        {
            final QueuePair left = pair.a.queuePair(QueuePairType.RC, null);
            left.modify(SimPair.init(QueuePairType.RC, 0));
            left.modify(SimPair.rtr(QueuePairType.RC, pair.b, 0xABCD));
            left.modify(SimPair.rts(QueuePairType.RC).timeout(0));
            SimPair.post(left, write(pair, left, 1, 0));
            pair.fabric.advanceTo(3_600_000_000_000L);
            assertThat(pair.a.poll()).isEmpty();
            assertThat(left.state()).isEqualTo(QueuePairState.RTS);
        }
    }
}
