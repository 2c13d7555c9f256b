package io.verbena.server;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EngineLoadTest
{
    private final EngineLoad load = new EngineLoad();

    @Test
    void shouldCountFromWhenWorkWasFoundToTheNextCycleAndNothingElse()
    {
        load.beginCycle(1_000, false);
        load.working(1_200);
        assertThat(load.busyNs()).isZero();
        load.beginCycle(1_700, false);
        assertThat(load.busyNs()).isEqualTo(500);
        load.beginCycle(9_000, false); // the cycle before found nothing
        assertThat(load.busyNs()).isEqualTo(500);
        load.working(9_000);
        load.beginCycle(9_010, false);
        assertThat(load.busyNs()).isEqualTo(510);
    }

    @Test
    void shouldCountATimeWithoutProcessorBeforeWorkWasFound()
    {
        load.beginCycle(5_000_000, false);
        load.working(5_000_000);
        assertThat(load.busyNs()).as("before the first cycle there was nobody to work").isZero();
        load.beginCycle(5_001_000, false);
        load.beginCycle(5_002_000, false);
        load.beginCycle(13_000_000, false); // a quota has held the thread for 8 ms
        load.working(13_000_000);
        load.beginCycle(13_001_000, false);
        assertThat(load.busyNs()).isEqualTo(1_000 + 13_001_000 - 5_002_000);

        load.working(13_401_000); // held while it looked, within a cycle
        load.beginCycle(13_402_000, false);
        assertThat(load.busyNs()).isEqualTo(1_000 + 13_402_000 - 5_002_000);
    }

    @Test
    void shouldNotCountATimeInWhichNothingArrivedOrTheThreadSlept()
    {
        load.beginCycle(1_000, false);
        load.beginCycle(9_000_000, false); // held for 9 ms, and nothing waited
        load.beginCycle(9_001_000, false);
        load.working(9_002_000);
        load.beginCycle(9_003_000, false);
        assertThat(load.busyNs()).isEqualTo(1_000);

        load.beginCycle(20_000_000, true);
        load.working(20_000_000);
        load.beginCycle(20_001_000, false);
        assertThat(load.busyNs()).as("it slept").isEqualTo(2_000);

        load.beginCycle(20_002_000, false);
        load.awake(30_000_000);
        load.working(30_000_000);
        load.beginCycle(30_001_000, false);
        assertThat(load.busyNs()).as("it slept on sockets").isEqualTo(3_000);
    }

    @Test
    void shouldNeverGoBack()
    {
        load.working(2_000);
        load.beginCycle(1_500, false);
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
        load.beginCycle(0, false);
        final long beforeNs = load.processorNs();
        other.join();
        // This thread has slept while the other one worked.
        assertThat(load.processorNs() - beforeNs).isBetween(0L, 20_000_000L);
        assertThat(beforeNs).isPositive();
    }
}
