package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands as processes whose environment holds settings. */
@Timeout(200)
class SettingsSystemTest
{
    @TempDir
    private Path directory;
    private int status;

    @AfterEach
    void leaveNothingBehind()
    {
        CommandLines.run(List.of("down", "--discard", "--data", directory.resolve("cluster").toString()));
    }

    private String run(final String name, final String value, final String... words)
        throws IOException, InterruptedException
    {
        final Path said = directory.resolve("said");
        final ProcessBuilder builder =
            new ProcessBuilder(NodeLauncher.commandLine(List.of("-XX:+UseSerialGC"), List.of(words)));
        builder.environment().put(name, value);
        builder.environment().put("VERBENA_DATA", directory.resolve("cluster").toString());
        // Not a pipe, which the processes of the cluster would hold open.
        status = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start().waitFor();
        return Files.readString(said, StandardCharsets.UTF_8);
    }

    @Test
    void shouldRefuseAFileOfSettingsWithoutRepeatingWhatWasTyped() throws Exception
    {
        final String file = directory.resolve("none").toString();
        assertThat(run("VERBENA_CONFIG", file, "put", "key", "secret"))
            .isEqualTo("verbena: VERBENA_CONFIG=" + file + ": cannot be read (no such file or folder)\n");
        assertThat(status).isEqualTo(ExitStatus.BAD_DATA);
    }

    @Test
    void shouldTakeSettingsFromAFile() throws Exception
    {
        final Path file = Files.writeString(directory.resolve("settings"), "records=0\n");
        assertThat(run("VERBENA_CONFIG", file.toString(), "table", "create", "orders"))
            .startsWith("verbena: --records 0: must be 1 to ").endsWith(" (VERBENA_CONFIG=" + file + ", line 1)\n")
            .hasLineCount(1);
        assertThat(run("VERBENA_CONFIG", file.toString(), "table", "create", "orders", "--records=-1"))
            .startsWith("verbena: --records -1: must be 1 to ").doesNotContain("VERBENA_CONFIG");
        Files.writeString(file, "# how many\nrecords=many\n");
        assertThat(run("VERBENA_CONFIG", file.toString(), "table", "create", "orders"))
            .startsWith("verbena: ").contains("'many' is not").endsWith(" (VERBENA_CONFIG=" + file + ", line 2)\n")
            .hasLineCount(1);
        assertThat(status).isEqualTo(ExitStatus.USAGE);
        assertThat(run("VERBENA_RECORDS", "few", "table", "create", "orders"))
            .contains("'few' is not").endsWith(" (VERBENA_RECORDS in the environment)\n");
        assertThat(status).isEqualTo(ExitStatus.USAGE);
        Files.writeString(file, "recrods=0\n");
        assertThat(run("VERBENA_CONFIG", file.toString(), "table", "create", "orders"))
            .isEqualTo("verbena: VERBENA_CONFIG=" + file + ": line 1: no command has an option --recrods\n");
        assertThat(status).isEqualTo(ExitStatus.BAD_DATA);
    }

    /** It is a setting of one role; processes of {@code up} are many. */
    @Test
    void shouldGiveEachProcessAHealthPortOfItsOwn() throws Exception
    {
        try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            final String port = Integer.toString(busy.getLocalPort());
            final String said = run("VERBENA_HEALTH_PORT", port, "up", "--memory", "64");
            assertThat(said).contains("memory-1 ready: ", "compute-1 ready: ")
                .doesNotContain("localhost:" + port + "/");
            assertThat(status).isZero();
        }
    }
}
