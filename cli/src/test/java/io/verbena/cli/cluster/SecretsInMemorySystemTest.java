package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Whoever gets a dump of the heap of a command or node finds no token, secret or key in it that can be read. */
@Timeout(300)
class SecretsInMemorySystemTest
{
    private static final String SECRET = "Opens-Sesame-And-Nothing-Else";
    private static final String MARKER = "marker-of-the-heap";

    @TempDir
    private Path directory;

    private String folder()
    {
        return directory.resolve("cluster").toString();
    }

    private void run(final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder()));
        final CommandLines.Result result = CommandLines.run(all);
        assertThat(result.status()).as(result.err()).isZero();
    }

    @AfterEach
    void leaveNothingBehind()
    {
        run("down", "--discard");
    }

    @Test
    void shouldHaveNoSecretAsTextInTheHeap() throws Exception
    {
        run("up", "--tls", "--memory", "16");
        final Path secret = directory.resolve("secret");
        Files.createFile(secret, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secret, SECRET + "\n");
        run("user", "add", "ann", "--new-secret-file", secret.toString(), "--grant", "read,write,admin:*");
        final ClusterFolder cluster = ClusterFolder.of(Path.of(folder()));
        final String token = Files.readAllLines(cluster.token()).getFirst();

        final Path ofOperator = dumpOfShell("--data", folder());
        assertThat(has(ofOperator, MARKER, StandardCharsets.ISO_8859_1)).as("what is text is found").isTrue();
        requireAbsent(ofOperator, token);
        final Path ofUser = dumpOfShell("--cluster", cluster.address(), "--user", "ann", "--secret-file",
            secret.toString(), "--tls-ca", cluster.path().resolve("tls").resolve("ca.crt").toString());
        assertThat(has(ofUser, MARKER, StandardCharsets.ISO_8859_1)).isTrue();
        assertThat(has(ofUser, SECRET, StandardCharsets.ISO_8859_1)).as("secret of a user").isFalse();
        final List<String> key = Files.readAllLines(cluster.path().resolve("tls").resolve("meta-server.key"));
        for (final ProcessTable.Entry entry : new ProcessTable(cluster.processes()).entries())
        {
            final Path ofNode = dump(entry.pid());
            requireAbsent(ofNode, token);
            requireAbsent(ofNode, key.get(1));
        }
    }

    private static void requireAbsent(final Path dump, final String secret) throws IOException
    {
        assertThat(secret).hasSize(64);
        assertThat(has(dump, secret, StandardCharsets.ISO_8859_1)).as("%s", dump).isFalse();
        assertThat(has(dump, secret, StandardCharsets.UTF_16BE)).as("%s", dump).isFalse();
    }

    /** Of a command that has used its connection, and waits for the next line. */
    private Path dumpOfShell(final String... options) throws IOException, InterruptedException
    {
        final List<String> arguments = new ArrayList<>(List.of("shell"));
        arguments.addAll(List.of(options));
        final Process shell = new ProcessBuilder(NodeLauncher.commandLine(NodeLauncher.NODE_FLAGS, arguments))
            .redirectError(directory.resolve("error").toFile()).start();
        try (OutputStream in = shell.getOutputStream(); BufferedReader out = shell.inputReader())
        {
            in.write(("put " + MARKER + " 1\n").getBytes(StandardCharsets.US_ASCII));
            in.flush();
            assertThat(out.readLine()).as(Files.readString(directory.resolve("error"))).isNotNull();
            return dump(shell.pid());
        }
        finally
        {
            shell.destroyForcibly().waitFor();
        }
    }

    /** With what is not used any more, as long as the collector has not taken its memory. */
    private Path dump(final long pid) throws IOException, InterruptedException
    {
        final Path file = directory.resolve(pid + ".hprof");
        final Process jcmd = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
            Long.toString(pid), "GC.heap_dump", "-all", file.toString()).redirectErrorStream(true).start();
        final String said = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jcmd.waitFor()).as(said).isZero();
        assertThat(file).as(said).exists();
        return file;
    }

    private static boolean has(final Path dump, final String text, final Charset charset) throws IOException
    {
        final byte[] bytes = text.getBytes(charset);
        try (FileChannel channel = FileChannel.open(dump))
        {
            final MappedByteBuffer all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            for (int i = 0; i <= all.limit() - bytes.length; i++)
            {
                if (bytes[0] == all.get(i) && isAt(all, i, bytes))
                {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isAt(final MappedByteBuffer all, final int position, final byte[] bytes)
    {
        for (int i = 1; i < bytes.length; i++)
        {
            if (all.get(position + i) != bytes[i])
            {
                return false;
            }
        }
        return true;
    }
}
