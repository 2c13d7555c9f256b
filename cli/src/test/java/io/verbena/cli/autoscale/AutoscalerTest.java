package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.Decision.Rule;
import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The loop around the policy, on nodes that the test makes up. */
class AutoscalerTest
{
    private static final long PERIOD_MS = 1_000;
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(PERIOD_MS);

    private long nowNs = 77;
    private final Nodes nodes = new Nodes();

    /** Each live node works the same share of its time. */
    private final class Nodes implements Fleet
    {
        private final List<String> dead = new ArrayList<>();
        private final List<Integer> asked = new ArrayList<>();
        private final List<Integer> spareNumbers = new ArrayList<>();
        private String spareTrouble;
        private int live = 1;
        private int silent;
        private double share;
        private long busyNs;
        private long lastNs = 77;
        private String obstacle;
        private String failure;
        private int failureStatus = ExitStatus.UNAVAILABLE;

        @Override
        public State observe()
        {
            busyNs += (long)(share * (nowNs - lastNs));
            lastNs = nowNs;
            final List<DemandSample> samples = new ArrayList<>();
            for (int i = silent; i < live; i++)
            {
                samples.add(new DemandSample("compute-" + i, nowNs, busyNs / 1_000, busyNs, busyNs, 64, 0,
                    Collections.nCopies(26, 0L), Collections.nCopies(26, busyNs / 1_000)));
            }
            return new State(live, 0, List.copyOf(dead), samples, obstacle);
        }

        @Override
        public void resize(final int wanted, final Consumer<String> progress)
        {
            asked.add(wanted);
            nowNs += PERIOD_NS;
            if (null != failure)
            {
                throw new CommandFailedException(failureStatus, failure, null);
            }
            dead.clear();
            progress.accept("compute-" + wanted + " ready: and much more");
            live = wanted;
        }

        @Override
        public String keepSpares(final int spares)
        {
            spareNumbers.add(spares);
            return spareTrouble;
        }
    }

    private final Autoscaler autoscaler = autoscaler(false);

    private Autoscaler autoscaler(final boolean isDryRun)
    {
        return new Autoscaler(nodes, new ScaleLimits(1, 4, 0.6, 0, 2_000, 10_000, 4, 1_000), PERIOD_MS, 2, isDryRun,
            () -> nowNs, () -> 1_234);
    }

    private DecisionRecord step()
    {
        return step(autoscaler);
    }

    private DecisionRecord step(final Autoscaler stepped)
    {
        nowNs += PERIOD_NS;
        return stepped.step();
    }

    @Test
    void shouldStartNodesAtOnceWhenThereIsNoTimeLeftAndEndThemAfterTheWindow()
    {
        assertThat(step().outcome()).as("nothing is known yet").isEqualTo(DecisionRecord.HELD);
        nodes.share = 1;
        final DecisionRecord up = step();
        assertThat(up.outcome()).isEqualTo(DecisionRecord.DONE);
        assertThat(up.decision().rule()).isEqualTo(Rule.SATURATED);
        assertThat(up.detail()).isEqualTo("in 1000 ms: compute-2 is ready");
        assertThat(up.timeMs()).isEqualTo(1_234);
        nodes.share = 0.1;
        final long beganNs = nowNs;
        DecisionRecord next = step();
        while (!next.decision().isChange())
        {
            assertThat(next.demand().useNodes()).isBetween(0.19, 0.21);
            next = step();
        }
        assertThat(nodes.asked).containsExactly(2, 1);
        assertThat(nowNs - beganNs).isBetween(10 * PERIOD_NS, 12 * PERIOD_NS);
        assertThat(next.decision().rule()).isEqualTo(Rule.LESS_USE);
    }

    @Test
    void shouldReplaceNodesThatDiedAndSlowDownWhenTheyDieAgain()
    {
        nodes.live = 1;
        nodes.dead.add("compute-2");
        final DecisionRecord first = step();
        assertThat(first.decision().rule()).isEqualTo(Rule.REPLACE);
        assertThat(first.decision().reason()).isEqualTo("compute-2 has died");
        assertThat(nodes.asked).containsExactly(2);
        int steps = 0;
        for (int death = 0; death < 6; death++)
        {
            nodes.live = 1;
            nodes.dead.add("compute-2");
            while (DecisionRecord.DONE != step().outcome())
            {
                steps++;
            }
        }
        assertThat(steps).as("1 + 2 + 4 ... s, less the periods of the launches").isBetween(40, 63);
    }

    @Test
    void shouldTryALaunchThatFailedAgainLaterAndLater()
    {
        nodes.share = 1;
        step();
        nodes.failure = "compute-2 is not ready after 60 s";
        final DecisionRecord failed = step();
        assertThat(failed.outcome()).isEqualTo(DecisionRecord.FAILED);
        assertThat(failed.detail()).isEqualTo(nodes.failure);
        for (int i = 0; i < 200; i++)
        {
            step();
        }
        assertThat(nodes.asked).hasSizeBetween(6, 12);
        nodes.failure = null;
        for (int i = 0; i < 62; i++)
        {
            step();
        }
        assertThat(nodes.live).isEqualTo(4);
    }

