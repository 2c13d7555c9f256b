package io.verbena.rdma.soft;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Receives that complete in their slots, in every order that a seed may bring; with a requester that is stopped or dies
 * between any two accesses. {@code -Dverbena.soft.seed=N} repeats one, {@code -Dverbena.soft.seeds=N} sets how many.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class DirectRingStepsTest
{
    private static final int SEEDS = Integer.getInteger("verbena.soft.seeds", 100);
    private static final int TWIN_SEEDS = 600;

    private static String play(final ClassLoader loader, final long seed) throws ReflectiveOperationException
    {
        @SuppressWarnings("unchecked")
        final BiFunction<Long, Path, String> scenario = (BiFunction<Long, Path, String>)Class
            .forName("io.verbena.rdma.soft.DirectRingScenario", true, loader).getDeclaredConstructor().newInstance();
        return scenario.apply(seed, TestDirectories.next());
    }

    @Test
    void shouldDeliverOnceInOrderWhateverTheStepsAndWhoeverStopsOrDies() throws ReflectiveOperationException
    {
        final ClassLoader loader = new SteppedLoader(null);
        final Long only = Long.getLong("verbena.soft.seed");
        for (long seed = only == null ? 0 : only; seed <= (only == null ? SEEDS - 1 : only); seed++)
        {
            assertThat(play(loader, seed)).as("-Dverbena.soft.seed=" + seed).isNull();
        }
    }

    /** The seed to begin with is one that noticed it, so that this does not take long. */
    @ParameterizedTest
    @CsvSource({
        "ReceiveRing, oldest, SharedWords.compareAndSetLong, leaveAlone, 280",
        "SoftConnection, isPeerInside, AccessMark.isInside, neverInside, 0" })
    void shouldNoticeTwin(
        final String type, final String method, final String callee, final String replacement, final long firstSeed)
        throws ReflectiveOperationException
    {
        final ClassLoader loader = new SteppedLoader(new SteppedLoader.Twin(type, method, callee, replacement));
        String wrong = null;
        for (long i = 0; wrong == null && i < TWIN_SEEDS; i++)
        {
            wrong = play(loader, (firstSeed + i) % TWIN_SEEDS);
        }
        assertThat(wrong).isNotNull();
    }
}
