package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/** How much a requester sends, and what marks and notifications do to that. */
class CongestionRulesTest
{
    private static final long ROUND_NS = 10_000;

    private final CongestionWindow window = new CongestionWindow(64);
    private long nowNs;
    private int sequence;

    /** One round trip in which the whole window is used and answered. */
    private void round()
    {
        final int count = window.packets();
        window.onSent(sequence + 1, true, nowNs);
        window.onLimited();
        nowNs += ROUND_NS;
        window.onProgress(sequence, sequence + count, nowNs);
        sequence += count;
    }

    @Test
    void shouldDoubleUntilTheLimitAndGrowSlowlyAfterLoss()
    {
        assertThat(window.packets()).isEqualTo(16);
        round();
        assertThat(window.packets()).isEqualTo(32);
        round();
        round();
        assertThat(window.packets()).isEqualTo(64);
        window.onLoss(sequence, sequence + 10);
        assertThat(window.packets()).isEqualTo(48);
        for (int i = 0; i < 9; i++)
        {
            round();
        }
        assertThat(window.packets()).isBetween(49, 50);
    }

    @Test
    void shouldCutOnceForEachWindow()
    {
        window.onLoss(0, 16);
        window.onLoss(4, 16);
        window.onProgress(0, 15, 1);
        window.onLoss(15, 16);
        assertThat(window.packets()).isEqualTo(12);
        window.onProgress(15, 16, 2);
        window.onLoss(16, 20);
        assertThat(window.packets()).isEqualTo(9);
    }

    @Test
    void shouldNotGrowUnlessItKeptSomethingBack()
    {
        window.onProgress(0, 16, 1);
        assertThat(window.packets()).isEqualTo(16);
    }

    @Test
    void shouldPaceOnlyAfterCongestion()
    {
        round();
        window.pace(1, nowNs);
        assertThat(window.sendNs()).isZero();
        window.onLoss(sequence, sequence);
        assertThat(window.packets()).isEqualTo(24);
        for (int i = 0; i < 10; i++)
        {
            window.pace(1, nowNs);
        }
        // Two may leave at once; 10 us by 24 packets between the others.
        assertThat(window.sendNs() - nowNs).isBetween(8 * 10_000L / 24 - 12, 8 * 10_000L / 24);
    }

    @Test
    void shouldCutLessTheRarerNotificationsAre()
    {
        round();
        window.onNotification(sequence);
        assertThat(window.packets()).isEqualTo(16);
        window.onNotification(sequence);
        assertThat(window.packets()).isEqualTo(16);
        for (int i = 0; i < 40; i++)
        {
            round();
        }
        final int before = window.packets();
        window.onNotification(sequence);
        assertThat(window.packets()).isBetween(before * 9 / 10, before - 1);
    }

    @Test
    void shouldAskWithOnePacketWhenAnswersAreLate()
    {
        assertThat(window.probeNs(0)).isEqualTo(4_000_000);
        round();
        assertThat(window.probeNs(0)).isEqualTo(100_000);
        window.onProbe(sequence);
        assertThat(window.packets()).isEqualTo(1);
        assertThat(window.probeNs(0)).isEqualTo(200_000);
        round();
        assertThat(window.packets()).isEqualTo(2);
        assertThat(window.probeNs(0)).isEqualTo(100_000);
    }

    @Test
    void shouldMeasureNothingThatWasSentTwice()
    {
        window.onSent(1, true, 0);
        window.onResent();
        window.onProgress(0, 1, 77);
        assertThat(window.probeNs(0)).isEqualTo(4_000_000);
    }

    /** Marked requests are answered by a notification that looks as an RNIC's, one in an interval. */
    @Test
    void shouldNotifyOfMarkedPacketsOnceInAnInterval()
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(64, 16);
        final EngineNode b = network.addNode(64, 16);
        final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
        final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        final int[] notifications = {0};
        network.observe((packet) ->
        {
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            packet.congestionMarked(opcode != RoceOpcode.CONGESTION_NOTIFICATION);
            if (opcode == RoceOpcode.CONGESTION_NOTIFICATION)
            {
                notifications[0]++;
                assertThat(packet.lengthBytes()).isEqualTo(12 + 16 + 4);
                assertThat(packet.buffer().getByte(BthDescriptor.CONGESTION_OFFSET)).isEqualTo((byte)0x40);
                assertThat(BthDescriptor.sequence(packet.buffer(), 0)).isZero();
            }
        });
        qa.begin();
        qa.write(1, SIGNALED, a.at(0), 2_000, a.key(), b.at(0), b.key());
        assertThat(qa.complete()).isZero();
        network.settle();
        assertThat(a.polled).hasSize(1);
        assertThat(b.engine.counters().notificationsSent).isEqualTo(1);
        assertThat(a.engine.counters().notifications).isEqualTo(1);
        assertThat(notifications[0]).isEqualTo(2);
    }
}
