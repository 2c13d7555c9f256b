package io.verbena.cli;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Does what a reader of the README does: copies the example, copies its launch line, runs it, and compares.
 */
class ReadmeSystemTest
{
    private static final long TIMEOUT_S = 120;

    private final String readme = SourceTree.text(SourceTree.root().resolve("README.md"));

    @TempDir
    private Path folder;

    @Test
    void shouldRunItsExampleByItsLaunchLine() throws IOException, InterruptedException
    {
        final String example = block("java");
        final String launch = line("^java @config/jvm\\.args .*\\.java$");
        final Matcher file = Pattern.compile("(\\S+\\.java)$").matcher(launch);
        assertThat(file.find()).isTrue();
        Files.writeString(folder.resolve(file.group(1)), example);
        pretendToBeTheRoot();

        final Path output = folder.resolve("output");
        final ProcessBuilder builder = new ProcessBuilder("bash", "-c", launch)
            .directory(folder.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("PATH", System.getProperty("java.home") + "/bin:" + System.getenv("PATH"));
        final Process process = builder.start();
        final boolean ended = process.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
        process.destroyForcibly();

        assertThat(ended).as(Files.readString(output)).isTrue();
        assertThat(Files.readString(output)).isEqualTo("hello\ntrue\n");
        assertThat(readme).contains("prints `hello` and `true`");
    }

    @Test
    void shouldNameCommandsThatThereAre()
    {
        final var commands = VerbenaCommand.commandLine(false).getSubcommands().keySet();
        final Matcher call = Pattern.compile("\\./verbena ([a-z][a-z-]*)").matcher(readme);
        assertThat(call.results().map(result -> result.group(1))).isNotEmpty().isSubsetOf(commands);
    }

    // The launch line asks ./verbena for the class path; the tree it would build is the one this test runs in, so a
    // stand-in answers with the class path of this test.
    private void pretendToBeTheRoot() throws IOException
    {
        Files.createDirectory(folder.resolve("config"));
        Files.copy(SourceTree.root().resolve("config/jvm.args"), folder.resolve("config/jvm.args"));
        final Path launcher = Files.writeString(folder.resolve("verbena"),
            "#!/bin/sh\n[ \"$*\" = classpath ] || exit 1\ncat class.path\n");
        Files.writeString(folder.resolve("class.path"), classPath() + "\n");
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }

    // Surefire may put the class path into a manifest; the entries are then in this property.
    private static String classPath()
    {
        final String given = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        assertThat(given.split(File.pathSeparator)).hasSizeGreaterThan(10);
        return given;
    }

    private String block(final String language)
    {
        final Matcher block = Pattern.compile("```" + language + "\\n(.*?)```", Pattern.DOTALL).matcher(readme);
        assertThat(block.find()).as("a " + language + " block").isTrue();
        return block.group(1);
    }

    private String line(final String pattern)
    {
        final Matcher line = Pattern.compile(pattern, Pattern.MULTILINE).matcher(readme);
        assertThat(line.find()).as(pattern).isTrue();
        return line.group();
    }
}
