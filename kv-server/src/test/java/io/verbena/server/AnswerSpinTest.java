package io.verbena.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Polls between a request and the sleep. */
class AnswerSpinTest
{
    private static final long POLL_NS = 2_000;

    private final AnswerSpin spin = new AnswerSpin();
    private long nowNs = -1_000_000;

    private int polls()
    {
        int polls = 0;
        while (spin.polls(nowNs += POLL_NS))
        {
            polls++;
        }
        return polls;
    }

    @Test
    void shouldPollAsLongAsAnAnswerTakes()
    {
        assertThat(polls()).isEqualTo((int)(AnswerSpin.SPIN_NS / POLL_NS));
        assertThat(polls()).as("until something arrives").isZero();
        nowNs += AnswerSpin.CROWDED_NS; // asleep
        assertThat(polls()).isZero();
        spin.onWork();
        assertThat(polls()).as("the sleep was none between two polls").isEqualTo((int)(AnswerSpin.SPIN_NS / POLL_NS));
    }

    @Test
    void shouldSleepAtOnceWhileOthersWantTheProcessor()
    {
        assertThat(spin.polls(nowNs)).isTrue();
        nowNs += AnswerSpin.GAP_NS + 1;
        assertThat(spin.polls(nowNs)).isFalse();
        spin.onWork();
        assertThat(polls()).isZero();
        nowNs += AnswerSpin.CROWDED_NS; // asleep, and woken by something else
        assertThat(polls()).isZero();
        spin.onWork();
        assertThat(polls()).as("the sleep was no sign of others").isPositive();
    }
}
