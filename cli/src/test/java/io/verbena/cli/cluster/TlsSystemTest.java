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

/** A cluster with TLS, as it is typed: who has its token file needs nothing else. */
@Timeout(300)
class TlsSystemTest
{
    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    private Path folder()
    {
        return directory.resolve("cluster");
    }

    private CommandLines.Result run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder().toString()));
        return CommandLines.run(all);
    }

    private void expect(final int status, final String text, final String... arguments)
    {
        final CommandLines.Result result = run(arguments);
        assertThat(result.status()).as("%s: %s%s", List.of(arguments), result.out(), result.err()).isEqualTo(status);
        assertThat(ExitStatus.OK == status ? result.out() : result.err()).contains(text);
        assertThat(result.err()).hasLineCount(ExitStatus.OK == status ? 0 : 1);
    }

    private String tokenFile(final String secondLine) throws IOException
    {
        final Path file = directory.resolve("token");
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        final String token = Files.readAllLines(folder().resolve("token")).getFirst();
        return Files.writeString(file, token + "\n" + secondLine).toString();
    }

    @Test
    void shouldShakeHandsOverTlsOnly() throws IOException
    {
        expect(ExitStatus.OK, "up: ", "up", "--tls", "--memory", "64");
        expect(ExitStatus.OK, "", "put", "hello", "world");
        expect(ExitStatus.OK, "world", "get", "hello");
        expect(ExitStatus.OK, "", "scale", "--compute-nodes", "2");
        expect(ExitStatus.OK, "no users", "user", "list");

        final String plain = tokenFile("");
        expect(ExitStatus.USAGE, "the cluster takes TLS only: give its token file", "get", "hello", "--token-file",
            plain);
        final String authority = folder().resolve("tls/ca.crt").toString();
        expect(ExitStatus.OK, "world", "get", "hello", "--token-file", plain, "--tls-ca", authority);
        expect(ExitStatus.USAGE, "--tls-ca /no/such/file: no file that can be read", "get", "hello", "--tls-ca",
            "/no/such/file");
        final String strange = tokenFile("tls-authority sha256:" + "00".repeat(32));
        expect(ExitStatus.USAGE, "is not of an authority that is trusted", "get", "hello", "--token-file", strange);
        final CommandLines.Result node = CommandLines.run(List.of("memory-node", "--cluster",
            new ClusterFolder(folder()).address(), "--token-file", strange, "--data",
            directory.resolve("node").toString()));
        assertThat(node.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(node.err()).hasLineCount(1).contains("is not of an authority that is trusted");

        expect(ExitStatus.OK, "", "down");
        expect(ExitStatus.OK, "up: ", "up");
        expect(ExitStatus.OK, "world", "get", "hello");
        expect(ExitStatus.USAGE, "the cluster takes TLS only", "get", "hello", "--token-file", tokenFile(""));
    }
}
