package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A cluster whose compute nodes refuse clients in clear, as an operator sees it. */
@Timeout(300)
class EncryptedClusterSystemTest
{
    private static final String SECRET = "a secret of ann";

    @TempDir
    private Path directory;

    private CommandLines.Result inFolder(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", directory.resolve("cluster").toString()));
        return CommandLines.run(all);
    }

    private static void expect(final int status, final String text, final CommandLines.Result result)
    {
        assertThat(result.status()).as(result.out() + result.err()).isEqualTo(status);
        assertThat(ExitStatus.OK == status ? result.out() : result.err()).contains(text);
    }

    private CommandLines.Result elsewhere(final String... arguments)
    {
        final ClusterFolder folder = ClusterFolder.of(directory.resolve("cluster"));
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--cluster", folder.address(), "--timeout-ms", "3000"));
        return CommandLines.run(all);
    }

    @AfterEach
    void down()
    {
        inFolder("down", "--discard");
    }

    @Test
    void shouldEncryptAllThatClientsAsk() throws IOException
    {
        expect(ExitStatus.OK, "up: ", inFolder("up", "--encrypt", "--memory", "64"));
        expect(ExitStatus.OK, "", inFolder("put", "hello", "world"));
        expect(ExitStatus.OK, "world", inFolder("get", "hello"));
        expect(ExitStatus.OK, "default", inFolder("table", "list"));
        expect(ExitStatus.OK, "", inFolder("scale", "--compute-nodes", "2"));
        assertThat(inFolder("status", "--json").out()).contains("\"encrypted_connections\"")
            .contains("\"refused_in_clear\":0").doesNotContain("\"refused_in_clear\":1");

        final String token = directory.resolve("cluster/token").toString();
        expect(ExitStatus.UNAVAILABLE, "only encrypted connections are taken here: give --encrypt",
            elsewhere("get", "hello", "--token-file", token));
        expect(ExitStatus.OK, "world", elsewhere("get", "hello", "--token-file", token, "--encrypt"));

        final Path file = Files.createFile(directory.resolve("secret"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, SECRET);
        expect(ExitStatus.USAGE, "encryption as user 'ann' takes TLS",
            elsewhere("get", "hello", "--encrypt", "--user", "ann", "--secret-file", file.toString()));
        expect(ExitStatus.USAGE, "--encrypt: this command reads memory nodes itself, which is encrypted only where",
            inFolder("table", "check", "default", "--encrypt"));

        final ClusterFolder folder = ClusterFolder.of(directory.resolve("cluster"));
        expect(ExitStatus.OK, "", inFolder("down"));
        assertThat(folder.isEncrypted()).as("it stays so").isTrue();
        expect(ExitStatus.OK, "", inFolder("down", "--discard"));
        assertThat(folder.isEncrypted()).isFalse();
    }
}
