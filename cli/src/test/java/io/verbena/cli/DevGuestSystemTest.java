package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Boots the guest. Skipped where it is not prepared: preparing downloads packages, which is not for a test.
 */
class DevGuestSystemTest
{
    @TempDir
    private Path folder;

    @Test
    @Timeout(900)
    void shouldRunACommandBesideAnRdmaDevice() throws IOException, InterruptedException
    {
        final LauncherTree.Run prepared = run("--prepare", "--no-download");
        assumeTrue(prepared.status() != ExitStatus.UNAVAILABLE, prepared.err().strip());
        assertThat(prepared.status()).as(prepared.err()).isZero();

        final Path target = Files.createDirectories(SourceTree.root().resolve("cli/target"));
        final Path written = target.resolve("guest-" + UUID.randomUUID());
        try
        {
            final LauncherTree.Run run = run("--timeout=600", "--", "bash", "-c",
                "ibv_devices; pwd; echo written > \"$0\"; touch /usr/only-in-the-guest; echo 'to err' >&2; exit 7",
                written.toString());

            assertThat(run.status()).as(run.err()).isEqualTo(7);
            assertThat(run.out()).contains("rxe0").endsWith(SourceTree.root() + "\n");
            assertThat(run.err()).isEqualTo("to err\n");
            assertThat(written).content().isEqualTo("written\n");
            assertThat(Path.of("/usr/only-in-the-guest")).doesNotExist();
        }
        finally
        {
            Files.deleteIfExists(written);
        }
    }

    private LauncherTree.Run run(final String... arguments) throws IOException, InterruptedException
    {
        final List<String> command =
            new ArrayList<>(List.of(SourceTree.root().resolve("verbena").toString(), "dev", "guest"));
        command.addAll(List.of(arguments));
        final File out = folder.resolve("out").toFile();
        final File err = folder.resolve("err").toFile();
        final Process process = new ProcessBuilder(command).directory(SourceTree.root().toFile())
            .redirectOutput(out).redirectError(err).start();
        try
        {
            final int status = process.waitFor();
            return new LauncherTree.Run(status, Files.readString(out.toPath()), Files.readString(err.toPath()));
        }
        finally
        {
            process.destroy();
        }
    }
}
