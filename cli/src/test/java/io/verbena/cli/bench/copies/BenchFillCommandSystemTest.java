package io.verbena.cli.bench.copies;

import io.verbena.cli.CommandLines;
import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class BenchFillCommandSystemTest
{
    @Test
    void shouldMeasureAMemoryNodeThatComesInAndLoseNothing(@TempDir final Path folder) throws Exception
    {
        final Path json = folder.resolve("fill.json");
        final CommandLines.Result result =
            CommandLines.run(List.of("bench", "fill", "--mib", "16", "--json", json.toString()));
        assertThat(result.err()).isEmpty();
        // How long it takes is not judged here: other tests run at the same time.
        assertThat(result.status()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        final Map<String, Object> fields = JsonReader.object(Files.readString(json));
        assertThat(fields).containsEntry("benchmark", "fill").containsEntry("records_mib", 16L);
        final List<?> rows = (List<?>)fields.get("rows");
        for (final String figure : List.of("filling_ms", "bare_copy_mib_per_s", "operations_before_per_s",
            "operations_meanwhile_per_s", "longest_operation_meanwhile_ms", "closed_ms"))
        {
            assertThat(value(rows, figure)).as(figure).isPositive();
        }
        for (final String figure : List.of("operations_failed_count", "stale_reads_count",
            "acknowledged_updates_lost_count"))
        {
            assertThat(value(rows, figure)).as(figure).isZero();
        }
    }

    private static double value(final List<?> rows, final String figure)
    {
        return rows.stream().map((row) -> (Map<?, ?>)row).filter((row) -> figure.equals(row.get("figure")))
            .map((row) -> ((Number)row.get("value")).doubleValue()).findFirst().orElseThrow();
    }

    @Test
    void shouldRefuseWhatCannotBeMeasured()
    {
        for (final String wrong : List.of("15", "8193"))
        {
            final CommandLines.Result result = CommandLines.run(List.of("bench", "fill", "--mib", wrong));
            assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
            assertThat(result.err()).contains("--mib " + wrong).hasLineCount(1);
        }
    }
}
