package io.verbena.table;

import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        long undecided = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.combining(seed)))
            {
                final String problem = run.run();
                final boolean isUndecided = problem != null && problem.contains("a bound was hit");
                undecided += isUndecided ? 1 : 0;
                assertThat(isUndecided ? null : problem).as("seed %d", seed).isNull();
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
            " unknown=" + sum.results[OperationResult.OUTCOME_UNKNOWN] + " undecided=" + undecided);
        assertThat(undecided).as("more than the checker can think of").isLessThanOrEqualTo(SEEDS / 1000);
        assertThat(sum.combined).isGreaterThan(SEEDS);
        assertThat(sum.answered).isGreaterThan(SEEDS);
        assertThat(merges).isPositive();
        assertThat(sum.results[OperationResult.OUTCOME_UNKNOWN]).isGreaterThan(SEEDS);
    }

    /** A lost PUT that had taken effect was done again: a batch was noted with a word that it had not replaced. */
    @Test
    void shouldTakeEffectOnceInARunThatFailedOnce()
    {
        try (StepRun run = new StepRun(2045467, StepShape.combining(2045467)))
        {
            assertThat(run.run()).isNull();
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"MEMBERS_TOLD_LAST, 1, lost update", "ANSWERED_IN_TIME, 1, stale answer",
        "ANSWERED_BY_CERTAINTY, 1, a record is missed", "ANSWERED_BY_VERSION, 940, lost update"})
    void shouldFindViolationWhenMutated(final String name, final long firstSeed, final String symptom)
    {
        MutationSearch.shouldShow(
            symptom, firstSeed, MOST_MUTATION_SEEDS, TableMutation.named(name), StepShape::combining);
    }
}
