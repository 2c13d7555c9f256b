package io.verbena.rdma.roce.engine;

import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** When a requester acts by itself. */
class RequesterTimersTest
{
    private static final int TIMEOUT = 14;
    private static final long TIMEOUT_NS = 4_096L << TIMEOUT;
    /** As long as no round trip was measured. */
    private static final long PROBE_NS = 4_000_000;
    /** As a code. */
    private static final int RNR = 20;
    private static final long RNR_NS = 10_240_000;
    private static final long ROUND_NS = 1_000_000;
    private static final long START_NS = 1_000;
    private static final int RETRIES = 2;

    private final LossyNetwork network = new LossyNetwork(1, LossyNetwork.Faults.NONE);
    private final EngineNode node = network.addNode(64, 16);
    private final RoceQueuePair queuePair = node.createQueuePair(QueuePairType.RC, null);
    private final RequesterTimers timers = new RequesterTimers(queuePair.port);
    private final RequesterTimers.RetryState retries = timers.retries;
    private final CongestionWindow congestion = timers.congestion;

    @BeforeEach
    void configure()
    {
        // Only time passes: the queue pair has a requester, which would set its own deadlines.
        network.remove(node);
        configure(TIMEOUT, 1);
        network.elapse(START_NS);
    }

    private void configure(final int timeout, final int rnrRetries)
    {
        retries.configure(new QueuePairAttributes().timeout(timeout).retryCount(RETRIES).rnrRetry(rnrRetries));
        retries.onProgress();
    }

    private void assertDeadline(final long expectedNs)
    {
        assertThat(queuePair.deadlineNs()).isEqualTo(expectedNs);
    }

    private void assertNoDeadline()
    {
        assertDeadline(RetryTimers.NEVER_NS);
    }

    /** A round trip was measured, and something lost: what is sent is paced. */
    private void cut()
    {
        congestion.onSent(1, true, network.nowNs());
        network.elapse(ROUND_NS);
        congestion.onProgress(0, 1, network.nowNs());
        congestion.onLoss(1, 17);
    }

    @Test
    void shouldFindAnAnswerLateBeforeItIsOverdue()
    {
        timers.arm(START_NS);
        assertDeadline(START_NS + PROBE_NS);
        assertThat(timers.isLate(START_NS + PROBE_NS - 1)).isFalse();
        assertThat(timers.isLate(START_NS + PROBE_NS)).isTrue();
        assertThat(timers.isOver(START_NS + TIMEOUT_NS - 1)).isFalse();
        assertThat(timers.isOver(START_NS + TIMEOUT_NS)).isTrue();
    }

    @Test
    void shouldWaitFromTheFirstRequestOn()
    {
        timers.arm(START_NS);
        timers.arm(START_NS + 77);
        assertDeadline(START_NS + PROBE_NS);
        assertThat(timers.isOver(START_NS + TIMEOUT_NS)).isTrue();
    }

    @Test
    void shouldActAtATimeoutThatIsOverBeforeAnAnswerIsLate()
    {
        configure(6, 1);
        timers.arm(START_NS);
        assertDeadline(START_NS + (4_096 << 6));
    }

    @Test
    void shouldFindAnswersLateThoughTheyAreNeverOverdue()
    {
        configure(0, 1);
        timers.arm(START_NS);
        assertDeadline(START_NS + PROBE_NS);
        assertThat(timers.isOver(Long.MAX_VALUE - 1)).isFalse();
    }

    @Test
    void shouldDoNothingWhenNothingIsAwaited()
    {
        timers.arm(START_NS);
        timers.disarm();
        assertNoDeadline();
        assertThat(timers.isLate(Long.MAX_VALUE - 1)).isFalse();
        assertThat(timers.isOver(Long.MAX_VALUE - 1)).isFalse();
    }

    /** Before that no answer can come; and once it is over, none is awaited before something is sent. */
    @Test
    void shouldFindNothingLateWhileItWaitsForAReceiveNorBehindThat()
    {
        timers.arm(START_NS);
        timers.awaitReceive(RNR);
        final long endNs = START_NS + RNR_NS;
        assertDeadline(endNs);
        assertThat(retries.isWaiting()).isTrue();
        assertThat(timers.isLate(endNs)).isFalse();
        assertThat(timers.isOver(endNs - 1)).isFalse();
        assertThat(timers.isOver(endNs)).isTrue();
        retries.endWait();
        timers.update();
        assertNoDeadline();
        assertThat(retries.isWaiting()).isFalse();
        assertThat(timers.isLate(endNs)).isFalse();
        assertThat(timers.isOver(endNs)).isFalse();
        timers.arm(endNs);
        assertDeadline(endNs + PROBE_NS);
    }

    @Test
    void shouldFindNothingLateWhenTheNextPacketMayLeave()
    {
        cut();
        timers.arm(network.nowNs());
        final long lateNs = network.nowNs() + 3 * ROUND_NS;
        assertDeadline(lateNs);
        congestion.pace(8, network.nowNs());
        final long sendNs = congestion.sendNs();
        assertThat(sendNs).isBetween(network.nowNs() + 1, lateNs - 1);
        assertThat(timers.isPaced()).isTrue();
        assertDeadline(sendNs);
        assertThat(timers.isOver(sendNs - 1)).isFalse();
        timers.update();
        assertDeadline(sendNs);
        assertThat(timers.isOver(sendNs)).isFalse();
        assertThat(timers.isLate(sendNs)).isFalse();
        timers.update();
        assertDeadline(lateNs);
        network.elapse(sendNs - network.nowNs() - 1);
        assertThat(timers.isPaced()).isTrue();
        network.elapse(1);
        assertThat(timers.isPaced()).isFalse();
    }

