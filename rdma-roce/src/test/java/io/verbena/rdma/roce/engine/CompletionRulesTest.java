package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;

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
}
