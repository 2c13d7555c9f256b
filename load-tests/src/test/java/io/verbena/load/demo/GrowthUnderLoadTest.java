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
    void shouldGrowBesideARegisterWorkload() throws IOException, InterruptedException
    {
        final GrowthUnderLoad.Result result = new GrowthUnderLoad(100_000, 2, SystemNanoClock.INSTANCE).run();
        assertThat(result.passed()).as(result.fields().toString()).isTrue();
        assertThat(result.stat().subtables()).isGreaterThan(2);
        assertThat(result.registerOperations()).isPositive();
        assertThat(result.samples().getLast().subtables()).isGreaterThan(result.samples().getFirst().subtables());
        assertThat(result.fields()).containsEntry("linearizable", true).containsEntry("missing_records", 0L);
    }
}
