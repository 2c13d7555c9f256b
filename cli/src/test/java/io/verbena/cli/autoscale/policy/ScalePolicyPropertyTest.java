package io.verbena.cli.autoscale.policy;

import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** What holds for any limits and any demand. */
class ScalePolicyPropertyTest
{
    private static final int SEEDS = Integer.getInteger("verbena.autoscale.seeds", 25);

    private static ScaleLimits limits(final Random random)
    {
        final int min = 1 + random.nextInt(4);
        return new ScaleLimits(min, min + random.nextInt(20), 0.2 + 0.7 * random.nextDouble(),
            random.nextBoolean() ? 0 : 60 + random.nextInt(500), 1_000L * random.nextInt(10),
            1_000L * random.nextInt(200), 1 + random.nextInt(8), 1_000L * random.nextInt(30));
    }

    /** Demand without rhyme or reason, nodes that are silent, nodes that come and go by themselves. */
    @Test
    void shouldNeverLeaveTheLimitsNorStepTooFar()
    {
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final Random random = new Random(seed);
            final ScaleLimits limits = limits(random);
            final ScalePolicy policy = new ScalePolicy(limits);
            int nodes = random.nextInt(25);
            long nowMs = random.nextLong(1L << 40);
            for (int i = 0; i < 300; i++)
            {
                nowMs += random.nextInt(5_000);
                final int reporting = random.nextInt(4) > 0 ? nodes : random.nextInt(nodes + 1);
                final double use = reporting * random.nextDouble();
                final Demand demand = 0 == reporting ? Demand.NONE :
                    new Demand(reporting, use, use * 1_000, random.nextInt(1_000), 0, use);
                final Decision decision = policy.decide(nowMs, nodes, demand);
                final String as = "seed " + seed + " step " + i + " " + limits + " " + demand + " " + decision;
                assertThat(decision.fromNodes()).as(as).isEqualTo(nodes);
                assertThat(decision.toNodes()).as(as).isBetween(limits.minNodes(), limits.maxNodes());
                assertThat(Decision.Rule.HOLD == decision.rule()).as(as).isEqualTo(!decision.isChange());
                assertThat(decision.reason()).as(as).isNotBlank().doesNotContain("\n");
                if (Decision.Rule.LIMITS != decision.rule())
                {
                    assertThat(Math.abs(decision.toNodes() - nodes)).as(as).isLessThanOrEqualTo(limits.stepNodes());
                }
                if (reporting < nodes && Decision.Rule.LIMITS != decision.rule())
                {
                    assertThat(decision.toNodes()).as(as).isGreaterThanOrEqualTo(nodes);
                }
                final int next = random.nextInt(20) > 0 ? decision.toNodes() : random.nextInt(25);
                if (next != nodes)
                {
                    policy.changed(nowMs, nodes, next);
                    nodes = next;
                }
            }
        }
    }

    /** One number for a constant load: up, then down, and with an objective at most one up more. */
    @Test
    void shouldComeToRestUnderConstantLoad()
    {
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final Random random = new Random(seed);
            final ScaleLimits limits = limits(random);
            final double load = 12 * random.nextDouble();
            final int first = limits.minNodes() + random.nextInt(limits.maxNodes() - limits.minNodes() + 1);
            final PolicySimulation run = new PolicySimulation(limits, first);
            run.run(Traces.constant(load), 3 * Traces.HOUR_MS);
            final String as = "seed " + seed + " load " + load + " " + limits + " " + run.changes;
            long upsAfterDowns = 0;
            for (int i = 1; i < run.changes.size(); i++)
            {
                final PolicySimulation.Change last = run.changes.get(i - 1);
                final PolicySimulation.Change change = run.changes.get(i);
                upsAfterDowns += change.isUp() && !last.isUp() ? 1 : 0;
                if (last.isUp() && !change.isUp())
                {
                    assertThat(change.atMs() - last.atMs()).as(as).isGreaterThanOrEqualTo(limits.downWindowMs());
                }
            }
            assertThat(upsAfterDowns).as(as).isLessThanOrEqualTo(limits.objectiveUs() > 0 ? 1 : 0);
            assertThat(run.changes.isEmpty() || run.changes.getLast().atMs() < 2 * Traces.HOUR_MS).as(as).isTrue();
            final double share = load / run.nodes;
            assertThat(run.nodes == limits.maxNodes() || share <= limits.targetShare() * 1.1 + 1e-9).as(as).isTrue();
            assertThat(run.nodes == limits.minNodes() || limits.objectiveUs() > 0 ||
                load / (run.nodes - 1) > limits.targetShare() * 0.9 - 1e-9).as(as).isTrue();
        }
    }
}
