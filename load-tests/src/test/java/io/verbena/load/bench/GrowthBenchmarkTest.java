package io.verbena.load.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class GrowthBenchmarkTest
{
    private static final List<String> FIELDS = List.of("table", "elapsed_s", "records_count", "subtables_count",
        "operations_per_s");

    @Test
    void shouldMeasureWhatGrowthCosts() throws IOException
    {
        final List<TableFigure> told = new ArrayList<>();
        final GrowthBenchmark benchmark =
            new GrowthBenchmark(GrowthBenchmark.MIN_RECORDS, SystemNanoClock.INSTANCE, told::add);
        final List<TableFigure> figures = benchmark.run();
        assertThat(told).isEqualTo(figures);

        final Map<String, TableFigure> byName =
            figures.stream().collect(Collectors.toMap(TableFigure::name, figure -> figure));
        assertThat(byName).containsKeys("inserts_while_growing", "p99_round_trips_of_get_during_splits");
        // Times depend on the machine, and how much operations help on how few subtables there are.
        assertThat(byName.get("splits").value()).isPositive();
        assertThat(byName.get("verbs_per_moved_entry").value()).isGreaterThan(3.0);
        assertThat(byName.get("splitter_verbs_per_moved_entry").value()).isBetween(2.0, 4.0);
        assertThat(byName.get("splitter_bytes_per_subtable_byte").value()).isBetween(3.0, 6.0);
        // Of one or two subtables nearly every operation meets the split, also with a location that is out of date.
        assertThat(byName.get("p99_round_trips_of_get_during_splits").value()).isBetween(1.0, 4.0);
        assertThat(byName.get("p99_round_trips_of_insert_during_splits").value()).isBetween(3.0, 16.0);

        final List<GrowthSample> samples = benchmark.samples();
        assertThat(samples).extracting(GrowthSample::table).containsOnly("created_large", "growing");
        assertThat(samples.getLast().records()).isEqualTo(GrowthBenchmark.MIN_RECORDS);
        assertThat(samples.getLast().subtables()).isEqualTo(1 + (int)byName.get("splits").value());
        assertThat(samples.getFirst().fields().keySet()).containsExactlyElementsOf(FIELDS);
        assertThat(GrowthChart.of(samples)).startsWith("<svg").endsWith("</svg>\n")
            .contains("growing: up to 50,000 records").doesNotContain("NaN");
    }

    @Test
    void shouldCountRoundTripsOfTheSlowestHundredth()
    {
        final RoundTripCounts counts = new RoundTripCounts();
        assertThat(counts.p99(0)).isZero();
        for (int i = 0; i < 99; i++)
        {
            counts.add(0, 1);
        }
        counts.add(0, 7);
        assertThat(counts.p99(0)).isOne();
        counts.add(0, 1000);
        assertThat(counts.p99(0)).isEqualTo(7);
        assertThat(counts.operations(0)).isEqualTo(101);
        assertThat(counts.operations(1)).isZero();
    }
}
