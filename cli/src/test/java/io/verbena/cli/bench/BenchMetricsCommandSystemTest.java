package io.verbena.cli.bench;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The measurement of scrapes, short. */
@Timeout(300)
class BenchMetricsCommandSystemTest
{
    private static final String NUMBER = "[0-9.E]+";

    @Test
    void shouldPrintAndWriteEachRow(@TempDir final Path folder) throws IOException
    {
        final Path json = folder.resolve("metrics.json");
        final CommandLines.Result result = CommandLines.run(
            List.of("bench", "metrics", "--tables", "2", "--pairs", "1", "--json", json.toString()));
        assertThat(result.status()).as(result.err()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        assertThat(result.out().lines().map((line) -> line.split(" ")[0]))
            .containsExactly("figure", "slowest_page_scrape_ms", "get_ns", "duty_cycle_p999_us");
        final String text = Files.readString(json).replaceAll("\\s", "");
        assertThat(text).contains("\"benchmark\":\"metrics\"", "\"tables_count\":2", "\"pairs_count\":1")
            .containsPattern("\"figure\":\"slowest_page_scrape_ms\",\"with_scrapes\":" + NUMBER + ",\"judged\":" +
                NUMBER + ",\"goal_at_most\":10,")
            .containsPattern("\"figure\":\"get_ns\",\"with_scrapes\":" + NUMBER + ",\"without_scrapes\":" + NUMBER +
                ",\"judged\":" + NUMBER + ",\"goal_at_most\":1.03,\"reached\":(true|false)");
        // Whatever the machine does: the status says what the rows say.
        assertThat(result.status()).isEqualTo(
            text.contains("\"reached\":false") ? ExitStatus.FAILED : ExitStatus.OK);
    }

    @ParameterizedTest
    @CsvSource({"--tables, 0", "--tables, 501", "--pairs, 0", "--seconds, 61"})
    void shouldRefuseWhatIsOutOfRange(final String option, final String value)
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "metrics", option, value));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(option + ' ' + value).hasLineCount(1);
    }
}
