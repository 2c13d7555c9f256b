package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Looks for a seeded run without a guard that shows what the guard prevents. Any other problem does not count, nor does
 * a checker that gave up. The same run, and a few others of its shape, are sound with the guard.
 */
final class GuardMutation
{
    private static final int SOUND_SEEDS = 5;

    private GuardMutation()
    {
    }

    /**
     * @param symptom what a problem must contain.
     * @param shapes  with all guards in place, by seed.
     * @param drop    leaves the guard out.
     */
    static void shouldShow(
        final String symptom, final int mostSeeds, final LongFunction<StepShape> shapes, final Consumer<StepShape> drop)
    {
        for (long seed = 1; seed <= SOUND_SEEDS; seed++)
        {
            assertThat(run(seed, shapes.apply(seed))).as("with all guards, seed %d", seed).isNull();
        }
        String last = null;
        for (long seed = 1; seed <= mostSeeds; seed++)
        {
            final StepShape broken = shapes.apply(seed);
            drop.accept(broken);
            final String problem = run(seed, broken);
            if (problem != null && problem.contains(symptom))
            {
                assertThat(run(seed, shapes.apply(seed))).as("with all guards, seed %d", seed).isNull();
                return;
            }
            last = problem == null ? last : problem;
        }
        assertThat(last).as("in %d seeds", mostSeeds).contains(symptom);
    }

    private static String run(final long seed, final StepShape shape)
    {
        try (StepRun run = new StepRun(seed, shape))
        {
            return run.run();
        }
    }

    /** @param names of constants, with a plus sign between. */
    static int bits(final Class<?> guards, final String names)
    {
        return Arrays.stream(names.split("\\+")).mapToInt(name ->
        {
            try
            {
                return (int)guards.getDeclaredField(name).get(null);
            }
            catch (final ReflectiveOperationException ex)
            {
                throw new AssertionError(ex);
            }
        }).reduce(0, (one, other) -> one | other);
    }
}
