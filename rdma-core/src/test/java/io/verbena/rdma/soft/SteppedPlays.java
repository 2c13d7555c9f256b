package io.verbena.rdma.soft;

import java.nio.file.Path;
import java.util.function.BiFunction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Plays a scenario under {@link SteppedLoader}, seed after seed. {@code -Dverbena.soft.seed=N} plays one, {@code
 * -Dverbena.soft.seeds=N} sets how many.
 */
final class SteppedPlays
{
    /** How many seeds a twin has to show itself, the one that is known to notice it first. */
    private static final int TWIN_SEEDS = 200;

    private SteppedPlays()
    {
    }

    /** None of the seeds finds anything wrong with the shipped code. */
    static void playShipped(final String scenario, final int seeds) throws ReflectiveOperationException
    {
        final ClassLoader loader = new SteppedLoader(null);
        final int count = Integer.getInteger("verbena.soft.seeds", seeds);
        final Long only = Long.getLong("verbena.soft.seed");
        for (long seed = only == null ? 0 : only; seed <= (only == null ? count - 1 : only); seed++)
        {
            assertThat(play(loader, scenario, seed)).as("-Dverbena.soft.seed=" + seed).isNull();
        }
    }

    /** What is wrong with a twin of the shipped code, in the first seed that shows it: never null. */
    static String playTwin(final String scenario, final SteppedLoader.Twin twin, final long firstSeed)
        throws ReflectiveOperationException
    {
        final SteppedLoader loader = new SteppedLoader(twin);
        String wrong = null;
        long seed = firstSeed;
        while (wrong == null && seed < firstSeed + TWIN_SEEDS)
        {
            wrong = play(loader, scenario, seed);
            seed++;
        }
        assertThat(loader.hasReplaced()).as("%s was replaced", twin).isTrue();
        assertThat(wrong).as("%s, seeds from %d", twin, firstSeed).isNotNull();
        return wrong;
    }

    private static String play(final ClassLoader loader, final String scenario, final long seed)
        throws ReflectiveOperationException
    {
        @SuppressWarnings("unchecked")
        final BiFunction<Long, Path, String> played = (BiFunction<Long, Path, String>)Class
            .forName("io.verbena.rdma.soft." + scenario, true, loader).getDeclaredConstructor().newInstance();
        return played.apply(seed, TestDirectories.next());
    }
}