    @Test
    void shouldPaceNothingBeforeALoss()
    {
        timers.onSent(1, 8, true);
        assertThat(timers.isPaced()).isFalse();
    }

    @Test
    void shouldAwaitAnAnswerToWhatIsSentAndMeasureIt()
    {
        timers.onSent(1, 1, true);
        assertDeadline(START_NS + PROBE_NS);
        network.elapse(ROUND_NS);
        timers.onSent(2, 1, true);
        assertDeadline(START_NS + PROBE_NS);
        congestion.onProgress(0, 1, network.nowNs());
        assertThat(congestion.probeNs(0)).isEqualTo(3 * ROUND_NS);
    }

    @Test
    void shouldAwaitAnAnswerThoughTheRoundTripOfAnEarlierPacketIsMeasured()
    {
        timers.onSent(1, 1, true);
        timers.disarm();
        timers.onSent(2, 1, true);
        assertDeadline(START_NS + PROBE_NS);
    }

    @Test
    void shouldMeasureNothingThatIsSentOnceMore()
    {
        cut();
        timers.onSent(2, 1, false);
        network.elapse(50 * ROUND_NS);
        congestion.onProgress(1, 2, network.nowNs());
        assertThat(congestion.probeNs(0)).isEqualTo(3 * ROUND_NS);
    }

    /** Also what is sent while an answer is awaited. */
    @Test
    void shouldPutOffWhatFollowsByAllThatARequestAsksFor()
    {
        cut();
        timers.onSent(2, 4, true);
        final long beforeNs = congestion.sendNs();
        timers.onSent(6, 12, true);
        assertThat(congestion.sendNs() - beforeNs).isBetween(ROUND_NS - 12, ROUND_NS);
    }

    @Test
    void shouldWaitLongerForEachRepetitionAsFarAsItGoes()
    {
        timers.arm(START_NS);
        assertThat(retries.mayRepeat()).isTrue();
        timers.repeat(START_NS);
        timers.update();
        assertDeadline(START_NS + 2 * PROBE_NS);
        assertThat(congestion.packets()).isEqualTo(1);
        assertThat(timers.isOver(START_NS + 2 * TIMEOUT_NS - 1)).isFalse();
        assertThat(timers.isOver(START_NS + 2 * TIMEOUT_NS)).isTrue();
        assertThat(retries.mayRepeat()).isTrue();
        timers.repeat(START_NS);
        assertThat(timers.isOver(START_NS + 4 * TIMEOUT_NS - 1)).isFalse();
        assertThat(timers.isOver(START_NS + 4 * TIMEOUT_NS)).isTrue();
        assertThat(retries.mayRepeat()).isFalse();
        timers.repeat(START_NS);
        assertThat(timers.isOver(START_NS + 4 * TIMEOUT_NS)).isTrue();
    }

    @Test
    void shouldBeginAnewWithAnyProgress()
    {
        timers.arm(START_NS);
        timers.repeat(START_NS);
        timers.repeat(START_NS);
        retries.onProgress();
        assertThat(retries.mayRepeat()).isTrue();
        assertThat(retries.isArmed()).isFalse();
        timers.arm(START_NS);
        assertThat(timers.isOver(START_NS + TIMEOUT_NS)).isTrue();
    }

    @Test
    void shouldAskEachTimeLaterWithTheLastPacketAndThenTheFirst()
    {
        timers.arm(START_NS);
        assertThat(timers.onProbe(START_NS + PROBE_NS)).isTrue();
        timers.update();
        assertDeadline(START_NS + 3 * PROBE_NS);
        assertThat(timers.onProbe(START_NS + 3 * PROBE_NS)).isFalse();
        timers.update();
        assertDeadline(START_NS + 7 * PROBE_NS);
        assertThat(retries.mayRepeat()).isTrue();
    }

    @Test
    void shouldWaitForAReceiveAsOftenAsItMay()
    {
        assertThat(retries.mayWaitForReceive()).isTrue();
        timers.awaitReceive(RNR);
        assertThat(retries.mayWaitForReceive()).isFalse();
        retries.onProgress();
        assertThat(retries.isWaiting()).isFalse();
        assertThat(retries.mayWaitForReceive()).isTrue();
        configure(TIMEOUT, RetryTimers.RNR_RETRY_FOR_EVER);
        for (int i = 0; i <= RetryTimers.RNR_RETRY_FOR_EVER; i++)
        {
            timers.awaitReceive(RNR);
            assertThat(retries.mayWaitForReceive()).isTrue();
        }
    }

    /** The peer is there: losses before that do not count. */
    @Test
    void shouldBeginAnewWithRepetitionsBehindAWait()
    {
        timers.arm(START_NS);
        timers.repeat(START_NS);
        timers.repeat(START_NS);
        timers.awaitReceive(RNR);
        retries.endWait();
        assertThat(retries.mayRepeat()).isTrue();
        timers.arm(START_NS);
        assertThat(timers.isOver(START_NS + TIMEOUT_NS)).isTrue();
    }

    @Test
    void shouldForgetTheWayWhenItBeginsAnew()
    {
        cut();
        congestion.pace(8, network.nowNs());
        assertThat(timers.isPaced()).isTrue();
        timers.clear();
        timers.update();
        assertNoDeadline();
        assertThat(timers.isPaced()).isFalse();
        assertThat(congestion.packets()).isEqualTo(CongestionWindow.INITIAL_PACKETS);
        assertThat(congestion.probeNs(0)).isEqualTo(PROBE_NS);
    }
}
