package io.verbena.cli.admin;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class SlowlogTextTest
{
    private static Map<String, Object> step(
        final String name, final boolean waits, final long verbs, final long roundTrips, final double fromUs)
    {
        return Map.of("step", name, "waits", waits, "memory_node", 3L, "verbs", verbs, "round_trips", roundTrips,
            "from_us", fromUs, "took_us", 1_234.0);
    }

    private static Map<String, Object> operation(final long leftOut, final List<Map<String, Object>> steps)
    {
        final Map<String, Object> operation = new LinkedHashMap<>(Map.of("node", "compute-1", "number", 7L, "kind",
            "put_if_absent", "answer", "stored", "table", "users", "key_hash", "00000000000000ff", "key_bytes", 5L));
        operation.putAll(Map.of("ended_ms", 3_723_004L, "value_bytes", 100L, "response_us", 12_500.0, "queued_us",
            3.25, "retries", 2L, "left_out", leftOut, "steps", steps));
        return operation;
    }

    @Test
    void shouldSayWhatTookHowLong()
    {
        assertThat(SlowlogText.of(operation(0, List.of(step("start", true, 0, 0, 0), step("swap", false, 2, 1, 1_500.5),
            step("commit", false, 1, 2, 2_000_000))), ZoneOffset.UTC)).isEqualTo("""
                01:02:03.004 compute-1 put if absent stored in 12.50 ms, queued 3.3 us: table users, key of 5 bytes \
                (hash 00000000000000ff), value of 100 bytes, 2 retries
                    at    0.0 us for   1.23 ms  start          waited
                    at   1.50 ms for   1.23 ms  swap           2 verbs to memory node 3
                    at    2.00 s for   1.23 ms  commit         1 verb to memory node 3, 2 round trips
                """);
    }

    /** Of requests of the same process, and of Redis' protocol, no arrival is known. */
    @Test
    void shouldSayNothingOfWhatIsNotKnown()
    {
        final Map<String, Object> operation = operation(0, List.of());
        operation.putAll(Map.of("queued_us", 0.0, "key_hash", "0000000000000000", "value_bytes", 0L, "retries", 1L,
            "key_bytes", 1L, "response_us", 999.94));
        assertThat(SlowlogText.of(operation, ZoneOffset.UTC)).isEqualTo(
            "01:02:03.004 compute-1 put if absent stored in 999.9 us: table users, key of 1 byte, 1 retry\n");
        operation.putAll(Map.of("queued_us", 0.05, "value_bytes", 1L, "retries", 0L, "response_us", 1_000.0));
        assertThat(SlowlogText.of(operation, ZoneOffset.UTC)).isEqualTo("01:02:03.004 compute-1 put if absent stored " +
            "in 1.00 ms, queued 0.1 us: table users, key of 1 byte, value of 1 byte\n");
    }

    @Test
    void shouldSayHowManyStepsAreLeftOutWhere()
    {
        final List<Map<String, Object>> steps = new ArrayList<>();
        for (int i = 0; i < 16; i++)
        {
            steps.add(step("look", false, i, 1, 0));
        }
        final List<String> lines = SlowlogText.of(operation(9, steps), ZoneOffset.UTC).lines().toList();
        assertThat(lines).hasSize(18);
        assertThat(lines.get(8)).contains("7 verbs");
        assertThat(lines.get(9)).isEqualTo("    ... 9 more");
        assertThat(lines.get(10)).contains("8 verbs");
    }

    @ParameterizedTest
    @CsvSource({"0, --limit 0: must be 1 to 1000000", "1000001, --limit 1000001: must be 1 to 1000000"})
    void shouldRefuseALimitThatIsNone(final String value, final String message)
    {
        final CommandLines.Result result = CommandLines.run(List.of("slowlog", "--limit", value));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(message);
    }

    @Test
    void shouldSayWhereNoClusterIs(@TempDir final Path directory)
    {
        final CommandLines.Result result = CommandLines.run(List.of("slowlog", "--data", directory.toString()));
        assertThat(result.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(result.err()).contains("no cluster is up in " + directory);
    }
}
