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
 * Receives that several processes claim at once, in every order that a seed may bring; with a claimer that is stopped
 * or dies between any two accesses. {@code -Dverbena.soft.seed=N} repeats one, {@code -Dverbena.soft.seeds=N} sets how
 * many.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SharedRingStepsTest
{
    private static final int SEEDS = Integer.getInteger("verbena.soft.seeds", 100);
    private static final int TWIN_SEEDS = 400;

    private static String play(final ClassLoader loader, final long seed) throws ReflectiveOperationException
    {
        @SuppressWarnings("unchecked")
        final BiFunction<Long, Path, String> scenario = (BiFunction<Long, Path, String>)Class
            .forName("io.verbena.rdma.soft.SharedRingScenario", true, loader).getDeclaredConstructor().newInstance();
        return scenario.apply(seed, TestDirectories.next());
    }

    @Test
    void shouldDeliverOnceWhateverTheOrderAndWhoeverStopsOrDies() throws ReflectiveOperationException
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
        "ReceiveRing, claimAt, SharedWords.compareAndSetLong, compareThenSet",
        "ReceiveRing, oldest, SharedWords.compareAndSetLong, leaveAlone",
        "SoftSharedReceiveQueue, nextFree, SharedWords.compareAndSetLong, leaveAlone",
        "CompletionInbox, claim, SharedWords.compareAndSetLong, compareThenSet",
        "SoftReceiveSide, flushDeadClaims, SoftCompletionQueue.hasReceived, neverReceived" })
    void shouldNoticeTwin(final String type, final String method, final String callee, final String replacement)
        throws ReflectiveOperationException
    {
        final SteppedLoader loader = new SteppedLoader(new SteppedLoader.Twin(type, method, callee, replacement));
        String wrong = null;
        for (long seed = 0; wrong == null && seed < TWIN_SEEDS; seed++)
        {
            wrong = play(loader, seed);
        }
        assertThat(loader.hasReplaced()).isTrue();
        assertThat(wrong).isNotNull();
    }
}
