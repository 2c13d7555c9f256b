package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Completion queues of the engine: when they wake their owner, and what happens when they are too small. */
class CompletionRulesTest
{
    private static final long LIMIT_NS = 60_000_000_000L;

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);

    private void post(final Runnable... requests)
    {
        qa.begin();
        for (final Runnable request : requests)
        {
            request.run();
        }
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        network.settle();
        assertThat(a.polled).hasSize(1);
        a.polled.clear();
    }

    @Test
    void shouldWakeOnlyForSolicitedWhenArmedSo()
    {
        final int[] wakeups = {0};
        final RoceCompletionQueue queue = b.engine.createCompletionQueue(8, (which) -> wakeups[0]++);
        final RoceQueuePair receiver = b.domain.createQueuePair(new QueuePairOptions()
            .completions(queue, queue).capabilities(EngineNode.CAPABILITIES));
        EngineNode.connect(qa, b, receiver, ConnectOptions.DEFAULT);
        EngineNode.connect(receiver, a, qa, ConnectOptions.DEFAULT);
        receiver.postReceive(1, b.at(0), 8, b.key());
        receiver.postReceive(2, b.at(0), 8, b.key());
        queue.requestNotification(true);
        post(() -> qa.send(1, SIGNALED, a.at(0), 8, a.key()));
        assertThat(wakeups[0]).isZero();
        post(() -> qa.send(1, SIGNALED | SendFlags.SOLICITED, a.at(0), 8, a.key()));
        assertThat(wakeups[0]).isEqualTo(1);
    }

    /** Who frees a request's slot lets another thread post and complete there before the poll has ended. */
    @Test
    void shouldHaveRoomForCompletionOfRequestWhoseSlotPollHasFreed()
    {
        final RoceCompletionQueue queue = a.engine.createCompletionQueue(1, null);
        final RoceCompletionQueue.Owner owner = new RoceCompletionQueue.Owner()
        {
            @Override
            int number()
            {
                return 7;
            }

            @Override
            void freeSends(final long position)
            {
                if (position == 1)
                {
                    queue.addSend(this, 2, 12, WorkCompletionStatus.SUCCESS, 0, 0);
                }
            }

            @Override
            void freeReceive()
            {
                throw new AssertionError("not a receive");
            }
        };
        queue.addSend(owner, 1, 11, WorkCompletionStatus.SUCCESS, 0, 0);
        final WorkCompletions batch = new WorkCompletions(4);
        assertThat(queue.poll(batch)).isEqualTo(1);
        assertThat(batch.wrId(0)).isEqualTo(11);
        assertThat(queue.isOverrun()).isFalse();
        assertThat(queue.poll(batch)).isEqualTo(1);
        assertThat(batch.wrId(0)).isEqualTo(12);
        assertThat(queue.poll(batch)).isZero();
    }

    /** Others' stay, in order. */
    @Test
    void shouldMakeRoomForOthersWhenQueuePairIsReset()
    {
        final RoceCompletionQueue queue = a.engine.createCompletionQueue(4, null);
        final List<Integer> freed = new ArrayList<>();
        final RoceCompletionQueue.Owner reset = owner(1, freed);
        final RoceCompletionQueue.Owner stays = owner(2, freed);
        final WorkCompletions batch = new WorkCompletions(8);
        queue.addSend(reset, 1, 10, WorkCompletionStatus.SUCCESS, 0, 0);
        assertThat(queue.poll(batch)).isEqualTo(1);
        queue.addReceive(reset, 11, WorkCompletionStatus.SUCCESS, 0, 0, 0, 0, 0, false);
        queue.addSend(stays, 2, 12, WorkCompletionStatus.WR_FLUSH_ERR, 3, 4);
        queue.addSend(reset, 3, 13, WorkCompletionStatus.SUCCESS, 0, 0);
        queue.addReceive(stays, 14, WorkCompletionStatus.SUCCESS, 5, 6, 7, 1, 9, false);
        freed.clear();
        queue.forget(reset);
        assertThat(freed).containsExactly(1);
        queue.addSend(stays, 4, 15, WorkCompletionStatus.SUCCESS, 0, 0);
        queue.addSend(stays, 5, 16, WorkCompletionStatus.SUCCESS, 0, 0);
        assertThat(queue.isOverrun()).isFalse();
        assertThat(queue.poll(batch)).isEqualTo(4);
        assertThat(IntStream.range(0, 4).mapToLong(batch::wrId)).containsExactly(12L, 14L, 15L, 16L);
        assertThat(batch.status(0)).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(batch.opcode(0)).isEqualTo(3);
        assertThat(batch.opcode(1)).isEqualTo(5);
        assertThat(batch.byteLength(1)).isEqualTo(6);
        assertThat(batch.immediate(1)).isEqualTo(7);
        assertThat(batch.flags(1)).isEqualTo(1);
        assertThat(batch.sourceQueuePairNumber(1)).isEqualTo(9);
        assertThat(IntStream.range(0, 4).map(batch::queuePairNumber)).containsOnly(2);
        queue.forget(stays);
        assertThat(queue.hasCompletion()).isFalse();
    }

    /** Notes what is freed: positions of sends, its own number for a receive. */
    private static RoceCompletionQueue.Owner owner(final int number, final List<Integer> freed)
    {
        return new RoceCompletionQueue.Owner()
        {
            @Override
            int number()
            {
                return number;
            }

            @Override
            void freeSends(final long position)
            {
                freed.add((int)position);
            }

            @Override
            void freeReceive()
            {
                freed.add(number);
            }
        };
    }

    @Test
    void shouldKillQueuePairsWhenCompletionsOverrun()
    {
        final RoceCompletionQueue queue = b.engine.createCompletionQueue(1, null);
        final RoceQueuePair receiver = b.domain.createQueuePair(new QueuePairOptions()
            .completions(queue, queue).capabilities(EngineNode.CAPABILITIES));
        EngineNode.connect(qa, b, receiver, ConnectOptions.DEFAULT);
        EngineNode.connect(receiver, a, qa, ConnectOptions.DEFAULT);
        receiver.postReceive(1, b.at(0), 8, b.key());
        receiver.postReceive(2, b.at(0), 8, b.key());
        post(() -> qa.send(1, 0, a.at(0), 8, a.key()), () -> qa.send(1, SIGNALED, a.at(0), 8, a.key()));
        assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.engine.events().poll().type()).isEqualTo(AsyncEventType.CQ_ERR);
        final WorkCompletions batch = new WorkCompletions(4);
        assertThat(queue.poll(batch)).isEqualTo(1);
        assertThatThrownBy(() -> queue.poll(batch)).isInstanceOf(RdmaException.class);
    }

    @Test
    void shouldAnnounceOverrunAndGiveSharedReceivesBack()
    {
        final RoceCompletionQueue queue = b.engine.createCompletionQueue(1, null);
        final RoceSharedReceiveQueue shared = b.domain.createSharedReceiveQueue(3);
        final RoceQueuePair receiver = b.domain.createQueuePair(new QueuePairOptions()
            .completions(queue, queue).sharedReceiveQueue(shared).capabilities(EngineNode.CAPABILITIES));
        EngineNode.connect(qa, b, receiver, ConnectOptions.DEFAULT);
        EngineNode.connect(receiver, a, qa, ConnectOptions.DEFAULT);
        for (int i = 0; i < 3; i++)
        {
            assertThat(shared.postReceive(i, b.at(0), 8, b.key())).isZero();
        }
        qa.begin();
        qa.send(1, 0, a.at(0), 8, a.key());
        qa.send(2, SIGNALED, a.at(0), 8, a.key());
        assertThat(qa.complete()).isZero();
        a.engine.doWork();
        while (!queue.isOverrun())
        {
            network.deliverNext();
        }
        assertThat(receiver.state()).isEqualTo(QueuePairState.RTS);
        assertThat(b.engine.nextDeadlineNs()).isLessThanOrEqualTo(network.nowNs());
        assertThat(b.engine.hasPosted()).isTrue();
        b.engine.doWork();
        assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);
        // One receive is left, one waits in the ring to be polled, and one was lost with its completion.
        assertThat(shared.postReceive(4, b.at(0), 8, b.key())).isZero();
        assertThat(shared.postReceive(5, b.at(0), 8, b.key())).isNotZero();
        assertThat(queue.poll(new WorkCompletions(4))).isEqualTo(1);
        assertThat(shared.postReceive(5, b.at(0), 8, b.key())).isZero();
    }

    /** A listener may do anything: here it closes the queue pair whose message it learns of, and makes a new one. */
    @Test
    void shouldLetListenersCloseAndResetQueuePairs()
    {
        final RoceQueuePair[] receiver = {null};
        final RoceCompletionQueue[] queue = {null};
        final int[] calls = {0};
        queue[0] = b.engine.createCompletionQueue(8, (which) ->
        {
            calls[0]++;
            final WorkCompletions batch = new WorkCompletions(4);
            assertThat(which.poll(batch)).isEqualTo(1);
            which.requestNotification(false);
            if (calls[0] == 1)
            {
                // The second message is flushed with this, and its completion is told by the outer call.
                receiver[0].moveToError();
            }
            else
            {
                receiver[0].modify(new QueuePairAttributes().state(QueuePairState.RESET));
                receiver[0].close();
            }
        });
        receiver[0] = b.domain.createQueuePair(new QueuePairOptions()
            .completions(queue[0], queue[0]).capabilities(EngineNode.CAPABILITIES));
        EngineNode.connect(qa, b, receiver[0], ConnectOptions.DEFAULT.retries(1));
        EngineNode.connect(receiver[0], a, qa, ConnectOptions.DEFAULT);
        receiver[0].postReceive(1, b.at(0), 600, b.key());
        receiver[0].postReceive(2, b.at(0), 600, b.key());
        queue[0].requestNotification(false);
        qa.begin();
        qa.send(1, 0, a.at(0), 600, a.key());
        qa.send(2, SIGNALED, a.at(0), 600, a.key());
        assertThat(qa.complete()).isZero();
        network.settle();
        assertThat(calls[0]).isEqualTo(2);
        assertThat(qa.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.engine.counters().misdirected).isPositive();
        queue[0].close();
    }

    /** A listener of the requester connects it anew while an acknowledgement is handled: the new timers count. */
    @Test
    void shouldKeepTimersOfQueuePairThatListenerConnectsAnew()
    {
        final RoceQueuePair[] sender = {null};
        final RoceQueuePair receiver = b.createQueuePair(QueuePairType.RC, null);
        final RoceCompletionQueue queue = a.engine.createCompletionQueue(8, (which) ->
        {
            assertThat(which.poll(new WorkCompletions(4))).isPositive();
            sender[0].modify(new QueuePairAttributes().state(QueuePairState.RESET));
            EngineNode.connect(sender[0], b, receiver, ConnectOptions.DEFAULT.retries(0));
            receiver.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            sender[0].begin();
            sender[0].write(9, 0, a.at(0), 8, a.key(), b.at(0), b.key());
            assertThat(sender[0].complete()).isZero();
        });
        sender[0] = a.domain.createQueuePair(new QueuePairOptions()
            .completions(queue, queue).capabilities(EngineNode.CAPABILITIES));
        EngineNode.connect(sender[0], b, receiver, ConnectOptions.DEFAULT);
        EngineNode.connect(receiver, a, sender[0], ConnectOptions.DEFAULT);
        queue.requestNotification(false);
        sender[0].begin();
        sender[0].write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
        sender[0].write(2, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
        assertThat(sender[0].complete()).isZero();
        network.settle();
        final WorkCompletions batch = new WorkCompletions(4);
        assertThat(queue.poll(batch)).isEqualTo(1);
        assertThat(batch.wrId(0)).isEqualTo(9);
        assertThat(batch.status(0)).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(a.engine.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
    }
}
