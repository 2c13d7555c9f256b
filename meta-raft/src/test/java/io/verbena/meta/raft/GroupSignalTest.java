package io.verbena.meta.raft;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

class GroupSignalTest
{
    private final GroupSignal signal = new GroupSignal();
    private final AtomicInteger wakes = new AtomicInteger();

    @Test
    void shouldWakeEachTimeFromWhenSomebodySleeps()
    {
        signal.raise();
        signal.onRaised(wakes::incrementAndGet);
        assertThat(wakes).hasValue(0);
        signal.raise();
        signal.raise();
        assertThat(wakes).hasValue(2);
    }

    /** What it would wake is closed by then. */
    @Test
    void shouldWakeNobodyOnceItIsClosed()
    {
        signal.onRaised(wakes::incrementAndGet);
        signal.close();
        signal.raise();
        signal.onRaised(wakes::incrementAndGet);
        signal.raise();
        assertThat(wakes).hasValue(0);
    }
}
