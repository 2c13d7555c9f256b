package io.verbena.load.demo;

import io.verbena.client.KvEntry;

import java.io.IOException;
import java.util.Optional;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class GrowthUnderLoadTest
{
    @Test
    void shouldFindARecordThatHoldsAnothersValue()
    {
        final Optional<KvEntry> own = Optional.of(new KvEntry(GrowthUnderLoad.value(7), 1));
        assertThat(GrowthUnderLoad.isAsExpected(7, true, own)).isTrue();
        assertThat(GrowthUnderLoad.isAsExpected(8, true, own)).isFalse();
        assertThat(GrowthUnderLoad.isAsExpected(7, false, own)).isFalse();
        assertThat(GrowthUnderLoad.isAsExpected(7, true, Optional.empty())).isFalse();
        assertThat(GrowthUnderLoad.isAsExpected(7, false, Optional.empty())).isTrue();
    }

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
