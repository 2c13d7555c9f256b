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

/** The measurement of encryption, short. */
@Timeout(300)
class BenchEncryptCommandSystemTest
{
    private static final String NUMBER = "[0-9.E]+";

    @Test
    void shouldPrintAndWriteEachRow(@TempDir final Path folder) throws IOException
    {
        final Path json = folder.resolve("encrypt.json");
        final CommandLines.Result result = CommandLines.run(
            List.of("bench", "encrypt", "--pairs", "2", "--round-ms", "10", "--warm-up-ms", "10", "--json",
                json.toString()));
        assertThat(result.status()).as(result.err()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        assertThat(result.out().lines().map((line) -> line.split(" ")[0])).containsExactly(
            "median", "get_network", "put_network", "get_shared_memory", "put_shared_memory");
        final String text = Files.readString(json).replaceAll("\\s", "");
        final String figures = ",\"encrypted_us\":" + NUMBER + ",\"clear_us\":" + NUMBER + ",\"ratio\":" + NUMBER;
        assertThat(text).contains("\"benchmark\":\"encrypt\"", "\"pairs_count\":2", "\"round_ms\":10")
            .containsPattern("\"figure\":\"get_network\"" + figures + ",\"goal_at_most\":1.5,\"reached\":(true|false)")
            .containsPattern("\"figure\":\"put_shared_memory\"" + figures + rounds("encrypted") + rounds("clear") +
                "}");
        // Whatever the machine does: the status says what the row says.
        assertThat(result.status()).isEqualTo(
            text.contains("\"reached\":false") ? ExitStatus.FAILED : ExitStatus.OK);
    }

    /** One number for each pair. */
    private static String rounds(final String side)
    {
        return ",\"" + side + "_rounds_us\":\\[" + NUMBER + ',' + NUMBER + ']';
    }

    @ParameterizedTest
    @CsvSource({"--pairs, 0", "--pairs, 1001", "--round-ms, 9", "--round-ms, 60001", "--warm-up-ms, 9",
        "--warm-up-ms, 60001"})
    void shouldRefuseWhatIsOutOfRange(final String option, final String value)
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "encrypt", option, value));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(option + ' ' + value).hasLineCount(1);
    }
}
