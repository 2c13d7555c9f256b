package io.verbena.load.demo;

import java.io.IOException;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class GrowthUnderLoadTest
{
    @Test
    void shouldGrowAndShrinkBesideARegisterWorkload() throws IOException, InterruptedException
    {
        final GrowthUnderLoad.Result result = new GrowthUnderLoad(60_000, 2, SystemNanoClock.INSTANCE).run();
        assertThat(result.passed()).as(result.fields().toString()).isTrue();
        assertThat(result.stat().subtables()).isGreaterThan(2);
        assertThat(result.registerOperations()).isPositive();
        assertThat(result.samples()).anyMatch(sample -> sample.subtables() > result.firstSubtables());
        assertThat(result.lastSubtables()).isEqualTo(result.firstSubtables());
        assertThat(result.fields()).containsEntry("linearizable", true).containsEntry("missing_records", 0L);
    }
}