    @Test
    void shouldStartNothingWhileTheMetaServerIsUnreachableAndNothingInADryRun()
    {
        nodes.share = 1;
        nodes.obstacle = "the meta server is dead: './verbena up' starts it again";
        step();
        final DecisionRecord delayed = step();
        assertThat(delayed.outcome()).isEqualTo(DecisionRecord.DELAYED);
        assertThat(delayed.detail()).isEqualTo(nodes.obstacle);
        nodes.obstacle = null;
        final Autoscaler dry = autoscaler(true);
        step(dry);
        assertThat(step(dry).outcome()).isEqualTo(DecisionRecord.DRY_RUN);
        assertThat(nodes.asked).isEmpty();
    }

    @Test
    void shouldEndNoNodeWhileOneIsSilent()
    {
        nodes.live = 3;
        nodes.silent = 1;
        for (int i = 0; i < 30; i++)
        {
            assertThat(step().decision().isChange()).isFalse();
        }
        nodes.silent = 0;
        for (int i = 0; i < 30; i++)
        {
            step();
        }
        assertThat(nodes.live).isEqualTo(1);
    }

    @Test
    void shouldHaveAsManySparesAsMayStillJoin()
    {
        nodes.live = 1;
        step();
        nodes.live = 3;
        step();
        nodes.live = 4;
        nodes.spareTrouble = "spare-1 is not ready after 60 s";
        assertThat(step().detail()).isEqualTo("no spare: spare-1 is not ready after 60 s");
        assertThat(nodes.spareNumbers).containsExactly(2, 1, 0);
        nodes.obstacle = "the meta server is dead";
        step();
        step(autoscaler(true));
        assertThat(nodes.spareNumbers).as("nothing is started without a meta server, or in a dry run").hasSize(3);
    }

    @Test
    void shouldGoOnDecidingWhenWhatDiedHasNoPlaceAnyMore()
    {
        nodes.live = 4;
        nodes.dead.add("compute-5");
        step();
        nodes.share = 0.1;
        for (int i = 0; i < 30; i++)
        {
            step();
        }
        assertThat(nodes.live).isEqualTo(1);
    }

    @Test
    void shouldEndWithTheCluster()
    {
        nodes.failure = "interrupted";
        final Autoscaler gone = new Autoscaler(new Fleet()
        {
            @Override
            public State observe()
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, "no cluster is up", null);
            }

            @Override
            public void resize(final int wanted, final Consumer<String> progress)
            {
                throw new AssertionError();
            }

            @Override
            public String keepSpares(final int spares)
            {
                throw new AssertionError();
            }
        }, new ScaleLimits(1, 4, 0.6, 0, 0, 0, 1, 0), PERIOD_MS, 0, false, () -> nowNs, () -> 0);
        assertThatThrownBy(gone::step).isInstanceOf(CommandFailedException.class).hasMessage("no cluster is up");
    }

    @Test
    void shouldStartNoSparesInADryRun()
    {
        step(autoscaler(true));
        assertThat(nodes.spareNumbers).isEmpty();
    }

    @Test
    void shouldHaveNoSparesWhereNoMoreNodesMayJoinAfterAChange()
    {
        nodes.live = 2;
        nodes.share = 1;
        step();
        assertThat(step().outcome()).isEqualTo(DecisionRecord.DONE);
        assertThat(nodes.asked).containsExactly(4);
        assertThat(nodes.spareNumbers).containsExactly(2, 0);
    }

    @Test
    void shouldBeginTheDownWindowAnewWhenSomebodyElseStartsNodes()
    {
        nodes.share = 0.1;
        for (int i = 0; i < 20; i++)
        {
            assertThat(step().decision().isChange()).isFalse();
        }
        nodes.live = 4;
        for (int i = 0; i < 10; i++)
        {
            assertThat(step().decision().isChange()).as("%d s later", i).isFalse();
        }
        assertThat(step().decision().isChange()).isTrue();
    }

    @Test
    void shouldReplaceNotMoreThanMayBe()
    {
        nodes.live = 3;
        nodes.dead.addAll(List.of("compute-4", "compute-5"));
        assertThat(step().decision().rule()).isEqualTo(Rule.REPLACE);
        assertThat(nodes.asked).containsExactly(4);
    }

    @Test
    void shouldEndWhenItIsInterrupted()
    {
        nodes.share = 1;
        step();
        nodes.failure = "interrupted";
        nodes.failureStatus = ExitStatus.INTERRUPTED;
        assertThatThrownBy(this::step).isInstanceOf(CommandFailedException.class).hasMessage("interrupted");
    }

    private int stepsUntil(final String outcome)
    {
        int steps = 1;
        while (!outcome.equals(step().outcome()))
        {
            steps++;
        }
        return steps;
    }

    @Test
    void shouldTryAgainAsSoonAsTheFirstTimeAfterALaunchThatWentWell()
    {
        nodes.share = 1;
        nodes.failure = "no room";
        stepsUntil(DecisionRecord.FAILED);
        assertThat(step().demand().reportingNodes()).as("some nodes may have been started").isZero();
        final int first = 1 + stepsUntil(DecisionRecord.FAILED);
        stepsUntil(DecisionRecord.FAILED);
        assertThat(stepsUntil(DecisionRecord.FAILED)).as("after the third").isGreaterThan(first);
        nodes.failure = null;
        stepsUntil(DecisionRecord.DONE);
        nodes.failure = "no room";
        stepsUntil(DecisionRecord.FAILED);
        assertThat(stepsUntil(DecisionRecord.FAILED)).isEqualTo(first);
    }
}
