package io.verbena.cli.cluster;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A Redis of this machine, started for a measurement, and one connection to it over loopback that speaks as much RESP2
 * as GET and SET need. Used by one thread.
 */
final class RedisServer implements AutoCloseable
{
    private static final String PROGRAM = "redis-server";
    private static final int ATTEMPTS = 200;
    private static final long ATTEMPT_MS = 25;
    private static final int TIMEOUT_MS = 10_000;
    private static final String END = "\r\n";

    /** There is no Redis here. */
    static final class MissingException extends Exception
    {
        private static final long serialVersionUID = 1L;

        private MissingException(final String message)
        {
            super(message);
        }
    }

    private final Process process;
    private final String version;
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    private RedisServer(final Process process, final String version, final Socket socket) throws IOException
    {
        this.process = process;
        this.version = version;
        this.socket = socket;
        in = new BufferedInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    /** Starts one at a free port of loopback, without files. */
    static RedisServer start() throws MissingException, IOException, InterruptedException
    {
        final String version = askVersion();
        final int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            port = free.getLocalPort();
        }
        final Process process = new ProcessBuilder(PROGRAM, "--port", Integer.toString(port), "--bind", "127.0.0.1",
            "--save", "", "--appendonly", "no").redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        IOException last = null;
        for (int i = 0; i < ATTEMPTS && process.isAlive(); i++)
        {
            final Socket socket = new Socket();
            try
            {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(TIMEOUT_MS);
                return new RedisServer(process, version, socket);
            }
            catch (final IOException ex)
            {
                socket.close();
                last = ex;
                process.waitFor(ATTEMPT_MS, TimeUnit.MILLISECONDS);
            }
        }
        process.destroyForcibly();
        throw new IOException(PROGRAM + " did not listen at port " + port, last);
    }

    private static String askVersion() throws MissingException, InterruptedException
    {
        try
        {
            final Process process = new ProcessBuilder(PROGRAM, "--version").redirectErrorStream(true).start();
            final String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            return "Redis " + text.replaceFirst("(?s).*v=(\\S+).*", "$1");
        }
        catch (final IOException ex)
        {
            throw new MissingException("there is no " + PROGRAM + " on the PATH: install the package redis-server");
        }
    }

    String version()
    {
        return version;
    }

    void set(final byte[] key, final byte[] value) throws IOException
    {
        send("SET", key, value);
        final String answer = line();
        if (!"+OK".equals(answer))
        {
            throw new IOException("SET was answered " + answer);
        }
    }

    byte[] get(final byte[] key) throws IOException
    {
        send("GET", key);
        final String head = line();
        if (!head.startsWith("$") || head.startsWith("$-"))
        {
            throw new IOException("GET was answered " + head);
        }
        final byte[] value = in.readNBytes(Integer.parseInt(head.substring(1)));
        line();
        return value;
    }

    private void send(final String command, final byte[]... arguments) throws IOException
    {
        final ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(("*" + (1 + arguments.length) + END + "$" + command.length() + END + command + END)
            .getBytes(StandardCharsets.US_ASCII));
        for (final byte[] argument : arguments)
        {
            request.writeBytes(("$" + argument.length + END).getBytes(StandardCharsets.US_ASCII));
            request.writeBytes(argument);
            request.writeBytes(END.getBytes(StandardCharsets.US_ASCII));
        }
        out.write(request.toByteArray());
        out.flush();
    }

    private String line() throws IOException
    {
        final StringBuilder line = new StringBuilder();
        for (int c = in.read(); '\r' != c; c = in.read())
        {
            if (c < 0)
            {
                throw new IOException("Redis closed the connection");
            }
            line.append((char)c);
        }
        in.read();
        return line.toString();
    }

    @Override
    public void close() throws IOException
    {
        try
        {
            socket.close();
        }
        finally
        {
            process.destroy();
            process.onExit().join();
        }
    }
}
