package io.verbena.rdma.conformance.perf;

import io.verbena.rdma.conformance.ConformancePath;
import io.verbena.rdma.conformance.VerbsRig;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SequencerRunTest
{
    private static final String SOFT = "soft:/dev/shm/verbena-sequencer-test-" + ProcessHandle.current().pid();
    private static final int NUMBERS = 2_000;

    @ParameterizedTest
    @EnumSource
    void shouldHandOutEachNumberOnce(final SequencerVariant variant)
    {
        for (final String fabric : new String[] {SOFT, "sim:1", "sim:2"})
        {
            assertThat(run(fabric, variant, 3, 8).problem()).as(fabric).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWorkWithOneClientThatWaitsForEachNumber(final SequencerVariant variant)
    {
        assertThat(run(SOFT, variant, 1, 1).problem()).isEmpty();
    }

    @Test
    void shouldSaveWithEachOptimisationWhatItIsNamedFor()
    {
        final SequencerResult atomics = run(SOFT, SequencerVariant.ATOMICS, 2, 16);
        final SequencerResult calls = run(SOFT, SequencerVariant.CALLS, 2, 16);
        final SequencerResult unsignaled = run(SOFT, SequencerVariant.UNSIGNALED, 2, 16);
        final SequencerResult batched = run(SOFT, SequencerVariant.DOORBELL_BATCHING, 2, 16);

        assertThat(atomics.requestsCount()).isEqualTo(NUMBERS);
        assertThat(calls.requestsCount()).isEqualTo(2 * NUMBERS);
        assertThat(calls.doorbellsCount()).isEqualTo(2 * NUMBERS);
        assertThat(calls.completionsCount()).isEqualTo(2 * NUMBERS);
        assertThat(unsignaled.completionsCount()).isBetween(2L * NUMBERS / 16 - 4, 2L * NUMBERS / 16 + 4);
        assertThat(batched.doorbellsCount()).isLessThan(unsignaled.doorbellsCount() / 4);
    }

    @Test
    void shouldFindMissingRepeatedFallingAndStrayNumbers()
    {
        final NumberCheck check = new NumberCheck(4, 2);
        check.add(0, 1);
        check.add(0, 0);
        check.add(1, 1);
        check.add(1, 4);
        check.add(1, -1);
        assertThat(check.problem()).isEqualTo("2 missing, 1 repeated, 1 backwards, 2 never to be handed out");

        final NumberCheck right = new NumberCheck(3, 2);
        right.add(1, 0);
        right.add(0, 1);
        right.add(1, 2);
        assertThat(right.problem()).isEmpty();
    }

    private static SequencerResult run(
        final String fabric, final SequencerVariant variant, final int clients, final int window)
    {
        try (VerbsRig rig = ConformancePath.of(fabric).rigs().get();
            SequencerRun run = new SequencerRun(rig, new SequencerOptions(clients, window, NUMBERS), variant))
        {
            return run.run();
        }
    }
}
