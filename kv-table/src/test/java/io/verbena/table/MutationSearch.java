package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.test.Mutation;
import java.util.function.LongFunction;

/**
 * Searches for a seeded run that shows what the step prevents that a mutation leaves out. Any other problem does not
 * count, nor does a checker that gave up. The same run, and a few others of its shape, are sound without the mutation.
 */
final class MutationSearch
{
    private static final int SOUND_SEEDS = 5;

    private MutationSearch()
    {
    }

    /**
     * @param symptom  what a problem must contain.
     * @param mutation of the protocol.
     * @param shapes   by seed.
     */
    static void shouldShow(
        final String symptom, final int mostSeeds, final Mutation mutation, final LongFunction<StepShape> shapes)
    {
        shouldShow(symptom, 1, mostSeeds, mutation, shapes);
    }

    /**
     * @param firstSeed where the search begins: shortly before the one that is known to show it, where that is rare;
     *                  with {@code -Dverbena.table.deep=true} at 1.
     */
    static void shouldShow(
        final String symptom,
        final long firstSeed,
        final int mostSeeds,
        final Mutation mutation,
        final LongFunction<StepShape> shapes)
    {
        for (long seed = 1; seed <= SOUND_SEEDS; seed++)
        {
            assertThat(run(seed, shapes)).as("not mutated, seed %d", seed).isNull();
        }
        String last = null;
        final long from = ExplorationTotals.DEEP ? 1 : firstSeed;
        long seed = from - 1;
        try (Mutation.Opened _ = mutation.open())
        {
            while ((last == null || !last.contains(symptom)) && ++seed < firstSeed + mostSeeds)
            {
                final String problem = run(seed, shapes);
                last = problem == null ? last : problem;
            }
        }
        assertThat(last).as("seeds from %d to %d", from, firstSeed + mostSeeds - 1).contains(symptom);
        assertThat(run(seed, shapes)).as("not mutated, seed %d", seed).isNull();
    }

    private static String run(final long seed, final LongFunction<StepShape> shapes)
    {
        try (StepRun run = new StepRun(seed, shapes.apply(seed)))
        {
            return run.run();
        }
    }
}
