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
import static org.assertj.core.api.Assertions.within;

class BenchReplicasCommandTest
{
    private static final int KINDS = 6;

    @Test
    void shouldMeasureEachKindWithOneTwoAndThreeCopies(@TempDir final Path folder) throws Exception
    {
        final Path json = folder.resolve("replicas.json");
        final CommandLines.Result result = CommandLines.run(
            List.of("bench", "replicas", "--records", "100", "--json", json.toString()));
        assertThat(result.status()).as(result.err()).isZero();
        assertThat(result.out().lines()).hasSize(1 + 3 * KINDS);
        assertThat(result.out()).contains(">= 0.4, not judged", ">= 0.95, not judged");

        final Map<String, Object> fields = JsonReader.object(Files.readString(json));
        assertThat(fields).containsEntry("benchmark", "replicas").containsEntry("records_count", 100L)
            .containsEntry("judged", false);
        final List<?> rows = (List<?>)fields.get("rows");
        assertThat(rows).hasSize(3 * KINDS);
        assertThat(rows.stream().map((row) -> ((Map<?, ?>)row).get("operation").toString()).distinct())
            .containsExactly("get", "put", "update", "insert", "ycsb_a", "ycsb_c");
        for (final String operation : List.of("get", "update"))
        {
            for (int copies = 1; copies <= 3; copies++)
            {
                final Map<?, ?> row = row(rows, operation, copies);
                assertThat((Double)row.get("operations_per_s")).isPositive();
                assertThat(number(row, "median_ns")).isPositive().isLessThanOrEqualTo(number(row, "p99_ns"));
                assertThat(number(row, "rate_to_one_copy_ratio")).isCloseTo(
                    number(row, "operations_per_s") / number(row(rows, operation, 1), "operations_per_s"),
                    within(1e-9));
            }
        }
        assertThat(number(row(rows, "get", 3), "verbs_per_operation_count"))
            .as("one copy is read").isEqualTo(number(row(rows, "get", 1), "verbs_per_operation_count"));
        assertThat(number(row(rows, "update", 3), "payload_per_operation_bytes"))
            .as("all are written").isGreaterThan(2 * number(row(rows, "update", 1), "payload_per_operation_bytes"));
    }

    private static Map<?, ?> row(final List<?> rows, final String operation, final int copies)
    {
        return rows.stream().map((row) -> (Map<?, ?>)row).filter((row) -> operation.equals(row.get("operation")) &&
            Long.valueOf(copies).equals(row.get("copies_count"))).findFirst().orElseThrow();
    }

    private static double number(final Map<?, ?> row, final String name)
    {
        return ((Number)row.get(name)).doubleValue();
    }

    @Test
    void shouldSayWhichValueCannotBe()
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "replicas", "--records", "99"));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains("--records 99").hasLineCount(1);
    }
}
