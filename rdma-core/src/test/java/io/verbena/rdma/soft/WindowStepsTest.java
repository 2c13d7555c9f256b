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
 * Windows that are bound and taken away while others use them, in every order that a seed may bring. {@code
 * -Dverbena.soft.seed=N} repeats one, {@code -Dverbena.soft.seeds=N} sets how many.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class WindowStepsTest
{
    private static final int SEEDS = Integer.getInteger("verbena.soft.seeds", 100);
    private static final int TWIN_SEEDS = 2_000;

    private static String play(final ClassLoader loader, final long seed) throws ReflectiveOperationException
    {
        @SuppressWarnings("unchecked")
        final BiFunction<Long, Path, String> scenario = (BiFunction<Long, Path, String>)Class
            .forName("io.verbena.rdma.soft.WindowScenario", true, loader).getDeclaredConstructor().newInstance();
        return scenario.apply(seed, TestDirectories.next());
    }

    @Test
    void shouldLandNothingOutsideOfWhatIsBoundWhateverTheOrder() throws ReflectiveOperationException
    {
        final ClassLoader loader = new SteppedLoader(null);
        final Long only = Long.getLong("verbena.soft.seed");
        for (long seed = only == null ? 0 : only; seed <= (only == null ? SEEDS - 1 : only); seed++)
        {
            assertThat(play(loader, seed)).as("-Dverbena.soft.seed=" + seed).isNull();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "WindowRequests, begin, SoftQueuePair.insideMark, nobodyInside",
        "SoftPeer, knownWindow, SoftPeer$MappedRegion.isBoundAs, hasSameKey",
        "SoftPeer, open, SoftPeer.isStill, isNeverChanged" })
    void shouldNoticeTwin(final String type, final String method, final String callee, final String replacement)
        throws ReflectiveOperationException
    {
        final ClassLoader loader = new SteppedLoader(new SteppedLoader.Twin(type, method, callee, replacement));
        String wrong = null;
        for (long seed = 0; wrong == null && seed < TWIN_SEEDS; seed++)
        {
            wrong = play(loader, seed);
        }
        assertThat(wrong).contains("landed");
    }
}
