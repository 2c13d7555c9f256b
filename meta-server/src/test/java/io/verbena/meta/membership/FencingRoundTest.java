package io.verbena.meta.membership;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class FencingRoundTest
{
    private static final long RETRY_NS = 100;

    private final FencingRound round = new FencingRound(7, 70, RETRY_NS);
    private final List<Integer> calls = new ArrayList<>();
    private final FencingRound.FenceCaller caller = (memoryNodeId, of) -> calls.add(memoryNodeId);

    @Test
    void shouldBeCompleteWhenThereIsNobodyToTell()
    {
        assertThat(round.isComplete()).isTrue();
        assertThat(round.doWork(0, caller)).isZero();
    }

    @Test
    void shouldAskEachOnceUntilItAnswers()
    {
        round.addTarget(1, 0);
        round.addTarget(2, 0);
        assertThat(round.doWork(0, caller)).isEqualTo(2);
        assertThat(round.doWork(10 * RETRY_NS, caller)).isZero();
        round.onAnswer(1, true, 0);
        assertThat(round.isComplete()).isFalse();
        round.onAnswer(2, true, 0);
        assertThat(round.isComplete()).isTrue();
        assertThat(calls).containsExactlyInAnyOrder(1, 2);
    }

    @Test
    void shouldAskAgainAfterThePauseWhenNotConfirmed()
    {
        round.addTarget(1, 0);
        round.doWork(0, caller);
        round.onAnswer(1, false, 5);
        assertThat(round.doWork(5 + RETRY_NS - 1, caller)).isZero();
        assertThat(round.doWork(5 + RETRY_NS, caller)).isEqualTo(1);
        assertThat(round.toString()).contains("waitsFor=1").contains("failures=1");
    }

    @Test
    void shouldEndThoughAnswersComeAtOnceOrLate()
    {
        round.addTarget(1, 0);
        round.addTarget(2, 0);
        round.doWork(0, (memoryNodeId, of) -> of.onAnswer(memoryNodeId, 1 == memoryNodeId, 0));
        assertThat(round.isPending(1)).isFalse();
        assertThat(round.isPending(2)).isTrue();
        round.settle(2);
        round.onAnswer(2, false, 0);
        assertThat(round.isComplete()).isTrue();
    }
}
