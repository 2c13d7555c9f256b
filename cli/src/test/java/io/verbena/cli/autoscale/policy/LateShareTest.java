package io.verbena.cli.autoscale.policy;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LateShareTest
{
    private static final double TARGET = 0.6;
    private static final double OBJECTIVE_US = 1_000;
    private static final long DOWN_MS = 20_000;

    private final LateShare late = of(OBJECTIVE_US);

    private static LateShare of(final double objectiveUs)
    {
        return new LateShare(new ScaleLimits(1, 10, TARGET, objectiveUs, 4_000, DOWN_MS, 2, 5_000));
    }

    /** Of one node, which works this share of its time. */
    private static Demand demand(final double share, final double p99Us)
    {
        return new Demand(1, share, 0, p99Us, 0, 0);
    }

    private void noteLate(final long nowMs, final double share)
    {
        late.note(nowMs, demand(share, 5_000), true);
    }

    private void noteInTime(final long nowMs, final double share)
    {
        late.note(nowMs, demand(share, 10), false);
    }

    private double downShare()
    {
        return late.downShare(demand(0.1, 10));
    }

    @Test
    void shouldBeLateAboveTheObjectiveOnly()
    {
        assertThat(late.isLate(demand(0.5, OBJECTIVE_US))).isFalse();
        assertThat(late.isLate(demand(0.5, OBJECTIVE_US + 1))).isTrue();
        assertThat(of(0).isLate(demand(0.5, 1e9))).as("without an objective").isFalse();
    }

    @Test
    void shouldAllowTheTargetUntilResponsesWereLate()
    {
        assertThat(downShare()).isEqualTo(TARGET);
        assertThat(late.downShare(demand(0.1, 5_000))).as("late at idle nodes").isEqualTo(TARGET / 2);
    }

    @Test
    void shouldRememberTheSmallestShareAtWhichResponsesWereLate()
    {
        noteLate(0, 0.5);
        noteLate(1_000, 0.4);
        noteLate(2_000, 0.45);
        assertThat(downShare()).isEqualTo(0.4);
    }

    @Test
    void shouldLearnALargerShareWhenResponsesWereInTimeForADownWindow()
    {
        noteLate(100_000, 0.3);
        noteInTime(100_001, 0.5);
        noteInTime(100_000 + DOWN_MS - 1, 0.2);
        assertThat(downShare()).isEqualTo(0.3);
        noteInTime(100_000 + DOWN_MS, 0.2);
        assertThat(downShare()).as("the largest one of the window").isEqualTo(0.5);
    }

    @Test
    void shouldBeginTheWindowAnewWhenResponsesAreLateAgain()
    {
        noteInTime(0, 0.2);
        noteLate(100_000, 0.3);
        noteInTime(110_000, 0.5);
        late.note(115_000, demand(0.1, 5_000), false); // late at idle nodes, which teaches nothing else
        noteInTime(100_000 + DOWN_MS, 0.55);
        assertThat(downShare()).isEqualTo(0.3);
        noteInTime(115_000 + DOWN_MS, 0.4);
        assertThat(downShare()).isEqualTo(0.55);
    }
}
