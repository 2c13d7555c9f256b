package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys and values as words of the command line: what is not text in UTF-8 is refused before anything is asked. */
class RecordWordsSystemTest
{
    @TempDir
    private Path folder;

    private int status(final String... words)
    {
        final List<String> all = new ArrayList<>(List.of(words));
        all.addAll(List.of("--data", folder.toString()));
        final CommandLines.Result result = CommandLines.run(all);
        if (ExitStatus.USAGE == result.status())
        {
            assertThat(result.err()).contains("is not text in UTF-8: use --hex").hasLineCount(1);
        }
        return result.status();
    }

    @Test
    void shouldRefuseReplacedCharactersAndHalvesOfThem()
    {
        for (final String word : List.of("\ufffd", "bad\ufffd\ufffd", "\ud800", "a\udc00b"))
        {
            for (final String command : List.of("get", "exists", "delete"))
            {
                assertThat(status(command, word)).isEqualTo(ExitStatus.USAGE);
            }
            for (final String command : List.of("put", "replace", "append"))
            {
                assertThat(status(command, word, "v")).isEqualTo(ExitStatus.USAGE);
                assertThat(status(command, "k", word)).isEqualTo(ExitStatus.USAGE);
            }
        }
        // No cluster is up: so far they come.
        assertThat(status("get", "\u00e4\ud83d\ude00")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(status("get", "--hex", "efbfbd")).isEqualTo(ExitStatus.UNAVAILABLE);
    }

    @Test
    void shouldNotTakeOneFileForAnother()
    {
        for (final List<String> words : List.of(List.of("dump", "b\ufffd"), List.of("put", "k", "--file", "b\ufffd")))
        {
            final CommandLines.Result result = CommandLines.run(words);
            assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
            assertThat(result.err()).contains("stands for a file name that is not UTF-8");
        }
        assertThat(folder).isEmptyDirectory();
    }

    /** The name of a file behind an '@' is a key as any other. */
    @Test
    void shouldTakeWordsAsTheyAre()
    {
        assertThat(status("get", "@/proc/self/cmdline")).isEqualTo(ExitStatus.UNAVAILABLE);
    }

    /** A JVM in the locale that the launcher chooses, and in one where all that is not ASCII looks the same. */
    @Test
    void shouldNotTakeWordsForOthersInAnyLocale() throws IOException, InterruptedException
    {
        assertThat(statusOf("C.UTF-8", "$'\\xc3\\xa4'")).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(statusOf("C.UTF-8", "$'bad\\xff\\xfe'")).isEqualTo(ExitStatus.USAGE);
        assertThat(statusOf("C", "$'\\xc3\\xa4'")).isEqualTo(ExitStatus.USAGE);
    }

    private int statusOf(final String locale, final String word) throws IOException, InterruptedException
    {
        final List<String> command = new ArrayList<>(List.of("env", "LC_ALL=" + locale, "bash", "-c",
            "exec \"$@\" get --data \"$0\" " + word, folder.toString()));
        command.addAll(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC"), List.of()));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(said).startsWith("verbena: ").hasLineCount(1);
        return process.exitValue();
    }
}
