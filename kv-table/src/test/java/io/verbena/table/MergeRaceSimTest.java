package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.TableMutation;
import io.verbena.test.Mutation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines that race on few keys while subtables are split and merged all the time, and old memory is used again. */
class MergeRaceSimTest
{
    private static final long SEEDS = Long.getLong("verbena.table.mergeSeeds", 200);
    private static final long FIRST_SEED = Long.getLong("verbena.table.firstSeed", 1);
    private static final int MOST_MUTATION_SEEDS = 2000;

    @Test
    void shouldStayLinearizableWhileSubtablesAreSplitAndMerged()
    {
        final StringBuilder wrong = new StringBuilder();
        long splits = 0;
        long merges = 0;
        long helped = 0;
        int deepest = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.merging(seed)))
            {
                final String problem = run.run();
                wrong.append(problem == null ? "" : problem + "\n");
                splits += run.splits();
                merges += run.merges();
                deepest = Math.max(deepest, run.depth());
                helped += run.counters().pairsHelped;
            }
        }
        System.out.println(
            "splits=" + splits + " merges=" + merges + " deepest=" + deepest + " helped=" + helped);
        assertThat(wrong.toString()).isEmpty();
        assertThat(merges).isGreaterThan(SEEDS);
        assertThat(deepest).as("windows went back and forth").isGreaterThan(4);
        assertThat(helped).isPositive();
    }

    /** Whoever proposes a merge loses its connection before it has decided it. */
    @Test
    void shouldStayLinearizableWhileProposalsAreLeft()
    {
        final StringBuilder wrong = new StringBuilder();
        long withdrawals = 0;
        final long seeds = Math.max(1, SEEDS / 4);
        for (long seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++)
        {
            try (StepRun run = new StepRun(seed, StepShape.proposing(seed)))
            {
                final String problem = run.run();
                wrong.append(problem == null ? "" : problem + "\n");
                withdrawals += run.withdrawals();
            }
        }
        System.out.println("proposals left: seeds=" + seeds + " withdrawals=" + withdrawals);
        assertThat(wrong.toString()).isEmpty();
        assertThat(withdrawals).as("proposals that nobody decided").isGreaterThan(seeds / 2);
    }

    /** Nodes stand still between proposal and decision, and others try to take back what they find undecided. */
    @Test
    void shouldFindViolationWhenFreshProposalsAreTakenBack()
    {
        final Mutation mutation = TableMutation.STALE_ONLY.mutation();
        MutationSearch.shouldShow("bucket of another subtable", MOST_MUTATION_SEEDS, mutation, seed ->
        {
            final StepShape shape = StepShape.merging(seed);
            shape.keys = 1 + (int)(seed % 2);
            shape.splitOneIn = 2;
            shape.pauseOneIn = 40;
            return shape;
        });
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "SIBLING_DECIDES, bucket of another subtable",
        "UNIT_FROZEN, stale answer",
        "OWN_BUCKETS, its key does not belong to this bucket",
        "WINDOW_BACK, its block holds a key that does not belong to this word",
        "WHOLE_BEFORE_MERGE, waits for slots of the one at"})
    void shouldFindViolationWhenMutated(final String name, final String symptom)
    {
        MutationSearch.shouldShow(symptom, MOST_MUTATION_SEEDS, TableMutation.named(name), StepShape::merging);
    }
}
