package io.verbena.cli;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import static org.assertj.core.api.Assertions.assertThat;

/** What {@code .ci/guest} makes of each end of a guest; the guest is a script. */
class CiGuestTest
{
    @TempDir
    private Path folder;

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
        "a build that fails, 0, 9, exit 0, 9, ''"})
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
                'dev guest --timeout='*) %s ;;
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
