package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The measurement of verbs, small: the shape of its figures, that nothing is allocated, what it refuses. */
class BenchVerbsCommandTest
{
    private static final List<String> OPERATIONS =
        List.of("read_dependent", "read_independent", "compare_swap_independent", "send_receive_ping_pong");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    @Timeout(300)
    void shouldMeasureEachOperationAgainstMemory() throws IOException
    {
        final Path json = folder.resolve("verbs.json");
        assertThat(run("bench", "verbs", "--bytes", "1048576", "--operations", "16000", "--rounds", "5", "--json",
            json.toString())).as(err.toString()).isZero();
        assertThat(out.toString().lines()).hasSize(1 + OPERATIONS.size() + 1);
        final String text = Files.readString(json);
        assertThat(text).contains("\"benchmark\":\"verbs\"", "\"target_bytes\":1048576",
            "\"operations_count\":16000", "\"rounds_count\":5");
        for (final String operation : OPERATIONS)
        {
            assertThat(text).containsPattern("\"operation\":\"" + operation + "\",\"bare_ns\":[0-9.]+," +
                "\"posted_ns\":[0-9.]+,\"posted_to_bare_ratio\":[0-9.]+,\"goal_ratio\":[0-9.]+," +
                "\"allocated_bytes\":0(\\.0)?,\"reached\":(true|false)");
        }
        assertThat(text).containsPattern("\"wake_ups\":\\[\\{\"operation\":\"send_wake_up\"," +
            "\"bare_p50_ns\":[1-9][0-9]*," +
            "\"bare_p99_ns\":[1-9][0-9]*,\"posted_p50_ns\":[1-9][0-9]*,\"posted_p99_ns\":[1-9][0-9]*," +
            "\"samples_count\":4000\\}\\]");
        assertThat(Pattern.compile("\"operation\":").matcher(text).results()).hasSize(OPERATIONS.size() + 1);
        assertThat(Path.of("/dev/shm", "verbena-bench-" + ProcessHandle.current().pid())).doesNotExist();
    }

    @Test
    void shouldRefuseWhatCannotBe()
    {
        assertThat(run("bench", "verbs", "--bytes", "5000")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "verbs", "--operations", "17")).isEqualTo(ExitStatus.USAGE);
        assertThat(run("bench", "verbs", "--rounds", "0")).isEqualTo(ExitStatus.USAGE);
        assertThat(err.toString().lines()).hasSize(3).allMatch(line -> line.startsWith("verbena: "));
    }

    private int run(final String... args)
    {
        return VerbenaCommand.commandLine(false)
            .setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(args);
    }
}
