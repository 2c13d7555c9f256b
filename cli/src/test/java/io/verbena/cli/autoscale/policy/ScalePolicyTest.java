package io.verbena.cli.autoscale.policy;

import io.verbena.cli.autoscale.policy.Decision.Rule;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each rule of the policy by itself, a second after the other. */
class ScalePolicyTest
{
    private static final long UP_S = 4;
    private static final long DOWN_S = 20;

    private final ScalePolicy policy = new ScalePolicy(
        new ScaleLimits(1, 10, 0.6, 1_000, UP_S * 1_000, DOWN_S * 1_000, 2, 5_000));
    private long nowS;

    private Decision decide(final int nodes, final int reporting, final double useNodes, final double p99Us)
    {
        return policy.decide(1_000 * nowS++, nodes, new Demand(reporting, useNodes, 0, p99Us, 0, 0));
    }

    private Decision decide(final int nodes, final double useNodes)
    {
        return decide(nodes, nodes, useNodes, 0);
    }

    private void changed(final int from, final int to)
    {
        policy.changed(1_000 * nowS, from, to);
    }

    private void shouldHoldFor(final long seconds, final int nodes, final double useNodes)
    {
        for (long i = 0; i < seconds; i++)
        {
            assertThat(decide(nodes, useNodes)).matches((decision) -> !decision.isChange());
        }
    }

    @Test
    void shouldAskForTwiceAsManyAtOnceWhereNodesHaveNoTimeLeft()
    {
        final Decision decision = decide(3, 2.8);
        assertThat(decision.rule()).isEqualTo(Rule.SATURATED);
        assertThat(decision.neededNodes()).isEqualTo(6);
        assertThat(decision.toNodes()).as("a step").isEqualTo(5);
    }

    @Test
    void shouldBeSaturatedFromNineTenthsOn()
    {
        assertThat(decide(1, ScalePolicy.SATURATED_SHARE).rule()).isEqualTo(Rule.SATURATED);
        assertThat(decide(1, 0.899).rule()).isEqualTo(Rule.HOLD);
    }

    @Test
    void shouldStartANodeThatWasNeededForTheWholeUpWindow()
    {
        shouldHoldFor(30, 1, 0.65); // within the band
        shouldHoldFor(UP_S, 1, 0.67);
        assertThat(decide(1, 0.67).toNodes()).isEqualTo(2);
    }

    @Test
    void shouldWaitForTheUpWindowFromTheBeginningAndFromEachChange()
    {
        shouldHoldFor(UP_S, 1, 0.67);
        changed(3, 1);
        shouldHoldFor(UP_S, 1, 0.67);
        assertThat(decide(1, 0.67).toNodes()).isEqualTo(2);
    }

    @Test
    void shouldStartANodeForLateResponsesOfBusyNodesOnly()
    {
        for (int i = 0; i < 10; i++)
        {
            assertThat(decide(1, 1, 0.2, 5_000).isChange()).as("idle nodes are not why").isFalse();
        }
        for (int i = 0; i < UP_S; i++)
        {
            assertThat(decide(1, 1, 0.35, 5_000).isChange()).isFalse();
        }
        final Decision decision = decide(1, 1, 0.35, 5_000);
        assertThat(decision.rule()).isEqualTo(Rule.OBJECTIVE);
        assertThat(decision.toNodes()).isEqualTo(2);
    }

    @Test
    void shouldCountNodesWithoutFiguresAsNeededAndEndNone()
    {
        assertThat(decide(3, 2, 1.5, 0).neededNodes()).isEqualTo(4);
        for (int i = 0; i < 3 * DOWN_S; i++)
        {
            assertThat(decide(3, 2, 0.1, 0).reason()).contains("1 node without figures");
        }
    }

