package io.verbena.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EngineLoadTest
{
    private final EngineLoad load = new EngineLoad();

    @Test
    void shouldCountFromWhenWorkWasFoundToTheNextCycleAndNothingElse()
    {
        load.beginCycle(1_000);
        load.working(1_200);
        assertThat(load.busyNs()).isZero();
        load.beginCycle(1_700);
        assertThat(load.busyNs()).isEqualTo(500);
        load.beginCycle(9_000); // the cycle before found nothing
        assertThat(load.busyNs()).isEqualTo(500);
        load.working(9_000);
        load.beginCycle(9_010);
        assertThat(load.busyNs()).isEqualTo(510);
    }

    @Test
    void shouldNeverGoBack()
    {
        load.working(2_000);
        load.beginCycle(1_500);
        assertThat(load.busyNs()).isZero();
    }

    @Test
    void shouldReportTheProcessorTimeOfTheThreadThatWorks() throws InterruptedException
    {
        assertThat(load.processorNs()).isEqualTo(-1);
        final Thread other = new Thread(() ->
        {
            long sum = 0;
            final long endNs = System.nanoTime() + 30_000_000;
            while (System.nanoTime() < endNs)
            {
                sum++;
            }
            assertThat(sum).isPositive();
        });
        other.start();
        load.beginCycle(0);
        final long beforeNs = load.processorNs();
        other.join();
        // This thread has slept while the other one worked.
        assertThat(load.processorNs() - beforeNs).isBetween(0L, 20_000_000L);
        assertThat(beforeNs).isPositive();
    }
}
