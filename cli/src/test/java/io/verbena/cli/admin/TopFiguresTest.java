package io.verbena.cli.admin;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

@SuppressWarnings("unchecked")
class TopFiguresTest
{
    private static Map<String, Object> node(final long pid, final Object kinds)
    {
        final Map<String, Object> health = new HashMap<>(Map.of("role", "compute-node", "ready", true, "clients", 2L));
        health.put("kinds", kinds);
        return process("compute-" + pid, pid, health);
    }

    private static Map<String, Object> process(final String name, final long pid, final Map<String, Object> health)
    {
        final Map<String, Object> process = new HashMap<>(Map.of("name", name, "pid", pid, "live", true));
        process.put("health", health);
        return process;
    }

    private static Map<String, Object> kind(final Map<String, Long> answers, final Long... durations)
    {
        return Map.of("answers", answers, "durations", List.of(durations));
    }

    @Test
    void shouldShowRatesAndTimesOfWhatCameBetween()
    {
        final Map<String, Object> figures = TopFigures.between(
            List.of(node(1, Map.of("get", kind(Map.of("found", 100L), 0L, 0L, 100L))), node(2, Map.of())),
            List.of(node(1, Map.of("get", kind(Map.of("found", 300L, "timed_out", 2L), 0L, 0L, 100L, 200L, 2L))),
                node(2, Map.of("put_if_absent", kind(Map.of("stored", 5L), 5L)))), 2_000_000_000L);

        assertThat(figures.get("operations_per_s")).isEqualTo(103.5);
        assertThat(figures.get("failed_per_s")).isEqualTo(1.0);
        final Map<?, ?> get = (Map<?, ?>)((List<?>)figures.get("kinds")).getFirst();
        assertThat(get.get("kind")).isEqualTo("get");
        assertThat(get.get("operations_per_s")).isEqualTo(101.0);
        assertThat((Double)get.get("median_us")).isEqualTo(Math.pow(2, 2 + 101 / 200.0), within(1e-9));
        assertThat((Double)get.get("p99_us")).isEqualTo(Math.pow(2, 2 + 0.99 * 202 / 200), within(1e-9));
        assertThat(figures.get("nodes")).asString().contains("name=compute-1, operations_per_s=101.0",
            "name=compute-2, operations_per_s=2.5, failed_per_s=0.0");
        assertThat(TopCommand.text(figures)).startsWith("104 operations/s, 1.00 failed/s\n")
            .containsPattern("(?m)^ +put if absent +2\\.50 +0 +0\\.7 us +1\\.0 us$")
            .containsPattern("(?m)^ +COMPUTE NODE +PER s +FAILED PER s +BUSY +QUEUED P99 +P99 +CLIENTS +HELD MiB$")
            .containsPattern("(?m)^ +compute-1 +101 +1\\.00 +- +- +8\\.0 us +2 +-$");
    }

    private static Map<String, Object> demand(
        final Map<String, Object> node, final long timeNs, final long busyNs, final Long... waits)
    {
        ((Map<String, Object>)node.get("health")).put("demand",
            Map.of("time_ns", timeNs, "busy_ns", busyNs, "wait_counts", List.of(waits)));
        return node;
    }

    @Test
    void shouldShowHowBusyANodeIsAndWhatWaits()
    {
        final Map<String, Object> figures = TopFigures.between(
            List.of(demand(node(1, Map.of()), 1_000, 400, 500L, 0L), demand(node(2, Map.of()), 500, 0),
                node(3, Map.of())),
            List.of(demand(node(1, Map.of()), 3_000, 1_900, 500L, 0L, 100L), demand(node(2, Map.of()), 400, 900, 1L),
                demand(node(3, Map.of()), 9_000, 9_000, 7L)), 2_000_000_000L);
        assertThat(figures.get("nodes")).asString().contains("busy_share=0.75", "busy_share=null");
        assertThat(TopCommand.text(figures)).startsWith("0 operations/s, 0 failed/s\n\n  no operation so far\n")
            .containsPattern("(?m)^ +COMPUTE NODE +PER s +BUSY +QUEUED P99 +P99 +CLIENTS +HELD MiB$")
            .containsPattern("(?m)^ +compute-1 +0 +75 % +4\\.0 us +- +2 +-$")
            // Its clock went back, as of another process of the same number; and one without figures before.
            .containsPattern("(?m)^ +compute-2 +0 +- +- +- +2 +-$")
            .containsPattern("(?m)^ +compute-3 +0 +- +- +- +2 +-$");
    }