    /** What they did meanwhile is not known. */
    @Test
    void shouldBeginTheWindowsAnewWhenAllNodesReportAgain()
    {
        for (int i = 0; i < 2 * DOWN_S; i++)
        {
            assertThat(decide(3, 2, 0.1, 0).isChange()).isFalse();
        }
        shouldHoldFor(DOWN_S / 2, 3, 0.1); // one is less than half of them
        assertThat(decide(3, 0.1).toNodes()).isEqualTo(1);
    }

    @Test
    void shouldEndNodesAfterTheDownWindowAndAfterHalfOfItWhereHalfOfThemDo()
    {
        shouldHoldFor(DOWN_S + 5, 6, 3);
        shouldHoldFor(DOWN_S, 6, 2.5);
        final Decision one = decide(6, 2.5);
        assertThat(one.rule()).isEqualTo(Rule.LESS_USE);
        assertThat(one.toNodes()).isEqualTo(5);

        shouldHoldFor(DOWN_S + 5, 6, 3);
        shouldHoldFor(DOWN_S / 2, 6, 0.5);
        assertThat(decide(6, 0.5).toNodes()).as("a step").isEqualTo(4);
    }

    @Test
    void shouldKeepABandBelowTheTarget()
    {
        shouldHoldFor(3 * DOWN_S, 2, 0.57);
        shouldHoldFor(DOWN_S / 2, 2, 0.53); // one is half of them
        assertThat(decide(2, 0.53).toNodes()).isEqualTo(1);
    }

    @Test
    void shouldKeepNodesThatTheNextDeviationWouldStartAgain()
    {
        for (int i = 0; i < 3 * DOWN_S; i++)
        {
            assertThat(decide(3, 0 == i % 2 ? 0.9 : 1.05).isChange()).isFalse();
        }
    }

    @Test
    void shouldBeginTheDownWindowAnewWhenNodesWereStarted()
    {
        shouldHoldFor(2 * DOWN_S, 1, 0.3);
        changed(1, 4);
        shouldHoldFor(DOWN_S, 4, 0.3);
        assertThat(decide(4, 0.3).toNodes()).isEqualTo(2);
    }

    @Test
    void shouldCoolDownAfterNodesWereEnded()
    {
        shouldHoldFor(DOWN_S, 6, 0.3);
        assertThat(decide(6, 0.3).toNodes()).isEqualTo(4);
        changed(6, 4);
        shouldHoldFor(5, 4, 0.3);
        assertThat(decide(4, 0.3).toNodes()).isEqualTo(2);
    }

    @Test
    void shouldWaitLongerAfterEachDecisionThatWasTooEarlyUpToEightTimes()
    {
        decide(2, 0.3);
        changed(2, 1);
        changed(1, 2);
        shouldHoldFor(2 * DOWN_S, 2, 0.3);
        assertThat(decide(2, 0.3).toNodes()).isEqualTo(1);
        for (int i = 0; i < 6; i++)
        {
            changed(2, 1);
            changed(1, 2);
        }
        shouldHoldFor(8 * DOWN_S, 2, 0.3);
        assertThat(decide(2, 0.3).toNodes()).isEqualTo(1);
    }

    @Test
    void shouldLengthenTheDownWindowAfterReversionsWithinFiveOfThem()
    {
        decide(2, 0.3);
        changed(2, 1);
        nowS += 5 * DOWN_S - 1;
        changed(1, 2);
        shouldHoldFor(2 * DOWN_S, 2, 0.3);
        assertThat(decide(2, 0.3).toNodes()).isEqualTo(1);
        changed(2, 1);
        nowS += 5 * DOWN_S;
        changed(1, 2);
        shouldHoldFor(DOWN_S, 2, 0.3);
        assertThat(decide(2, 0.3).toNodes()).as("the window is the first one again").isEqualTo(1);
    }

    /** 4.2 / 0.6 is a little more than 7 in binary fractions. */
    @Test
    void shouldNeedNoNodeForARoundingError()
    {
        assertThat(decide(8, 4.2).neededNodes()).isEqualTo(7);
    }
}
