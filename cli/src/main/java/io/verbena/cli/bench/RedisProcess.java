package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A Redis on loopback, without files but its log. */
final class RedisProcess implements AutoCloseable
{
    private static final int TRIES = 200;
    private static final long TRY_MS = 50;
    private static final String USED_MEMORY = "used_memory:";

    private final Process process;
    private final int port;

    private RedisProcess(final Process process, final int port)
    {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts it.
     *
     * @param server the program; null: none is started.
     * @param folder for its log, which is there.
     * @return it, closed by the caller; null without a program.
     */
    static RedisProcess start(final Path server, final Path folder) throws IOException, InterruptedException
    {
        if (null == server)
        {
            return null;
        }
        final int port = RespLoad.freePort();
        final Process process = new ProcessBuilder(server.toString(), "--port", String.valueOf(port), "--bind",
            "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.toString())
            .redirectErrorStream(true).redirectOutput(folder.resolve("redis.log").toFile()).start();
        for (int i = 0; i < TRIES && process.isAlive(); i++)
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
        throw new CommandFailedException(ExitStatus.FAILED, server + " did not begin to serve at port " + port, null);
    }

    int port()
    {
        return port;
    }

    ProcessHandle process()
    {
        return process.toHandle();
    }

    /** @return bytes that it has allocated, without what its allocator loses. */
    long usedMemoryBytes() throws IOException
    {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port))
        {
            socket.getOutputStream().write("INFO memory\r\nQUIT\r\n".getBytes(StandardCharsets.US_ASCII));
            final String text = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return text.lines().filter((line) -> line.startsWith(USED_MEMORY))
                .mapToLong((line) -> Long.parseLong(line.substring(USED_MEMORY.length()).strip())).findFirst()
                .orElseThrow(() -> new IOException("INFO memory of Redis has no " + USED_MEMORY + " " + text));
        }
    }

    @Override
    public void close()
    {
        process.destroyForcibly();
        process.onExit().orTimeout(TRY_MS * TRIES, TimeUnit.MILLISECONDS).join();
    }
}
