package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** A Redis of this host's package on loopback, without files; and its programs for load. */
final class RedisProcess implements AutoCloseable
{
    /**
     * What redis-benchmark found.
     *
     * @param perSecond commands.
     * @param p99Ms     in milliseconds.
     */
    record Figures(double perSecond, double p99Ms)
    {
    }

    private static final Path SERVER = Path.of("/usr/bin/redis-server");
    private static final Path BENCHMARK = Path.of("/usr/bin/redis-benchmark");
    private static final int VALUE_BYTES = 100;
    private static final int CONNECTIONS = 50;
    private static final int PART = 500;
    private static final int OK_BYTES = "+OK\r\n".length();
    private static final int TRIES = 200;
    private static final long TRY_MS = 50;
    private static final long LONGEST_S = 600;
    private static final int RATE_COLUMN = 1;
    private static final int P99_COLUMN = 6;

    private final Process process;
    private final int port;

    private RedisProcess(final Process process, final int port)
    {
        this.process = process;
        this.port = port;
    }

    static RedisProcess start(final Path folder) throws IOException, InterruptedException
    {
        if (!Files.isExecutable(SERVER) || !Files.isExecutable(BENCHMARK))
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "needs " + SERVER + " and " + BENCHMARK +
                ": install redis-server and redis-tools", null);
        }
        Files.createDirectories(folder);
        final int port = freePort();
        final Process process = new ProcessBuilder(SERVER.toString(), "--port", String.valueOf(port), "--bind",
            "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.toString())
            .redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile()).start();
        for (int i = 0; i < TRIES; i++)
        {
            try
            {
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                return new RedisProcess(process, port);
            }
            catch (final IOException ex)
            {
                Thread.sleep(TRY_MS);
            }
        }
        process.destroyForcibly();
        throw new CommandFailedException(ExitStatus.UNAVAILABLE, SERVER + " did not begin to serve, see " +
            folder.resolve("log"), null);
    }

    int port()
    {
        return port;
    }

    static int freePort() throws IOException
    {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            return socket.getLocalPort();
        }
    }

    /** Writes all keys that redis-benchmark asks for with {@code -r}. */
    static void load(final int port, final int records) throws IOException
    {
        final String value = "v".repeat(VALUE_BYTES);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port))
        {
            final InputStream in = new BufferedInputStream(socket.getInputStream());
            for (int i = 0; i < records; i += PART)
            {
                final int count = Math.min(PART, records - i);
                final StringBuilder commands = new StringBuilder();
                for (int key = i; key < i + count; key++)
                {
                    commands.append("*3\r\n$3\r\nSET\r\n$16\r\nkey:").append(String.format("%012d", key))
                        .append("\r\n$").append(VALUE_BYTES).append("\r\n").append(value).append("\r\n");
                }
                socket.getOutputStream().write(commands.toString().getBytes(StandardCharsets.US_ASCII));
                final byte[] replies = in.readNBytes(OK_BYTES * count);
                final String text = new String(replies, StandardCharsets.US_ASCII);
                if (!text.equals("+OK\r\n".repeat(count)))
                {
                    throw new CommandFailedException(ExitStatus.FAILED, "loading records failed: " +
                        text.replace("+OK\r\n", "").lines().findFirst().orElse("end of stream"), null);
                }
            }
        }
    }

    static Figures benchmark(
        final int port, final String command, final int records, final long requests, final int pipeline)
        throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(List.of(BENCHMARK.toString(), "-h", "127.0.0.1", "-p", "" + port,
            "-t", command, "-d", "" + VALUE_BYTES, "-r", "" + records, "-n", "" + requests, "-c", "" + CONNECTIONS,
            "-P", "" + pipeline, "--csv")).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LONGEST_S, TimeUnit.SECONDS) || 0 != process.exitValue())
        {
            process.destroyForcibly();
            throw new CommandFailedException(ExitStatus.FAILED, BENCHMARK + " failed: " +
                output.lines().findFirst().orElse("it printed nothing"), null);
        }
        final String row = output.lines().filter((line) -> line.startsWith('"' + command.toUpperCase(
            Locale.ROOT) + '"')).findFirst().orElseThrow(() -> new CommandFailedException(
                ExitStatus.FAILED, BENCHMARK + " printed no figures: " + output, null));
        final String[] columns = row.replace("\"", "").split(",");
        return new Figures(Double.parseDouble(columns[RATE_COLUMN]), Double.parseDouble(columns[P99_COLUMN]));
    }

    @Override
    public void close()
    {
        process.destroyForcibly();
    }
}
