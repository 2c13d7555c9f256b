package io.verbena.load.report;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ReportTest
{
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    @Test
    void shouldWriteJson()
    {
        final Map<String, Object> map = new LinkedHashMap<>();
        map.put("text", "say \"hi\"\n\\ \u00b5");
        map.put("list", Arrays.asList(1, 2L, null));
        map.put("number", 12345678.5);
        map.put("small", 0.000001);
        map.put("nan", Double.NaN);
        map.put("flag", true);
        map.put("empty", Map.of());
        map.put("none", List.of());

        assertThat(JsonWriter.write(map)).isEqualTo("""
            {
              "text": "say \\"hi\\"\\n\\\\ µ",
              "list": [
                1,
                2,
                null
              ],
              "number": 12345678.5,
              "small": 0.000001,
              "nan": null,
              "flag": true,
              "empty": {},
              "none": []
            }
            """);
    }

    @Test
    void shouldRefuseToWriteWhatIsNoJson()
    {
        assertThatThrownBy(() -> JsonWriter.write(Map.of("a", new Object())))
            .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAlignColumns()
    {
        assertThat(new TextTable().row("name", "count").row("a", "1,000,000").toString())
            .isEqualTo("  name       count\n  a      1,000,000\n");
    }

    @Test
    void shouldWriteNumbersForPeople()
    {
        assertThat(Units.count(1234567)).isEqualTo("1,234,567");
        assertThat(Units.duration(999)).isEqualTo("999 ns");
        assertThat(Units.duration(12_345)).isEqualTo("12.3 µs");
        assertThat(Units.duration(4_560_000)).isEqualTo("4.56 ms");
        assertThat(Units.duration(7_890_000_000L)).isEqualTo("7.89 s");
        assertThat(Units.mebibytes((1 << 20) + 1)).isEqualTo("2 MiB");
        assertThat(Units.mean(1.25)).isEqualTo("1.250");
    }

    @Test
    void shouldOverwriteOneLineOnATerminalAndFitIt()
    {
        final Progress progress = Progress.onTerminal(out, 50);

        progress.update(0, "run", 0.5, "a very long text that does not fit into this terminal");
        progress.update(1, "run", 1.0, "end");
        progress.clear();

        final String text = bytes.toString(StandardCharsets.UTF_8);
        assertThat(text).doesNotContain("\n");
        assertThat(text.split("\r")).allSatisfy(line -> assertThat(line.length()).isIn(0, 49));
        assertThat(text).contains("█".repeat(12) + "░".repeat(12) + "  50%");
    }

    @Test
    void shouldWriteALineNowAndThenElsewhere()
    {
        final Progress progress = Progress.plain(out);

        for (int second = 0; second <= 10; second++)
        {
            progress.update(TimeUnit.SECONDS.toNanos(second), "run", second / 11.0, "x");
        }
        progress.say("done");

        assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
            .containsExactly("run     0%  x", "run    45%  x", "run    90%  x", "done");
    }
}
