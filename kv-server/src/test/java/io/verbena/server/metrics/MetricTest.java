package io.verbena.server.metrics;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

class MetricTest
{
    private static final Path PAGE = Path.of("../docs/metrics-catalogue.md");

    @ParameterizedTest
    @EnumSource
    void shouldBeNamedAsPrometheusAsks(final Metric metric)
    {
        assertThat(metric.exposedName()).matches("verbena(_[a-z]+)+")
            .doesNotContain("_ms", "_ns", "_us", "milliseconds", "_kb", "_count", "_sum", "_bucket");
        assertThat(metric.exposedName().endsWith("_total")).isEqualTo(Metric.Kind.COUNTER == metric.kind());
        assertThat(metric.labels()).allSatisfy((label) -> assertThat(label).matches("[a-z]+(_[a-z]+)*"))
            .doesNotHaveDuplicates();
        assertThat(metric.help()).matches("(?s)[A-Z0-9].*\\.");
        assertThat(metric.sources()).isNotEmpty();
    }

    @Test
    void shouldHaveDistinctNames()
    {
        assertThat(Arrays.stream(Metric.values()).map(Metric::exposedName)).doesNotHaveDuplicates();
    }

    /** To write the table anew: copy what this test expects. */
    @Test
    void shouldStandOnThePageAsInTheCode() throws IOException
    {
        final List<String> rows = Files.readAllLines(PAGE).stream()
            .filter((line) -> line.startsWith("| `verbena_")).toList();
        assertThat(rows).containsExactlyElementsOf(Arrays.stream(Metric.values()).map(MetricTest::row).toList());
    }

    private static String row(final Metric metric)
    {
        return "| `" + metric.exposedName() + "` | " + metric.kind() + " | " +
            metric.labels().stream().map((label) -> '`' + label + '`').collect(Collectors.joining(", ")) + " | " +
            metric.sources().stream().sorted().map(MetricTest::name).collect(Collectors.joining(", ")) + " | " +
            metric.help() + " |";
    }

    private static String name(final Metric.Source source)
    {
        return source.name().substring(0, source.name().indexOf('_')).toLowerCase(Locale.ROOT);
    }
}
