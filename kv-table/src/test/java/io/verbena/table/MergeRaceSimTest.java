package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

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
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_MUTATION_SEEDS)
        {
            final StepShape shape = StepShape.merging(seed);
            shape.keys = 1 + (int)(seed % 2);
            shape.splitOneIn = 2;
            shape.pauseOneIn = 40;
            shape.droppedMergeGuards = MergeGuard.STALE_ONLY;
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        System.out.println("STALE_ONLY seed " + seed + ": " + (found == null ? null : found.lines().findFirst()));
        assertThat(found).as("violation with guard STALE_ONLY dropped").isNotNull();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"SIBLING_DECIDES", "UNIT_FROZEN", "OWN_BUCKETS", "WINDOW_BACK", "WHOLE_BEFORE_MERGE"})
    void shouldFindViolationWhenGuardIsDropped(final String guard) throws ReflectiveOperationException
    {
        final int bits = (int)MergeGuard.class.getDeclaredField(guard).get(null);
        String found = null;
        long seed = 0;
        while (found == null && ++seed <= MOST_MUTATION_SEEDS)
        {
            final StepShape shape = StepShape.merging(seed);
            shape.droppedMergeGuards = bits;
            try (StepRun run = new StepRun(seed, shape))
            {
                found = run.run();
            }
        }
        System.out.println(guard + " seed " + seed + ": " + (found == null ? null : found.lines().findFirst()));
        assertThat(found).as("violation with guard %s dropped", guard).isNotNull();
    }
}
