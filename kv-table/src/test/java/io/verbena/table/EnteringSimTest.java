package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.operation.MirrorMutation;
import io.verbena.test.Mutation;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Seeded runs in which memory nodes come into groups of one and two, and others are lost. {@code
 * -Dverbena.table.enteringSeeds=N} for more of them, {@code -Dverbena.table.firstMirrorSeed=N} for others.
 */
class EnteringSimTest
{
    private static final int SEEDS = Integer.getInteger("verbena.table.enteringSeeds", 100);
    private static final int GROWING_SEEDS = Integer.getInteger("verbena.table.growingEnteringSeeds", 12);
    private static final int FIRST = Integer.getInteger("verbena.table.firstMirrorSeed", 1);
    private static final int MOST_MUTATION_SEEDS = 1000;
    private int entries;
    private int losses;

    private String run(final EnteringRun opened)
    {
        try (EnteringRun run = opened)
        {
            final String problem = run.run();
            entries += run.entries();
            losses += run.losses();
            return problem;
        }
    }

    private static EnteringRun fixed(final long seed)
    {
        return new MirrorRun(seed, MirrorRun.Shape.entering(seed));
    }

    private static EnteringRun growing(final long seed)
    {
        return new GrowingMirrorRun(seed, GrowingMirrorShape.entering(seed));
    }

    private void shouldLoseNothing(final String what, final int seeds, final LongFunction<EnteringRun> runs)
    {
        final StringBuilder wrong = new StringBuilder();
        for (long seed = FIRST; seed < FIRST + seeds; seed++)
        {
            final String problem = run(runs.apply(seed));
            wrong.append(problem == null ? "" : problem + "\n");
        }
        System.out.println(what + ": seeds=" + seeds + " entries=" + entries + " losses=" + losses);
        assertThat(wrong.toString()).isEmpty();
        assertThat(entries).isGreaterThan(seeds / 2);
        assertThat(losses).isPositive();
    }

    @Test
    void shouldLoseNothingThatWasAcknowledged()
    {
        shouldLoseNothing("entering", SEEDS, EnteringSimTest::fixed);
    }

    @Test
    void shouldLoseNothingWhileSubtablesAreSplitAndMerged()
    {
        shouldLoseNothing("entering, growing", GROWING_SEEDS, EnteringSimTest::growing);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "WRITE_AGAIN, false, 88, corrupt",
        "FORMAT_AGAIN, true, 29, bucket of another subtable"})
    void shouldFindViolationWhenMutated(
        final MirrorMutation left, final boolean grows, final long firstSeed, final String symptom)
    {
        String last = null;
        long seed = firstSeed - 1;
        try (Mutation.Opened _ = left.open())
        {
            while ((last == null || !last.contains(symptom)) && ++seed < firstSeed + MOST_MUTATION_SEEDS)
            {
                final String problem = run(grows ? growing(seed) : fixed(seed));
                last = problem == null ? last : problem;
            }
        }
        assertThat(last).as("in %d seeds", MOST_MUTATION_SEEDS).contains(symptom);
        assertThat(run(grows ? growing(seed) : fixed(seed))).as("not mutated, seed %d", seed).isNull();
    }
}
