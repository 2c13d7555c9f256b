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

class BenchFailoverCommandSystemTest
{
    @Test
    void shouldMeasureADeathAndLoseNothing(@TempDir final Path folder) throws Exception
    {
        final Path json = folder.resolve("failover.json");
        final Path plot = folder.resolve("failover.svg");
        final CommandLines.Result result = CommandLines.run(List.of("bench", "failover", "--deaths", "1", "--stops",
            "0", "--replicas", "2", "--records", "100", "--json", json.toString(), "--plot", plot.toString()));
        assertThat(result.err()).isEmpty();
        // How long it takes is not judged here: other tests run at the same time.
        assertThat(result.status()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        final Map<String, Object> fields = JsonReader.object(Files.readString(json));
        assertThat(fields).containsEntry("benchmark", "failover").containsEntry("deaths_count", 1L)
            .containsEntry("copies_count", 2L);
        final List<?> rows = (List<?>)fields.get("rows");
        assertThat(value(rows, "death_longest_operation_ms")).isPositive();
        assertThat(value(rows, "entry_longest_ms")).isPositive();
        assertThat(value(rows, "operations_count")).isGreaterThan(100);
        assertThat(value(rows, "operations_failed_count")).isZero();
        assertThat(value(rows, "stale_reads_count")).isZero();
        assertThat(value(rows, "acknowledged_updates_lost_count")).isZero();
        assertThat(Files.readString(plot)).startsWith("<svg").contains(">killed<", ">back<", "polyline");
    }

    private static double value(final List<?> rows, final String figure)
    {
        return rows.stream().map((row) -> (Map<?, ?>)row).filter((row) -> figure.equals(row.get("figure")))
            .map((row) -> ((Number)row.get("value")).doubleValue()).findFirst().orElseThrow();
    }

    @Test
    void shouldRefuseWhatCannotBeMeasured()
    {
        for (final List<String> wrong : List.of(List.of("--deaths", "0"), List.of("--stops", "1001"),
            List.of("--replicas", "1"), List.of("--replicas", "4"), List.of("--records", "99")))
        {
            final CommandLines.Result result =
                CommandLines.run(List.of("bench", "failover", wrong.getFirst(), wrong.getLast()));
            assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
            assertThat(result.err()).contains(wrong.getFirst() + " " + wrong.getLast()).hasLineCount(1);
        }
    }
}
