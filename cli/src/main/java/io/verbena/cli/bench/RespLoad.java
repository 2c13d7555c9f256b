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
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Load on servers of Redis' protocol: records are written, and redis-benchmark is run. Stateless. */
final class RespLoad
{
    /** Of the records; their keys are those that redis-benchmark asks for. */
    static final int VALUE_BYTES = 100;
    static final String KEY_FORMAT = "key:%012d";
    static final int CONNECTIONS = 50;
    private static final int PART = 500;
    private static final String OK = "+OK\r\n";
    private static final long LONGEST_S = 600;
    private static final int LONGEST_READ_MS = 60_000;
    private static final int RATE_COLUMN = 1;
    private static final int P99_COLUMN = 6;

    /**
     * What redis-benchmark found.
     *
     * @param perSecond commands.
     * @param p99Ms     in milliseconds.
     */
    record Figures(double perSecond, double p99Ms)
    {
    }

    private RespLoad()
    {
    }

    static int freePort() throws IOException
    {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            return socket.getLocalPort();
        }
    }

    /**
     * Writes all keys that redis-benchmark asks for with {@code -r}.
     *
     * @param port     of the server.
     * @param database of it, a number.
     * @param records  to write.
     * @param expiryS  of each, in seconds; 0: none.
     */
    static void write(final int port, final int database, final int records, final int expiryS) throws IOException
    {
        final String tail = "\r\n$" + VALUE_BYTES + "\r\n" + "v".repeat(VALUE_BYTES) + "\r\n" +
            (0 == expiryS ? "" : "$2\r\nEX\r\n$" + String.valueOf(expiryS).length() + "\r\n" + expiryS + "\r\n");
        final String head = (0 == expiryS ? "*3" : "*5") + "\r\n$3\r\nSET\r\n$16\r\n";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port))
        {
            socket.setSoTimeout(LONGEST_READ_MS);
            final InputStream in = new BufferedInputStream(socket.getInputStream());
            socket.getOutputStream().write(("SELECT " + database + "\r\n").getBytes(StandardCharsets.US_ASCII));
            expectOk(in, 1);
            for (int i = 0; i < records; i += PART)
            {
                final int count = Math.min(PART, records - i);
                final StringBuilder commands = new StringBuilder();
                for (int key = i; key < i + count; key++)
                {
                    commands.append(head).append(String.format(KEY_FORMAT, key)).append(tail);
                }
                socket.getOutputStream().write(commands.toString().getBytes(StandardCharsets.US_ASCII));
                expectOk(in, count);
            }
        }
    }

    private static void expectOk(final InputStream in, final int count) throws IOException
    {
        final String text = new String(in.readNBytes(OK.length() * count), StandardCharsets.US_ASCII);
        if (!text.equals(OK.repeat(count)))
        {
            throw new CommandFailedException(ExitStatus.FAILED, "loading records failed: " +
                text.replace(OK, "").lines().findFirst().orElse("end of stream"), null);
        }
    }

    /**
     * Runs redis-benchmark.
     *
     * @param program  its path.
     * @param port     of the server.
     * @param command  get or set.
     * @param records  of which one is asked for at random.
     * @param requests commands.
     * @param pipeline commands that a connection sends at once.
     * @return what it found.
     */
    static Figures benchmark(
        final Path program, final int port, final String command, final int records, final long requests,
        final int pipeline) throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(List.of(program.toString(), "-h", "127.0.0.1", "-p", "" + port,
            "-t", command, "-d", "" + VALUE_BYTES, "-r", "" + records, "-n", "" + requests, "-c", "" + CONNECTIONS,
            "-P", "" + pipeline, "--csv")).redirectErrorStream(true).start();
        // It ends at the latest when it is killed, and with it the stream.
        process.onExit().orTimeout(LONGEST_S, TimeUnit.SECONDS).exceptionally((late) ->
        {
            process.destroyForcibly();
            return process;
        });
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (0 != process.waitFor())
        {
            throw new CommandFailedException(ExitStatus.FAILED, program + " failed, or took longer than " + LONGEST_S +
                " s: " + output.lines().findFirst().orElse("it printed nothing"), null);
        }
        final String row = output.lines().filter((line) -> line.startsWith('"' + command.toUpperCase(
            Locale.ROOT) + '"')).findFirst().orElseThrow(() -> new CommandFailedException(
                ExitStatus.FAILED, program + " printed no figures: " + output, null));
        final String[] columns = row.replace("\"", "").split(",");
        return new Figures(Double.parseDouble(columns[RATE_COLUMN]), Double.parseDouble(columns[P99_COLUMN]));
    }
}
