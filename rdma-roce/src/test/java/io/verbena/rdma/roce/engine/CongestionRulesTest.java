package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.engine.EngineNode.ConnectOptions;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RethDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DcTarget;
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
        window.onLimited(sequence + count);
        nowNs += ROUND_NS;
        window.onProgress(sequence, sequence + count, nowNs);
        sequence += count;
    }

    /** The way has become so slow that each answer comes after several probes. */
    @Test
    void shouldMeasureAgainThoughEveryPacketWasProbed()
    {
        final long slowNs = 100_000_000;
        final CongestionWindow slow = new CongestionWindow(64);
        long timeNs = 1_000;
        slow.onSent(1, true, timeNs);
        slow.onProgress(0, 1, timeNs + 10_000);
        int probes = 0;
        for (int i = 1; i <= 20; i++)
        {
            slow.onSent(i + 1, true, timeNs);
            probes = 0;
            long probeNs = slow.probeNs(timeNs);
            while (probeNs < timeNs + slowNs)
            {
                slow.onProbe();
                probes++;
                probeNs = slow.probeNs(probeNs);
            }
            timeNs += slowNs;
            slow.onProgress(i, i + 1, timeNs);
        }
        assertThat(probes).isZero();
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
        round();
        window.onLoss(16, 32);
        window.onLoss(20, 32);
        window.onProgress(16, 31, nowNs);
        window.onLoss(31, 32);
        assertThat(window.packets()).isEqualTo(24);
        window.onProgress(31, 32, nowNs);
        window.onLoss(32, 40);
        assertThat(window.packets()).isEqualTo(18);
    }

    @Test
    void shouldNotGrowBeyondItsBound()
    {
        final CongestionWindow bounded = new CongestionWindow(20);
        bounded.onLimited(100);
        bounded.onProgress(0, 50, 1);
        assertThat(bounded.packets()).isEqualTo(20);
    }

    @Test
    void shouldNotGrowForAnswersToWhatWasSentBeforeALoss()
    {
        final CongestionWindow cut = new CongestionWindow(64);
        cut.onSent(1, true, 0);
        cut.onProgress(0, 1, 10_000);
        cut.onLoss(1, 17);
        cut.onLimited(200);
        cut.onProgress(1, 16, 20_000);
        assertThat(cut.packets()).isEqualTo(12);
        cut.onProgress(16, 100, 30_000);
        assertThat(cut.packets()).isGreaterThan(12);
    }

    /** It was of one packet after a time-out, and all but that is to be sent again: one a round trip until the end. */
    @Test
    void shouldNotWaitForAllThatWasEverSentAfterALossWhileItOpensAgain()
    {
        round();
        round();
        final int sentEnd = sequence + 64;
        window.onTimeout();
        window.onLoss(sequence, sentEnd);
        window.onLimited(sentEnd);
        int rounds = 0;
        while (window.packets() < 32 && rounds < 64)
        {
            final int count = window.packets();
            window.onProgress(sequence, sequence + count, nowNs);
            sequence += count;
            rounds++;
        }
        // One round trip is the window that was cut; then it doubles to three quarters of three quarters of 64.
        assertThat(rounds).isBetween(6, 8);
    }

    @Test
    void shouldNotGrowUnlessItKeptSomethingBack()
    {
        window.onProgress(0, 16, 1);
        assertThat(window.packets()).isEqualTo(16);
    }

    @Test
    void shouldGrowUntilEverythingIsAnsweredThatFilledIt()
    {
        window.onLimited(32);
        window.onProgress(0, 8, 1);
        window.onProgress(8, 32, 2);
        assertThat(window.packets()).isEqualTo(48);
        window.onProgress(32, 40, 3);
        assertThat(window.packets()).isEqualTo(48);
    }

    /** Nanoseconds by which ten packets put the next one off. */
    private long pacedNs()
    {
        for (int i = 0; i < 10; i++)
        {
            window.pace(1, nowNs);
        }
        return window.sendNs() == 0 ? 0 : window.sendNs() - nowNs;
    }

    @Test
    void shouldPaceWhatIsSentForTheFirstTimeAfterALoss()
    {
        round();
        assertThat(pacedNs()).isZero();
        assertThat(window.needsTime()).isTrue();
        window.onSent(sequence + 1, true, nowNs);
        assertThat(window.needsTime()).isFalse();
        window.onLoss(sequence, sequence + 30);
        assertThat(window.packets()).isEqualTo(24);
        assertThat(window.needsTime()).isTrue();
        // Two may leave at once; 10 us by 24 packets between the others.
        assertThat(pacedNs()).isBetween(8 * ROUND_NS / 24 - 12, 8 * ROUND_NS / 24);
        window.onProgress(sequence, sequence + 29, nowNs);
        assertThat(window.needsTime()).isTrue();
        window.onSent(sequence + 30, true, nowNs);
        window.onProgress(sequence + 29, sequence + 30, nowNs);
        window.onSent(sequence + 31, true, nowNs);
        assertThat(window.needsTime()).isFalse();
    }

    @Test
    void shouldPaceASmallWindowUntilItHasGrown()
    {
        round();
        lose(5);
        assertThat(window.packets()).isEqualTo(7);
        assertThat(pacedNs()).isPositive();
        final CongestionWindow small = new CongestionWindow(4);
        small.onSent(4, true, 0);
        small.onProgress(0, 4, ROUND_NS);
        small.pace(4, nowNs);
        // That is all that it may be: nothing was lost.
        assertThat(small.sendNs()).isZero();
        small.onLoss(4, 8);
        small.onLimited(1_000);
        small.onProgress(4, 8, ROUND_NS);
        small.onProgress(8, 100, ROUND_NS);
        small.pace(4, nowNs);
        assertThat(small.sendNs()).isZero();
    }

    /** A window smaller than a packet is a pause, without anything that leaves at once. */
    @Test
    void shouldPauseBetweenPacketsWhenEvenOneIsTooMany()
    {
        round();
        lose(40);
        assertThat(window.packets()).isEqualTo(1);
        window.pace(1, nowNs);
        assertThat(window.sendNs() - nowNs).isEqualTo(4 * ROUND_NS);
    }

    private void lose(final int times)
    {
        for (int i = 0; i < times; i++)
        {
            window.onLoss(sequence, sequence);
            window.onProgress(sequence, sequence, nowNs);
        }
    }

    /** Nothing is known to pace by: the window opens from one packet on. */
    @Test
    void shouldBeginAnewAfterALossBeforeAnythingWasMeasured()
    {
        window.onLoss(0, 16);
        assertThat(window.packets()).isEqualTo(1);
        window.onLimited(16);
        window.onProgress(0, 1, 1);
        assertThat(window.packets()).isEqualTo(2);
    }

    @Test
    void shouldCutLessTheRarerNotificationsAre()
    {
        round();
        window.onNotification(sequence, sequence);
        assertThat(window.packets()).isEqualTo(16);
        window.onNotification(sequence, sequence);
        assertThat(window.packets()).isEqualTo(16);
        for (int i = 0; i < 40; i++)
        {
            round();
        }
        final int before = window.packets();
        window.onNotification(sequence, sequence);
        assertThat(window.packets()).isBetween(before * 9 / 10, before - 1);
    }

    @Test
    void shouldWaitLongerForLateAnswersUntilSomethingWasMeasured()
    {
        assertThat(window.probeNs(0)).isEqualTo(4_000_000);
        round();
        assertThat(window.probeNs(7)).isEqualTo(100_007);
        window.onSent(sequence + 1, true, nowNs);
        assertThat(window.onProbe()).isTrue();
        assertThat(window.onProbe()).isFalse();
        assertThat(window.onProbe()).isTrue();
        assertThat(window.packets()).isEqualTo(32);
        assertThat(window.probeNs(0)).isEqualTo(800_000);
        // The answer to which of the packets that were sent?
        window.onProgress(sequence, sequence + 1, nowNs);
        assertThat(window.probeNs(0)).isEqualTo(800_000);
        assertThat(window.onProbe()).isTrue();
        for (int i = 0; i < 10; i++)
        {
            window.onProbe();
        }
        assertThat(window.probeNs(0)).isEqualTo(3_200_000);
        round();
        assertThat(window.probeNs(0)).isEqualTo(100_000);
    }

    @Test
    void shouldBeginAnewWithOnePacketAfterATimeout()
    {
        round();
        window.onTimeout();
        assertThat(window.packets()).isEqualTo(1);
        round();
        round();
        round();
        assertThat(window.packets()).isEqualTo(8);
        window.onTimeout();
        window.onTimeout();
        // Past three quarters of what it was to open to, by doubling: that it was small was the time-out's doing.
        for (int i = 0; i < 6; i++)
        {
            round();
        }
        assertThat(window.packets()).isBetween(18, 32);
    }

    /** Else one of many that share a link keeps a packet or two for good: it grows slowly from there on. */
    @Test
    void shouldKeepItsShareThoughItLosesSomethingWhileItOpensAgain()
    {
        for (int i = 0; i < 2; i++)
        {
            round();
        }
        lose(1);
        round();
        final int share = window.packets();
        window.onTimeout();
        round();
        lose(1);
        window.onNotification(sequence, sequence);
        for (int i = 0; i < 8; i++)
        {
            round();
        }
        assertThat(window.packets()).isBetween(share / 4, share);
    }

    /** The same PSNs, but other packets: the window would stay as large as it was, and the way as full. */
    @Test
    void shouldCutAgainWhenWhatWasSentAgainIsLost()
    {
        round();
        final int before = window.packets();
        assertThat(window.mayRecover(false, nowNs)).isTrue();
        window.onLoss(sequence, sequence + before);
        assertThat(window.packets()).isEqualTo(before * 3 / 4);
        assertThat(window.mayRecover(true, nowNs + ROUND_NS)).isTrue();
        window.onLoss(sequence, sequence + before);
        assertThat(window.packets()).isEqualTo(before * 9 / 16);
    }

    /** What is lost behind a notification was sent before it: the notification has taken its part away. */
    @Test
    void shouldNotCutAgainForALossInTheWindowThatANotificationHasCut()
    {
        round();
        assertThat(window.mayRecover(false, nowNs)).isTrue();
        window.onNotification(sequence, sequence + 32);
        final int cut = window.packets();
        assertThat(window.mayRecover(false, nowNs + ROUND_NS)).isTrue();
        window.onLoss(sequence, sequence + 32);
        assertThat(window.packets()).isEqualTo(cut);
    }

    @Test
    void shouldRecoverOnceAsLongAsNothingWasMeasured()
    {
        assertThat(window.mayRecover(false, 1_000)).isTrue();
        assertThat(window.mayRecover(true, 1_000_000_000)).isFalse();
    }

    @Test
    void shouldRecoverAgainWhenTheShortestRoundTripIsOver()
    {
        round();
        window.onSent(sequence + 1, true, nowNs);
        nowNs += 10 * ROUND_NS;
        window.onProgress(sequence, sequence + 1, nowNs);
        assertThat(window.mayRecover(false, nowNs)).isTrue();
        assertThat(window.mayRecover(false, nowNs + ROUND_NS - 1)).isFalse();
        assertThat(window.mayRecover(false, nowNs + ROUND_NS)).isTrue();
    }

    /** What is lost is not late. */
    @Test
    void shouldWaitNoLongerForAnswersOnceALossWasReported()
    {
        round();
        window.onProbe();
        window.onProbe();
        assertThat(window.probeNs(0)).isEqualTo(400_000);
        window.onLoss(sequence, sequence + 1);
        assertThat(window.probeNs(0)).isEqualTo(100_000);
    }

    /** What is asked after a time-out waits for nothing. */
    @Test
    void shouldForgetThePaceAfterATimeout()
    {
        round();
        lose(5);
        assertThat(pacedNs()).isPositive();
        window.onTimeout();
        assertThat(window.sendNs()).isZero();
    }

    /** A notification may come when nothing is in flight; a loss of what is sent then is one more. */
    @Test
    void shouldCutForALossOfWhatWasSentAfterTheLastCut()
    {
        round();
        window.onNotification(sequence, sequence);
        assertThat(window.packets()).isEqualTo(16);
        window.onLoss(sequence, sequence + 10);
        assertThat(window.packets()).isEqualTo(12);
    }

    /** Several refusals tell of one loss; the answer to what was sent again takes a round trip. */
    @Test
    void shouldRecoverOnceInARoundTrip()
    {
        round();
        assertThat(window.mayRecover(false, 1_000_000)).isTrue();
        assertThat(window.mayRecover(false, 1_000_000 + ROUND_NS - 1)).isFalse();
        assertThat(window.mayRecover(true, 1_000_000 + ROUND_NS - 1)).isFalse();
        assertThat(window.mayRecover(false, 1_000_000 + ROUND_NS)).isTrue();
        assertThat(window.mayRecover(true, 1_000_000 + 2 * ROUND_NS - 1)).isFalse();
        assertThat(window.mayRecover(true, 1_000_000 + 2 * ROUND_NS)).isTrue();
    }

    /** An eighth of the difference moves the round trip, a quarter the deviation, as in TCP (RFC 6298, section 2). */
    @Test
    void shouldWaitForTheRoundTripAndFourDeviations()
    {
        answer(1_000_000);
        assertThat(window.probeNs(0)).isEqualTo(3_000_000);
        answer(1_000_000);
        assertThat(window.probeNs(0)).isEqualTo(2_500_000);
        answer(1_800_000);
        assertThat(window.probeNs(0)).isEqualTo(3_025_000);
    }

    private void answer(final long roundTripNs)
    {
        window.onSent(sequence + 1, true, nowNs);
        nowNs += roundTripNs;
        window.onProgress(sequence, sequence + 1, nowNs);
        sequence++;
    }

    @Test
    void shouldMeasureNothingThatWasSentTwice()
    {
        window.onSent(1, true, 0);
        window.onResent();
        window.onProgress(0, 1, 77);
        assertThat(window.probeNs(0)).isEqualTo(4_000_000);
        round();
        window.onSent(sequence + 1, false, nowNs);
        window.onProgress(sequence, sequence + 1, nowNs + 90_000_000);
        assertThat(window.probeNs(0)).isEqualTo(100_000);
    }

    /** Better a guess than none: the wait would be for milliseconds each time. */
    @Test
    void shouldMeasureWhatWasSentTwiceAsLongAsNothingWasMeasured()
    {
        window.onSent(1, true, 0);
        window.onProbe();
        window.onSent(1, false, 4_000_000);
        window.onProgress(0, 1, 4_100_000);
        assertThat(window.probeNs(0)).isEqualTo(300_000);
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

    /** A requester decides how much its responder sends. */
    @Test
    void shouldRequestLessWhenResponsesAreMarked()
    {
        assertThat(mostRequestedPackets(false)).isGreaterThan(32);
        assertThat(mostRequestedPackets(true)).isLessThan(16);
    }

    /** Packets that the longest request of the last of several READs asks for. */
    private static long mostRequestedPackets(final boolean areMarked)
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(64, 16);
        final EngineNode b = network.addNode(64, 16);
        final RoceQueuePair qa = a.createQueuePair(QueuePairType.RC, null);
        final RoceQueuePair qb = b.createQueuePair(QueuePairType.RC, null);
        EngineNode.connect(qa, b, qb, ConnectOptions.DEFAULT);
        EngineNode.connect(qb, a, qa, ConnectOptions.DEFAULT);
        final long[] most = {0};
        network.observe((packet) ->
        {
            final int opcode = BthDescriptor.opcode(packet.buffer(), 0);
            packet.congestionMarked(areMarked && (RoceOpcode.traits(opcode) & RoceOpcode.IS_RESPONSE) != 0);
            most[0] = opcode != RoceOpcode.READ_REQUEST ? most[0] : Math.max(most[0],
                RethDescriptor.dmaLength(packet.buffer(), BthDescriptor.LENGTH_BYTES) / ConnectOptions.DEFAULT.mtu());
        });
        for (int i = 0; i < 6; i++)
        {
            most[0] = 0;
            qa.begin();
            qa.read(i, SIGNALED, a.at(0), 20_000, a.key(), b.at(0), b.key());
            assertThat(qa.complete()).isZero();
            network.settle();
        }
        assertThat(a.polled).hasSize(6);
        return most[0];
    }

    /** The initiator could send less, and is notified; its target could not. */
    @Test
    void shouldNotNotifyDcTargets()
    {
        final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
        final EngineNode a = network.addNode(64, 16);
        final EngineNode b = network.addNode(64, 16);
        final DcTarget target =
            DcRig.target(b, b.domain.createSharedReceiveQueue(16), AccessFlags.ALL_REMOTE, 4);
        final RoceQueuePair initiator = DcRig.initiator(a, 256, 14, 7);
        network.observe((packet) -> packet.congestionMarked(true));
        initiator.begin();
        initiator.write(1, SIGNALED, a.at(0), 2_000, a.key(), b.at(0), b.key());
        initiator.toDcTarget(DcRig.to(a, b), target.number(), DcRig.KEY);
        assertThat(initiator.complete()).isZero();
        network.settle();
        assertThat(a.polled).hasSize(1);
        assertThat(b.engine.counters().notificationsSent).isPositive();
        assertThat(a.engine.counters().notificationsSent).isZero();
    }
}
