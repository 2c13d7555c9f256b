package io.verbena.cli.bench;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The measurement of connecting, short, with one start of each process. */
@Timeout(300)
class BenchConnectCommandSystemTest
{
    private static final String NUMBER = "[0-9.Ee]+";

    @TempDir
    private Path folder;

    @Test
    void shouldPrintAndWriteEachFigure() throws IOException
    {
        final Path json = folder.resolve("connect.json");
        final CommandLines.Result result = CommandLines.run(
            List.of("bench", "connect", "--samples", "20", "--starts", "1", "--json", json.toString()));
        assertThat(result.status()).as(result.err()).isIn(ExitStatus.OK, ExitStatus.FAILED);
        assertThat(result.out().lines().map((line) -> line.split(" ")[0])).containsExactly("figure", "known_peer",
            "unknown_peer", "queue_pair_on_open_device", "queue_pair_and_device", "exec_to_first_get",
            "exec_to_first_get_tls", "tls_of_first_get");
        final String text = Files.readString(json).replaceAll("\\s", "");
        assertThat(text).contains("\"benchmark\":\"connect\"", "\"samples_count\":20", "\"starts_count\":1")
            .containsPattern("\"figure\":\"known_peer\",\"own_us\":" + NUMBER +
                ",\"reference_us\":null,\"judged_us\":" + NUMBER +
                ",\"goal_at_most\":1,\"reads_count\":0,\"sends_count\":0,\"reached\":(true|false)")
            .containsPattern("\"figure\":\"exec_to_first_get\",\"own_us\":" + NUMBER + ",\"reference_us\":" + NUMBER +
                ",\"judged_ratio\":" + NUMBER + ",\"goal_at_most\":1.5,\"reads_count\":null,\"sends_count\":null," +
                "\"reached\":(true|false)")
            .containsPattern("\"figure\":\"tls_of_first_get\",\"own_us\":-?" + NUMBER + ",\"reference_us\":null," +
                "\"judged_us\":-?" + NUMBER + ",\"goal_at_most\":150000");
        assertThat(Path.of("/dev/shm", "verbena-bench-" + ProcessHandle.current().pid())).doesNotExist();
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        final CommandLines.Result result = CommandLines.run(List.of("bench", "connect", "--samples", "0"));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains("--samples 0, 1 to 100000").hasLineCount(1);
    }
}
