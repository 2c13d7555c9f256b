package io.verbena.cli;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What the shell completes with the script of {@code verbena completion}. */
class CompletionCommandTest
{
    @TempDir
    private Path folder;
    private Path script;

    @BeforeEach
    void printScript() throws IOException
    {
        final StringWriter out = new StringWriter();
        assertThat(VerbenaCommand.commandLine(false, "completion").setOut(new PrintWriter(out)).execute("completion"))
            .isZero();
        script = Files.writeString(folder.resolve("completion"), out.toString());
    }

    @Test
    void shouldCompleteCommandsAndOptions() throws IOException, InterruptedException
    {
        assertThat(complete("verbena", "che")).containsExactlyInAnyOrder("check", "checkpoint");
        assertThat(complete("verbena", "table", "cr")).containsExactly("create");
        assertThat(complete("verbena", "up", "--compute")).containsExactly("--compute-nodes");
        assertThat(complete("verbena", "train")).isEmpty();
    }

    private List<String> complete(final String... words) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of("bash", "-c",
            // Outside of a completion, the shell has no options of one to set.
            "compopt() { :; }; source \"$1\"; shift; COMP_WORDS=(\"$@\"); " +
            "COMP_CWORD=$(( $# - 1 )); _complete_verbena; printf '%s\\n' \"${COMPREPLY[@]}\"", "bash",
            script.toString()));
        command.addAll(List.of(words));
        final Process bash = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String printed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(printed).isZero();
        return printed.lines().filter((line) -> !line.isEmpty()).map(String::strip).toList();
    }
}
