package io.verbena.cli.autoscale;

import io.verbena.cli.autoscale.policy.Demand;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class DemandMeterTest
{
    private final DemandMeter meter = new DemandMeter();

    private static List<Long> counts(final int bucket, final long count)
    {
        final Long[] counts = new Long[26];
        Arrays.fill(counts, 0L);
        counts[bucket] = count;
        return List.of(counts);
    }

    private static DemandSample sample(
        final String node, final long timeNs, final long busyNs, final long slotNs, final long operations)
    {
        return new DemandSample(node, timeNs, operations, busyNs, 2 * busyNs, 10, slotNs, counts(0, operations),
            counts(5, operations));
    }

    @Test
    void shouldAddUpWhatNodesDidSinceTheLastTime()
    {
        assertThat(meter.measure(List.of(sample("a", 1_000, 900, 0, 5)))).isEqualTo(Demand.NONE);
        final Demand demand = meter.measure(List.of(
            sample("a", 1_001_000, 250_900, 3_000_000, 105), sample("b", 5, 5, 5, 5)));
        assertThat(demand.reportingNodes()).as("b is new").isEqualTo(1);
        assertThat(demand.useNodes()).as("slots: 3 of 10 taken, which is more than a quarter of the time")
            .isCloseTo(0.3, within(1e-9));
        assertThat(demand.operationsPerSecond()).isCloseTo(100_000, within(1e-6));
        assertThat(demand.p99Us()).as("of the bucket from 16 to 32 us").isCloseTo(31.84, within(1e-6));
        assertThat(demand.waitP99Us()).isCloseTo(0.99, within(1e-6));
        assertThat(demand.processorShare()).isCloseTo(0.5, within(1e-9));
        final Demand both = meter.measure(List.of(
            sample("a", 2_001_000, 750_900, 3_000_000, 105), sample("b", 1_000_005, 9_000_000, 5, 5)));
        assertThat(both.reportingNodes()).isEqualTo(2);
        assertThat(both.useNodes()).as("a half, and no more than all").isCloseTo(1.5, within(1e-9));
        assertThat(both.p99Us()).as("nothing was answered").isZero();
    }

    @Test
    void shouldForgetANodeThatWasAway()
    {
        meter.begin(List.of(sample("a", 1_000, 0, 0, 0)));
        assertThat(meter.measure(List.of())).isEqualTo(Demand.NONE);
        assertThat(meter.measure(List.of(sample("a", 2_000, 1_000, 0, 0))).reportingNodes()).isZero();
        assertThat(meter.measure(List.of(sample("a", 2_000, 1_000, 0, 0))).reportingNodes()).as("no time").isZero();
    }

    @Test
    void shouldTakeOnlyWholeFigures()
    {
        final Map<String, Object> demand = new LinkedHashMap<>();
        List.of("time_ns", "operations", "busy_ns", "processor_ns", "slots", "slot_ns")
            .forEach((name) -> demand.put(name, 1L));
        demand.put("wait_counts", List.of(1L));
        demand.put("response_counts", List.of(1L));
        final Map<String, Object> health = Map.of("pid", 7L, "demand", demand);
        assertThat(DemandSample.of("compute-1", health).node()).isEqualTo("compute-1 7");
        for (final String name : List.copyOf(demand.keySet()))
        {
            final Object value = demand.put(name, "7");
            assertThat(DemandSample.of("compute-1", health)).as(name).isNull();
            demand.remove(name);
            assertThat(DemandSample.of("compute-1", health)).as(name).isNull();
            demand.put(name, value);
        }
        assertThat(DemandSample.of("compute-1", null)).isNull();
        assertThat(DemandSample.of("memory-1", Map.of("pid", 7L))).isNull();
    }

    @Test
    void shouldNotTakeAnUnknownProcessorTimeForOne()
    {
        meter.begin(List.of(new DemandSample("a", 0, 0, 0, -1, 10, 0, counts(0, 0), counts(0, 0))));
        assertThat(meter.measure(List.of(new DemandSample("a", 1_000, 0, 0, 999, 10, 0, counts(0, 0), counts(0, 0))))
            .processorShare()).isZero();
    }

    /** Of another process of the same name and number, whose clock is ahead. */
    @Test
    void shouldIgnoreCountsThatWentBack()
    {
        meter.begin(List.of(sample("a", 1_000, 500, 0, 100)));
        final Demand demand = meter.measure(List.of(sample("a", 2_000, 400, 0, 10)));
        assertThat(demand.operationsPerSecond()).isZero();
        assertThat(demand.useNodes()).isZero();
        assertThat(demand.processorShare()).isZero();
        assertThat(demand.p99Us()).isZero();
    }

    @Test
    void shouldFindThePercentileAtTheEndOfItsBucket()
    {
        final Long[] counts = counts(0, 99).toArray(Long[]::new);
        counts[5] = 1L;
        meter.begin(List.of(new DemandSample("a", 0, 0, 0, 0, 10, 0, counts(0, 0), counts(0, 0))));
        assertThat(meter.measure(List.of(
            new DemandSample("a", 1_000, 100, 0, 0, 10, 0, counts(0, 0), List.of(counts)))).p99Us()).isEqualTo(1.0);
    }
}
