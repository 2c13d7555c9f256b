package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Where the password of Redis' protocol comes from. */
class RespOptionsTest
{
    /** A client that has not given it yet can send no longer argument. */
    private static final int LONGEST_BYTES = 16 * 1024;

    @TempDir
    private Path directory;

    private String configuration(final Map<String, String> environment, final String... arguments)
    {
        return CommandLine.populateCommand(new RespOptions(), arguments).configuration(environment).toString();
    }

    private String ofFile(final String text) throws IOException
    {
        final Path file = Files.writeString(directory.resolve("password"), text);
        return configuration(Map.of("VERBENA_RESP_PASSWORD", "other"), "--resp-port", "6379", "--resp-password-file",
            file.toString());
    }

    @Test
    void shouldTakeTheFirstLineOfAFileOrTheEnvironment() throws IOException
    {
        assertThat(ofFile("secret\nnext\n")).contains("hasPassword=true").doesNotContain("secret");
        assertThat(ofFile("s".repeat(LONGEST_BYTES) + "\n")).contains("hasPassword=true");
        assertThat(configuration(Map.of("VERBENA_RESP_PASSWORD", "secret"), "--resp-port", "6379"))
            .contains("hasPassword=true").doesNotContain("secret");
        assertThat(configuration(Map.of(), "--resp-port", "6379")).contains("hasPassword=false");
    }

    @Test
    void shouldRefuseAPasswordThatNoClientCanSend()
    {
        assertThatThrownBy(() -> ofFile("s".repeat(LONGEST_BYTES + 1) + "\n"))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("more than 16384 bytes");
        assertThatThrownBy(() -> ofFile("\nsecret\n")).isInstanceOf(CommandFailedException.class)
            .hasMessageContaining("is empty");
        assertThatThrownBy(() -> configuration(
            Map.of(), "--resp-port", "6379", "--resp-password-file", directory.resolve("none").toString()))
            .isInstanceOf(CommandFailedException.class).hasMessageContaining("no such file");
    }
}
