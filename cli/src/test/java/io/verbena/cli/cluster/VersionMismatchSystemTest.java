package io.verbena.cli.cluster;

import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.role.RoleProcess;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.ClusterAddress;
import io.verbena.protocol.bootstrap.ClusterToken;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A program and a cluster of different versions: each side as its process, the other as bytes of docs/format. */
@Timeout(300)
class VersionMismatchSystemTest
{
    private static final int HELLO_BYTES = 48;
    private static final int STATUS_OK = 0;
    private static final int STATUS_VERSION_MISMATCH = 1;
    private static final int VERSION = 4;
    private static final int FORMATS = 12;
    private static final int TERMINATED = 128 + 15;

    @TempDir
    private Path directory;

    private static byte[] head(final int version, final int status, final int formats, final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HELLO_BYTES + bytes.length).order(ByteOrder.LITTLE_ENDIAN)
            .put("VRBN".getBytes(StandardCharsets.US_ASCII)).putShort((short)version).putShort((short)status)
            .putInt(formats).putInt(bytes.length).put(new byte[32]).put(bytes).array();
    }

    /** What lies before the length of the text and the nonce. */
    private static byte[] firstOf(final int version, final int status, final int formats)
    {
        return Arrays.copyOf(head(version, status, formats, ""), 12);
    }

    private static Process start(final List<String> arguments) throws IOException
    {
        return new ProcessBuilder(
            NodeLauncher.commandLine(List.of("-XX:+UseSerialGC", "-Xmx128m", "-XX:TieredStopAtLevel=1"), arguments))
            .redirectErrorStream(true).start();
    }

    /** A cluster that answers one hello with these bytes, and what a program says of it. */
    private String saidTo(final byte[] challenge, final String... command) throws Exception
    {
        final Path token = directory.resolve("token");
        ClusterToken.readOrCreate(token);
        try (ServerSocket cluster = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            final List<String> arguments = new ArrayList<>(List.of(command));
            arguments.addAll(List.of("--cluster", "verbena://127.0.0.1:" + cluster.getLocalPort(),
                "--token-file", token.toString()));
            final Process process = start(arguments);
            cluster.setSoTimeout(60_000);
            try (Socket program = cluster.accept())
            {
                assertThat(program.getInputStream().readNBytes(HELLO_BYTES)).startsWith(firstOf(VERSION, 0, FORMATS));
                program.getOutputStream().write(challenge);
                final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).as(said).isEqualTo(ExitStatus.USAGE);
                return said;
            }
            finally
            {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void shouldSayWhichVersionsDifferWhenAProgramMeetsAClusterOfAnother() throws Exception
    {
        final byte[] newer = head(7, STATUS_VERSION_MISMATCH, 4, "whatever\na later version\nsays here");
        for (final String[] command : new String[][]{{"get", "x"}, {"compute-node"}, {"memory-node"}})
        {
            assertThat(saidTo(newer, command)).startsWith("verbena: cannot join the cluster at verbena://127.0.0.1:")
                .endsWith(": the cluster speaks version 7 with formats 4, this program version " + VERSION +
                    " with formats " + FORMATS + ": update this program, or use the one that came with the cluster\n")
                .hasLineCount(1);
        }
        final byte[] careless = head(VERSION, STATUS_OK, FORMATS - 1, "");
        assertThat(saidTo(careless, "put", "x", "y")).as("also of a cluster that would let it in").endsWith(
            ": the cluster speaks version " + VERSION + " with formats " + (FORMATS - 1) + ", this program version " +
            VERSION + " with formats " + FORMATS + ": update the cluster, or use the program of its version\n")
            .hasLineCount(1);
        assertThat(saidTo(head(VERSION, 99, FORMATS, "of\u0007some\nother reason"), "get", "x"))
            .endsWith(": of some other reason\n").hasLineCount(1);
    }

    @Test
    void shouldTellAProgramOfAnotherVersionAndServeThoseOfItsOwn() throws Exception
    {
        final Path token = directory.resolve("token");
        final Process process = start(List.of("meta-server", "--data", directory.resolve("data").toString(),
            "--listen", "verbena://127.0.0.1:0", "--token-file", token.toString(),
            "--fabric", "soft:" + directory.resolve("fabric")));
        try
        {
            final ClusterAddress address = address(process);
            for (final byte[] hello : List.of(head(9, 0, FORMATS, ""), head(VERSION, 0, FORMATS + 4, "")))
            {
                assertThat(answer(address, hello)).contains(
                    "the cluster speaks version " + VERSION + " with formats " + FORMATS + ", this program ",
                    ": update the cluster, or use the program of its version").hasLineCount(1);
            }
            assertThat(answer(address, "GET / HTTP/1.1\r\n\r\n".repeat(4).getBytes(StandardCharsets.US_ASCII)))
                .as("to who is no program of any version").isEmpty();
            assertThat(BootstrapClient.ask(address, ClusterToken.read(token), 60_000).fabric()).startsWith("soft:");
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(TERMINATED);
        }
        finally
        {
            process.destroyForcibly();
        }
    }

    private static ClusterAddress address(final Process process) throws IOException
    {
        String line = "";
        while (null != line && !line.startsWith(RoleProcess.READY))
        {
            line = process.inputReader().readLine();
        }
        assertThat(line).as("its ready line").isNotNull();
        final int at = line.indexOf("verbena://");
        return ClusterAddress.parse(line.substring(at, line.indexOf(' ', at)));
    }

    /** The text behind a challenge that refuses; empty when the connection ends without a word. */
    private static String answer(final ClusterAddress address, final byte[] hello) throws IOException
    {
        try (Socket socket = new Socket(address.host(), address.port()))
        {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(hello, 0, HELLO_BYTES);
            final InputStream in = socket.getInputStream();
            final byte[] challenge = in.readAllBytes();
            if (challenge.length == 0)
            {
                return "";
            }
            assertThat(challenge).startsWith(firstOf(VERSION, STATUS_VERSION_MISMATCH, FORMATS));
            return new String(challenge, HELLO_BYTES, challenge.length - HELLO_BYTES, StandardCharsets.UTF_8);
        }
    }
}
