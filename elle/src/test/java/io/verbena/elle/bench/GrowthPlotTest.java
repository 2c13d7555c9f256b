package io.verbena.elle.bench;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

class GrowthPlotTest
{
    @Test
    void shouldDrawALineForWhatWasMeasuredAtSeveralLengths()
    {
        final String svg = GrowthPlot.of(List.of(
            row("a < b", 1_000, 10), row("a < b", 2_000, 20), row("a < b", 4_000, 40), row("once", 1_000, 5)));

        assertThat(svg).startsWith("<svg").endsWith("</svg>\n").contains("a &lt; b").doesNotContain("once");
        assertThat(svg.split("<circle")).hasSize(4);
        assertThat(svg.split("<polyline")).hasSize(2);
    }

    @Test
    void shouldBeAsSteepAsTheDashedLineWhenTimeGrowsInProportion()
    {
        final String svg = GrowthPlot.of(List.of(row("a", 1_000, 10), row("a", 2_000, 20), row("a", 5_000, 50)));

        final double[] line = numbers(svg, "points=\"([0-9., ]+)\"");
        final double[] dashed = numbers(svg,
            "x1=\"([0-9.]+\" y1=\"[0-9.]+\" x2=\"[0-9.]+\" y2=\"[0-9.]+)\" stroke=\"#888");
        assertThat((line[3] - line[1]) / (line[2] - line[0]))
            .isCloseTo((dashed[3] - dashed[1]) / (dashed[2] - dashed[0]), offset(0.01));
    }

    @Test
    void shouldDrawAnEmptyImageWhenNothingWasMeasuredAtSeveralLengths()
    {
        assertThat(GrowthPlot.of(List.of(row("once", 1_000, 5)))).doesNotContain("NaN", "circle");
    }

    private static double[] numbers(final String svg, final String pattern)
    {
        final Matcher match = Pattern.compile(pattern).matcher(svg);
        assertThat(match.find()).isTrue();
        // "y1" and "x2" leave their digits behind: no coordinate is that small.
        return Arrays.stream(match.group(1).split("[^0-9.]+")).filter(text -> !text.isEmpty())
            .mapToDouble(Double::parseDouble).filter(number -> number > 3).toArray();
    }

    private static BenchmarkRow row(final String name, final long length, final double ms)
    {
        return new BenchmarkRow(name, length, ms, 0, 0, "valid");
    }
}
