package io.verbena.cli;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What {@code .ci/guest} makes of each end of a guest; the guest is a script. */
class CiGuestTest
{
    /** A program of a JDK, or Maven, started otherwise than by {@code ./verbena java}. */
    private static final Pattern OTHER_JAVA = Pattern.compile(
        "(?<!\\./verbena |comm |\\{)\\b(java|javac|jar|jshell|mvn)\\b(?![=\\[])|\\$\\{?JAVA_HOME");

    @TempDir
    private Path folder;

    /**
     * The guest has neither JAVA_HOME nor a Java of ours in its path: only the launcher knows where the right one is.
     */
    @ParameterizedTest
    @ValueSource(strings = {".ci", "dev/guest"})
    void shouldStartJavaByLauncherOnly(final String scripts) throws IOException
    {
        try (Stream<Path> files = Files.list(SourceTree.root().resolve(scripts)))
        {
            for (final Path file : files.filter((path) -> !path.toString().endsWith(".md")).toList())
            {
                assertThat(Files.readAllLines(file)).as(file.toString())
                    .noneMatch((line) -> OTHER_JAVA.matcher(line.replaceAll("^\\s*#.*", "")).find());
            }
        }
    }

    @Test
    void shouldTellOtherWaysToStartJava()
    {
        assertThat(List.of("java -cp x Main", "  \"$JAVA_HOME/bin/java\" Main", "ip netns exec a java Main",
            "run=(java -ea)", "exec /usr/bin/java Main", "\"${JAVA_HOME}\"/bin/jar xf y", "mvn test",
            "x=$(java -version)"))
            .allMatch((line) -> OTHER_JAVA.matcher(line).find());
        assertThat(List.of("./verbena java -cp x Main", "java=(./verbena java -ea)", "\"${java[@]}\" Main",
            "export JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1", "names=(JAVA_HOME LANG)", "grep 'comm java'"))
            .noneMatch((line) -> OTHER_JAVA.matcher(line).find());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "passed, 0, 0, echo PASSED; exit 0, 0, 'status 0'",
        "a step failed, 0, 0, echo '[guest] FAILED with status 1'; exit 1, 1, 'status 1'",
        "QEMU died or the kernel panicked, 0, 0, exit 70, 70, 'status 70'",
        "QEMU was killed, 0, 0, exit 137, 137, 'status 137'",
        "time is up, 0, 0, echo fine; exit 124, 0, 'NOT JUDGED'",
        "time is up after a failure, 0, 0, echo '[guest] FAILED with status 1'; exit 124, 1, 'FAILED: a step'",
        "no packages, 69, 0, exit 1, 0, 'NOT RUN'",
        "packages lost after preparing, 0, 0, exit 69, 69, 'status 69'",
        "broken preparation, 70, 0, exit 0, 70, 'could not be prepared'",
        "a build that fails, 0, 9, exit 0, 9, ''",
        "only the first guest failed, 0, 0, [[ $* != *rules ]], 1, 'rules: ended with status 1'",
        "only the second guest failed, 0, 0, [[ $* != *peers ]], 1, 'rules: ended with status 0'",
        "only the second one is late, 0, 0, [[ $* == *rules ]] || exit 124; exit 0, 0, 'peers: NOT JUDGED'",
        "one is late and the other one failed, 0, 0, [[ $* == *rules ]] || exit 124; exit 3, 3, 'peers: NOT JUDGED'"})
    void shouldPassOnlyWhatPassedOrHadNoTime(
        final String end, final int prepared, final int built, final String guest, final int status, final String text)
        throws IOException, InterruptedException
    {
        final Path script = Files.createDirectories(folder.resolve(".ci")).resolve("guest");
        Files.copy(SourceTree.root().resolve(".ci/guest"), script);
        final Path launcher = folder.resolve("verbena");
        Files.writeString(launcher, """
            #!/usr/bin/env bash
            case "$*" in
                'dev guest --prepare') exit %d ;;
                'test -pl rdma-roce'* | version) exit %d ;;
                'dev guest --timeout='*) %s; exit ;;
            esac
            exit 64
            """.formatted(prepared, built, guest));
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
        final Process process = new ProcessBuilder("bash", script.toString()).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(status);
        assertThat(output).contains(text);
    }
}
