package io.verbena.elle.bench;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class CheckBenchmarkTest
{
    @Test
    void shouldMeasureEverythingAndLeaveNoFile(@TempDir final Path folder) throws IOException
    {
        final List<BenchmarkRow> told = new ArrayList<>();
        final List<BenchmarkRow> rows = new CheckBenchmark(0.02, folder, told::add).run();

        assertThat(rows).isEqualTo(told).hasSize(14);
        assertThat(rows).filteredOn(row -> row.name().contains("stale read"))
            .extracting(BenchmarkRow::verdict).containsExactly("invalid");
        assertThat(rows).filteredOn(row -> !row.name().contains("stale read"))
            .extracting(BenchmarkRow::verdict).containsOnly("valid", "-");
        assertThat(rows).extracting(BenchmarkRow::elapsedMs).allMatch(elapsedMs -> elapsedMs > 0);
        assertThat(rows.getFirst().fields()).containsKeys(
            "name", "operations_count", "elapsed_ms", "operations_per_s", "configurations_count", "verdict");
        try (Stream<Path> left = Files.list(folder))
        {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void shouldReachGoalOnlyInTime()
    {
        assertThat(new BenchmarkRow("x", 1, 5, 0, 0, "-").isReached()).isTrue();
        assertThat(new BenchmarkRow("x", 1, 5, 5, 0, "-").isReached()).isTrue();
        assertThat(new BenchmarkRow("x", 1, 6, 5, 0, "-").isReached()).isFalse();
    }
}
