package io.verbena.server.metrics;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class MetricsPageTest
{
    private static List<String> scrape(final Consumer<Measurements> source)
    {
        try (MetricsPage page = new MetricsPage(source))
        {
            return lines(page);
        }
    }

    private static List<String> lines(final MetricsPage page)
    {
        return new String(page.scrape(), StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldExposeCountersAndGaugesWithTheirLabels()
    {
        assertThat(scrape((measurements) ->
        {
            measurements.set(Metric.OPERATIONS, 7, "get", "found");
            measurements.set(Metric.OPERATIONS, 2, "put", "stored");
            measurements.set(Metric.CLIENTS, 3);
            measurements.set(Metric.READY, 1, "a \"quoted\"\\name");
        })).contains(
            "# HELP verbena_operations_total " + Metric.OPERATIONS.help(),
            "# TYPE verbena_operations_total counter",
            "verbena_operations_total{answer=\"found\",kind=\"get\"} 7.0",
            "verbena_operations_total{answer=\"stored\",kind=\"put\"} 2.0",
            "# TYPE verbena_clients gauge",
            "verbena_clients 3.0",
            "verbena_ready{role=\"a \\\"quoted\\\"\\\\name\"} 1.0");
    }

    @Test
    void shouldAddTheBucketsOfAHistogramUp()
    {
        assertThat(scrape((measurements) -> measurements.setHistogram(Metric.OPERATION_DURATION,
            new double[]{0.5, 1, Double.POSITIVE_INFINITY}, new long[]{4, 0, 3}, 12.5, "get"))).contains(
            "# TYPE verbena_operation_duration_seconds histogram",
            "verbena_operation_duration_seconds_bucket{kind=\"get\",le=\"0.5\"} 4",
            "verbena_operation_duration_seconds_bucket{kind=\"get\",le=\"1.0\"} 4",
            "verbena_operation_duration_seconds_bucket{kind=\"get\",le=\"+Inf\"} 7",
            "verbena_operation_duration_seconds_count{kind=\"get\"} 7",
            "verbena_operation_duration_seconds_sum{kind=\"get\"} 12.5");
    }

    @Test
    void shouldMeasureAnewForEachScrape()
    {
        final int[] scrapes = {0};
        try (MetricsPage page = new MetricsPage((measurements) -> measurements.set(Metric.CLIENTS, ++scrapes[0])))
        {
            assertThat(lines(page)).contains("verbena_clients 1.0");
            assertThat(lines(page)).contains("verbena_clients 2.0").doesNotContain("verbena_clients 1.0");
        }
    }

    @Test
    void shouldMeasureTheJavaProcess()
    {
        assertThat(scrape((_) ->
        {
        })).anyMatch((line) -> line.startsWith("jvm_memory_used_bytes{"))
            .anyMatch((line) -> line.startsWith("jvm_threads_live_threads "))
            .anyMatch((line) -> line.startsWith("process_cpu_usage "))
            .anyMatch((line) -> line.startsWith("process_files_open_files "));
    }

    @Test
    void shouldAnswerManyThreads()
    {
        try (MetricsPage page = new MetricsPage((measurements) -> measurements.set(Metric.CLIENTS, 5)))
        {
            final List<CompletableFuture<List<String>>> scrapes = new ArrayList<>();
            for (int i = 0; i < 32; i++)
            {
                scrapes.add(CompletableFuture.supplyAsync(() -> lines(page)));
            }
            scrapes.forEach((scrape) -> assertThat(scrape.join()).contains("verbena_clients 5.0"));
        }
    }

    @Test
    void shouldRefuseWhatDoesNotFitTheMetric()
    {
        final Measurements measurements = new Measurements();
        assertThatThrownBy(() -> measurements.set(Metric.OPERATION_DURATION, 1, "get"))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> measurements.setHistogram(Metric.CLIENTS, new double[0], new long[0], 0))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> measurements.set(Metric.OPERATIONS, 1, "get"))
            .isInstanceOf(IllegalArgumentException.class);
    }
}
