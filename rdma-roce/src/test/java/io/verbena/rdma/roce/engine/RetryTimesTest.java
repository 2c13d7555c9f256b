package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** How long a requester waits for an answer: longer each time, and as long as at first once the peer was heard of. */
class RetryTimesTest
{
    private static final long LIMIT_NS = 60_000_000_000L;
    /** As a code, and what it means. */
    private static final int TIMEOUT = 14;
    private static final long TIMEOUT_NS = 4_096L << TIMEOUT;
    private static final int LONG_RNR = 20;

    private final LossyNetwork network = new LossyNetwork(5, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
    private final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
    private boolean isCut;

    @BeforeEach
    void connect()
    {
        final ConnectOptions options = new ConnectOptions(256, 0, 4, TIMEOUT, 7, 7, LONG_RNR, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, b, qb, options);
        EngineNode.connect(qb, a, qa, options);
        network.lose((packet) -> isCut && !isNotReady(packet));
    }

    private static boolean isNotReady(final RocePacket packet)
    {
        return BthDescriptor.opcode(packet.buffer(), 0) == RoceOpcode.ACKNOWLEDGE;
    }

    private void post(final Runnable request)
    {
        qa.begin();
        request.run();
        assertThat(qa.complete()).isZero();
    }

    private void write()
    {
        qa.write(1, SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
    }

    /** Time until the next time-out. */
    private long awaitTimeoutNs()
    {
        final long startNs = network.nowNs();
        final long before = a.engine.counters().timeouts;
        assertThat(network.run(() -> a.engine.counters().timeouts > before, LIMIT_NS)).isTrue();
        return network.nowNs() - startNs;
    }

    private void assertFirstTimeout()
    {
        assertThat(awaitTimeoutNs()).isBetween(TIMEOUT_NS / 2, TIMEOUT_NS + TIMEOUT_NS / 4);
    }

    @Test
    void shouldBeginAnewWithEachAnswer()
    {
        for (int round = 0; round < 3; round++)
        {
            isCut = true;
            post(this::write);
            assertFirstTimeout();
            assertThat(awaitTimeoutNs()).isBetween(2 * TIMEOUT_NS - 1, 2 * TIMEOUT_NS + TIMEOUT_NS / 4);
            assertThat(awaitTimeoutNs()).isBetween(4 * TIMEOUT_NS - 1, 4 * TIMEOUT_NS + TIMEOUT_NS / 4);
            isCut = false;
            assertThat(network.run(() -> a.polled.size() == 1, LIMIT_NS)).isTrue();
            a.polled.clear();
        }
    }

    @Test
    void shouldBeginAnewWhenThePeerHasNoReceive()
    {
        isCut = true;
        post(() -> qa.send(1, SIGNALED, a.at(0), 8, a.key()));
        assertFirstTimeout();
        awaitTimeoutNs();
        isCut = false;
        final long before = b.engine.counters().notReady;
        assertThat(network.run(() -> b.engine.counters().notReady > before, LIMIT_NS)).isTrue();
        isCut = true;
        network.elapse(TIMEOUT_NS / 8);
        assertFirstTimeout();
    }
}
