package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.Completion;
import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What happens to hosts and ways while queue pairs are connected: the status that a NIC gives, in the time that the
 * connection service's attributes give, and a new connection when the cause is gone.
 */
class FaultRulesTest
{
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final long SILENT_NS = 3_100_000_000L;
    private static final int BYTES = 3000;

    private final LossyNetwork network = new LossyNetwork(5, LossyNetwork.Faults.NONE);
    private final EngineNode a = network.addNode(32, 16);
    private final EngineNode b = network.addNode(32, 16);
    private RoceQueuePair qa;
    private RoceQueuePair qb;

    @BeforeEach
    void connect()
    {
        connect(b, 1024);
        a.memory().asSlice(0, BYTES).fill((byte)7);
    }

    /** As the connection service does: 134 ms, which doubles twice, and 6 retries. */
    private void connect(final EngineNode peer, final int mtu)
    {
        qa = a.createQueuePair(QueuePairType.RC, null);
        qb = peer.createQueuePair(QueuePairType.RC, null);
        final ConnectOptions options = new ConnectOptions(mtu, 99, 4, 15, 6, 7, 1, AccessFlags.ALL_REMOTE);
        EngineNode.connect(qa, peer, qb, options);
        EngineNode.connect(qb, a, qa, options);
    }

    private Completion write(final EngineNode peer, final int lengthBytes)
    {
        qa.begin();
        qa.write(1, SIGNALED, a.at(0), lengthBytes, a.key(), peer.at(0), peer.key());
        assertThat(qa.complete()).isZero();
        assertThat(network.run(() -> !a.polled.isEmpty(), LIMIT_NS)).isTrue();
        return a.polled.removeFirst();
    }

    private void assertWrites(final EngineNode peer)
    {
        assertThat(write(peer, BYTES).status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(peer.memory().asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
    }

    private void assertSilence(final EngineNode peer)
    {
        final long startNs = network.nowNs();
        assertThat(write(peer, BYTES).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(network.nowNs() - startNs).isBetween(SILENT_NS - 200_000_000L, SILENT_NS + 100_000_000L);
        assertThat(qa.state()).isEqualTo(QueuePairState.ERR);
    }

    /** A router on the way carries less from now on: long packets are lost, as a socket with "don't fragment" does. */
    @Test
    void shouldFailWhenPathMtuShrinksAndWorkAgainWithShorterPackets()
    {
        assertWrites(b);
        network.lose((packet) -> packet.lengthBytes() > 700);
        assertThat(write(b, 8).status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertSilence(b);
        connect(b, 512);
        assertWrites(b);
    }

    @Test
    void shouldFailWhenPeerIsGoneAndConnectToTheOneThatCameBack()
    {
        assertWrites(b);
        network.remove(b);
        final EngineNode reborn = network.addTwin(b);
        assertSilence(b);
        assertThat(reborn.engine.counters().misdirected).isPositive();
        assertThat(reborn.engine.counters().sent).isZero();
        assertThat(reborn.memory().asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        connect(reborn, 1024);
        assertWrites(reborn);
    }

    /** Only this side still knows of the connection; it notices with its next request, and no earlier. */
    @Test
    void shouldNoticeHalfOpenConnectionWithTheNextRequest()
    {
        assertWrites(b);
        qb.close();
        network.elapse(10 * SILENT_NS);
        assertThat(qa.state()).isEqualTo(QueuePairState.RTS);
        assertSilence(b);
    }

    /** Both get each packet, as behind a hub; then only the wrong one does, as when the neighbours know it instead. */
    @Test
    void shouldLetSecondDeviceAtSameAddressNeitherAnswerNorChangeAnything()
    {
        final EngineNode twin = network.addTwin(b);
        assertWrites(b);
        assertThat(twin.engine.counters().misdirected).isPositive();
        network.remove(b);
        assertSilence(b);
        assertThat(twin.engine.counters().sent).isZero();
        assertThat(twin.memory().asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        network.remove(twin);
        network.add(b);
        connect(b, 1024);
        assertWrites(b);
    }

    /** Whoever is silent for less than the retries take is not noticed. */
    @Test
    void shouldSurviveLinkThatIsCutForTwoSeconds()
    {
        network.lose((packet) -> network.nowNs() < 2_000_000_000L);
        assertWrites(b);
        assertThat(network.nowNs()).isBetween(2_000_000_000L, 2_700_000_000L);
    }
}
