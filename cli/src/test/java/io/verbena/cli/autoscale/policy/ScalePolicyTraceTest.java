package io.verbena.cli.autoscale.policy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.function.LongToDoubleFunction;

import static org.assertj.core.api.Assertions.assertThat;

/** The policy against one who knows the load. */
class ScalePolicyTraceTest
{
    private static final long TWO_MINUTES_MS = 2 * Traces.MINUTE_MS;
    private static final double MOST_COST = 1.2;
    private static final int SEEDS = Integer.getInteger("verbena.autoscale.seeds", 10);

    /** The defaults of the command, with many nodes. */
    static ScaleLimits limits(final int maxNodes)
    {
        return new ScaleLimits(1, maxNodes, 0.6, 0, 4_000, 120_000, 4, 10_000);
    }

    private static PolicySimulation run(final LongToDoubleFunction load, final long lengthMs)
    {
        return new PolicySimulation(limits(30), 1).run(load, lengthMs);
    }

    @Test
    void shouldFollowDays()
    {
        final PolicySimulation run = run(Traces.diurnal(12), 3 * Traces.DAY_MS);
        assertThat(run.costOfOracle()).isBetween(0.9, MOST_COST);
        assertThat(run.unserved).isZero();
        assertThat(run.changes).hasSizeBetween(6, 240);
        assertThat(run.reverted(TWO_MINUTES_MS)).isZero();
    }

    @Test
    void shouldFollowNoisyDays()
    {
        final PolicySimulation run = run(Traces.noisy(Traces.diurnal(12), 0.1, 1), 3 * Traces.DAY_MS);
        assertThat(run.costOfOracle()).isBetween(0.9, MOST_COST);
        assertThat(run.unservedPart()).isLessThan(1e-6);
    }

    /** From one node to what 4.8 nodes do, from one moment to the next, for a quarter of an hour in each hour. */
    @Test
    void shouldFollowSpikes()
    {
        final PolicySimulation run =
            run(Traces.spikes(0.3, 4.8, Traces.HOUR_MS, 15 * Traces.MINUTE_MS), Traces.DAY_MS);
        assertThat(run.costOfOracle()).isBetween(0.9, MOST_COST);
        assertThat(run.longestShortage).as("periods: 1 -> 2 -> 4 -> 8").isLessThanOrEqualTo(3);
        assertThat(run.unservedPart()).isLessThan(0.01);
        assertThat(run.nodes).as("in the last spike").isEqualTo(8);
    }

    /** For five minutes of each half hour. */
    @Test
    void shouldFollowShortSpikes()
    {
        final PolicySimulation run =
            run(Traces.spikes(0.3, 4.8, Traces.HOUR_MS / 2, 5 * Traces.MINUTE_MS), Traces.DAY_MS);
        assertThat(run.costOfOracle()).isBetween(0.9, MOST_COST);
        assertThat(run.unservedPart()).isLessThan(0.01);
        assertThat(run.reverted(TWO_MINUTES_MS)).isZero();
    }

    @Test
    void shouldFollowASawtooth()
    {
        final PolicySimulation run = run(Traces.sawtooth(6, Traces.HOUR_MS), Traces.DAY_MS);
        assertThat(run.costOfOracle()).isBetween(0.9, MOST_COST);
        assertThat(run.unserved).isZero();
    }

    @Test
    void shouldRestAtOneNodeAndComeBackFromIt()
    {
        final PolicySimulation run = new PolicySimulation(limits(8), 8);
        run.run(Traces.constant(0), 10 * Traces.MINUTE_MS);
        assertThat(run.nodes).isEqualTo(1);
        assertThat(run.changes.getFirst().atMs()).isEqualTo(120_000);
        assertThat(run.changes).hasSize(2);
        final PolicySimulation again = new PolicySimulation(limits(8), 1);
        again.run((ms) -> ms < TWO_MINUTES_MS ? 0 : 4, 3 * Traces.MINUTE_MS);
        assertThat(again.nodes).isEqualTo(8);
        assertThat(again.changes.getLast().atMs()).isEqualTo(TWO_MINUTES_MS + 2 * PolicySimulation.PERIOD_MS);
    }

    private static final double WANDERING = 0.05;

    /** Independent noise and bursts of any of these sizes; noise that lasts for some 40 s, or 400 s, up to 5 %. */
    @ParameterizedTest
    @ValueSource(doubles = {0.05, 0.1, 0.2})
    void shouldRevertNothingWhileALoadIsConstantButNoisy(final double deviation)
    {
        long reverted = 0;
        long changes = 0;
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final double load = 0.2 + 8.2 * seed / SEEDS;
            final LongToDoubleFunction constant = Traces.constant(load);
            for (final LongToDoubleFunction noise : new LongToDoubleFunction[]{
                Traces.noisy(constant, deviation, seed), Traces.bursty(constant, 0.02, 1 + deviation, seed),
                Traces.wandering(constant, Math.min(deviation, WANDERING), 0.95, seed),
                Traces.wandering(constant, Math.min(deviation, WANDERING), 0.995, seed)})
            {
                final PolicySimulation run = new PolicySimulation(limits(30), 1 + seed % 20);
                run.run(noise, Traces.HOUR_MS);
                reverted += run.reverted(TWO_MINUTES_MS);
                changes += run.changes.size();
            }
        }
        assertThat(changes).isPositive();
        assertThat(reverted).isZero();
    }
}
