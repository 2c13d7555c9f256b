package io.verbena.load.verbs;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SimBenchmarkTest
{
    @Test
    void shouldRunScenariosWithFaultsAlikeInAnyNumberOfThreads() throws InterruptedException
    {
        final SimBenchmark.Result one = new SimBenchmark(200, 1, SystemNanoClock.INSTANCE).run();
        final SimBenchmark.Result two = new SimBenchmark(200, 2, SystemNanoClock.INSTANCE).run();
        assertThat(two.steps()).isEqualTo(one.steps()).isPositive();
        assertThat(two.faults()).isEqualTo(one.faults()).isGreaterThan(200);
        assertThat(two.virtualNs()).isEqualTo(one.virtualNs()).isPositive();
        assertThat(one.fields()).containsEntry("scenarios_count", 200L).containsEntry("threads_count", 1L)
            .containsKeys("scenarios_per_second", "steps_per_second", "elapsed_ms", "virtual_ms", "faults_count");
    }
}