    @Test
    void shouldShowTimesOfANodeWithoutScans()
    {
        final Map<String, Object> figures = TopFigures.between(List.of(node(1, Map.of())), List.of(node(1, Map.of(
            "get", kind(Map.of("found", 10L), 10L), "scan", kind(Map.of("found", 5L), 0L, 0L, 0L, 5L),
            "count", kind(Map.of("found", 5L), 0L, 0L, 0L, 5L)))), 1_000_000_000L);
        final Map<?, ?> node = (Map<?, ?>)((List<?>)figures.get("nodes")).getFirst();
        assertThat(node.get("operations_per_s")).isEqualTo(20.0);
        assertThat((Double)node.get("p99_us")).isLessThanOrEqualTo(1.0);
        assertThat(figures.get("kinds")).asString().contains("kind=scan, operations_per_s=5.0");
    }

    /** As on most terminals. */
    @Test
    void shouldFitIntoEightyColumns()
    {
        final Map<String, Object> before = demand(node(1, Map.of()), 0, 0);
        final Map<String, Object> now = demand(node(1, Map.of("put_if_absent",
            kind(Map.of("stored", 999_999L), 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 9L))), 1_000, 1_000,
            0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 9L);
        ((Map<String, Object>)now.get("health")).put("held_bytes", 99_999L << 20);
        ((Map<String, Object>)now.get("health")).put("clients", 4_096L);
        assertThat(TopCommand.text(TopFigures.between(List.of(before), List.of(now), 1_000_000_000L)).lines())
            .allSatisfy((line) -> assertThat(line.length()).as(line).isLessThanOrEqualTo(80));
    }

    /** What it counted before cannot be told apart from what it did now. */
    @Test
    void shouldNotCountWhatAProcessDidBeforeItWasSeen()
    {
        final Map<String, Object> now = node(1, Map.of("get", kind(Map.of("found", 1_000_000L), 1_000_000L)));
        for (final List<Map<String, Object>> before : List.of(List.<Map<String, Object>>of(),
            List.of(process("compute-1", 1, null)), List.of(node(7, Map.of()))))
        {
            final Map<String, Object> figures = TopFigures.between(before, List.of(now), 1_000_000_000);
            assertThat(figures.get("operations_per_s")).isEqualTo(0.0);
            assertThat(figures.get("kinds")).isEqualTo(List.of());
            assertThat(figures.get("nodes")).asString().contains("median_us=null");
        }
    }

    @Test
    void shouldShowFaultsOfProcessesThatDoNotAnswer()
    {
        final List<Map<String, Object>> processes = List.of(process("memory-1", 9, null));
        final Map<String, Object> figures = TopFigures.between(processes, processes, 1);
        assertThat(TopCommand.text(figures)).contains("error: memory-1: process 9 does not answer");
    }

    @Test
    void shouldFindFractionsOfADistribution()
    {
        assertThat(TopFigures.percentileUs(new long[]{0, 0}, 0.5)).isNull();
        assertThat(TopFigures.percentileUs(new long[]{10}, 1)).isEqualTo(1.0);
        assertThat(TopFigures.percentileUs(new long[]{0, 0, 4, 0, 4}, 0.5)).isEqualTo(4.0);
        assertThat(TopFigures.percentileUs(new long[]{0, 0, 4, 0, 4}, 0.75)).isEqualTo(Math.pow(2, 3.5));
    }

    @ParameterizedTest
    @CsvSource({"--interval-seconds, 0", "--interval-seconds, 3601", "--count, 0", "--cluster, verbena://x:1"})
    void shouldRefuseInvalidOptions(final String option, final String value)
    {
        final CommandLines.Result result = CommandLines.run(List.of("top", option, value));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(option).hasLineCount(1);
    }

    @Test
    void shouldSayThatNothingIsUp(@TempDir final Path directory)
    {
        final CommandLines.Result result = CommandLines.run(List.of("top", "--data", directory.toString()));
        assertThat(result.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(result.err()).contains("no cluster is up in " + directory).hasLineCount(1);
    }
}
