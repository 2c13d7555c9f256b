package io.verbena.cli.bench;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** The measurement of clusters, short: its figures are there, and what could not be compared says so. */
@Timeout(300)
class ClusterBenchmarkSystemTest
{
    @Test
    void shouldMeasureEachAndSayWhatWasNotCompared() throws InterruptedException
    {
        final List<String> lines = new ArrayList<>();
        final Map<String, Object> figures = new ClusterBenchmark(200, 2_000, 2, 1, 0, lines::add).run();

        assertThat(lines).hasSize(4);
        assertThat((double)row(figures, "idle").get("all_percent")).isPositive();
        assertThat(row(figures, "idle")).containsKeys("meta_server_percent", "compute_2_percent", "reached");
        assertThat((double)row(figures, "start").get("exec_to_first_get_ms"))
            .isGreaterThan((double)row(figures, "start").get("exec_to_ready_ms")).isPositive();
        assertThat(String.valueOf(row(figures, "start").get("breakdown"))).startsWith("spawn_and_jvm=")
            .contains(" command=", " bootstrap=", " fabric=", " open=", " register=", " firstRequest=");
        assertThat((List<?>)row(figures, "start").get("all_ms")).hasSize(2);
        assertThat((double)row(figures, "load").get("load_seconds")).isPositive();
        assertThat(row(figures, "load").get("reached")).as("not judged for so few").isNull();
        final Map<String, Object> get = row(figures, "remote_get");
        assertThat((long)get.get("get_p50_ns")).isPositive().isLessThanOrEqualTo((long)get.get("get_p99_ns"));
        if (null == get.get("redis"))
        {
            assertThat(get.get("reached")).as("not compared").isNull();
            assertThat(String.valueOf(get.get("redis_missing"))).contains("redis-server");
            assertThat(lines.get(2)).contains("NOT COMPARED");
        }
        else
        {
            assertThat((long)get.get("redis_get_p50_ns")).isPositive();
            assertThat((List<?>)get.get("redis_get_rounds_p50_ns")).hasSize((int)get.get("rounds_count"));
            assertThat((double)get.get("redis_to_own_median_ratio")).isPositive();
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> row(final Map<String, Object> figures, final String name)
    {
        return (Map<String, Object>)figures.get(name);
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "cluster", "--operations", "0"));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains("--operations 1 to").hasLineCount(1);
    }
}
