package io.verbena.load.demo;

import org.junit.jupiter.api.Test;

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
}
