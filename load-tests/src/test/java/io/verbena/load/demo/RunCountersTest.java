package io.verbena.load.demo;

import io.verbena.client.KvOutcomeUnknownException;
import io.verbena.client.KvTimeoutException;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class RunCountersTest
{
    @Test
    void shouldBeFullWhenAsManyInsertsHaveBegunAsThereIsRoomFor()
    {
        final RunCounters counters = new RunCounters(2);

        counters.insertsLeft.decrementAndGet();
        assertThat(counters.isFull()).isFalse();
        counters.insertsLeft.decrementAndGet();
        assertThat(counters.isFull()).isTrue();
    }

    @Test
    void shouldNeverBeFullWhenInsertsAreNotBounded()
    {
        final RunCounters counters = new RunCounters();

        counters.insertsLeft.addAndGet(-1_000_000_000L);

        assertThat(counters.isFull()).isFalse();
    }

    @Test
    void shouldKeepTheFirstErrorAndCountAll()
    {
        final RunCounters counters = new RunCounters();

        counters.onError("first");
        counters.onError("second");

        assertThat(counters.firstError()).isEqualTo("first");
        assertThat(counters.errors.sum()).isEqualTo(2);
    }

    @Test
    void shouldTellUnknownOutcomesFromErrorsOnlyWhereANodeIsKilled()
    {
        final RunCounters kills = new RunCounters(Long.MAX_VALUE, true);
        final RunCounters leaves = new RunCounters(Long.MAX_VALUE, false);
        for (final RunCounters counters : List.of(kills, leaves))
        {
            counters.onFailure(new KvOutcomeUnknownException("node was killed"), "unknown");
            counters.onFailure(new KvTimeoutException("late"), "late");
            counters.onFailure(null, "status");
        }

        assertThat(kills.errors.sum()).isEqualTo(2);
        assertThat(kills.unknownOutcomes.sum()).isEqualTo(1);
        assertThat(kills.firstError()).isEqualTo("late");
        assertThat(leaves.errors.sum()).isEqualTo(3);
        assertThat(leaves.unknownOutcomes.sum()).isZero();
    }
}
