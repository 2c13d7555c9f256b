package io.verbena.table;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Engines whose clients write the same key at the same time: they are combined, and it must not show. */
class CombinedRaceSimTest
{
    private static final long SEEDS = Long.getLong("verbena.table.combinedSeeds", 150);
    private static final int MOST_MUTATION_SEEDS = 1000;
    private static final long FIRST_SEED = Long.getLong("verbena.table.firstSeed", 1);

    @Test
    void shouldStayLinearizableWhenManyWriteTheSameKey()
    {
        final EngineCounters sum = new EngineCounters();
        long merges = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.combining(seed)))
            {
                assertThat(run.run()).as("seed %d", seed).isNull();
                merges += run.merges();
                sum.combined += run.counters().combined;
                sum.answered += run.counters().answered;
                for (int i = 0; i < sum.results.length; i++)
                {
                    sum.results[i] += run.counters().results[i];
                }
            }
        }
        System.out.println("combined=" + sum.combined + " answered=" + sum.answered + " merges=" + merges +
            " unknown=" + sum.results[OperationResult.OUTCOME_UNKNOWN]);
        assertThat(sum.combined).isGreaterThan(SEEDS);
        assertThat(sum.answered).isGreaterThan(SEEDS);
        assertThat(merges).isPositive();
        assertThat(sum.results[OperationResult.OUTCOME_UNKNOWN]).isGreaterThan(SEEDS);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"MEMBERS_TOLD_LAST", "ANSWERED_IN_TIME", "ANSWERED_BY_CERTAINTY",
        "ANSWERED_BY_VERSION"})
    void shouldFindViolationWhenGuardIsDropped(final String guard) throws ReflectiveOperationException
    {
        final int bits = (int)CombinerGuard.class.getDeclaredField(guard).get(null);
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_MUTATION_SEEDS)
        {
            final StepShape shape = StepShape.combining(seed);
            shape.droppedCombinerGuards = bits;
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        System.out.println(guard + " shown by seed " + seed);
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }
}
