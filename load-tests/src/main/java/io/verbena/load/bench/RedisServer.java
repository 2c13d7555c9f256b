package io.verbena.load.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Redis of this machine, started for a measurement, and one connection to it that speaks as much RESP2 as GET and SET
 * need. Used by one thread.
 */
public final class RedisServer implements AutoCloseable
{
    private static final String PROGRAM = "redis-server";
    private static final int ATTEMPTS = 200;
    private static final long ATTEMPT_MS = 25;
    private static final int LONGEST_MS = 300_000;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final String END = "\r\n";

    /** There is no Redis here. */
    public static final class MissingException extends Exception
    {
        private static final long serialVersionUID = 1L;

        private MissingException(final String message)
        {
            super(message);
        }
    }

    private final Process process;
    private final String version;
    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);

    private RedisServer(final Process process, final String version, final SocketChannel channel)
    {
        this.process = process;
        this.version = version;
        this.channel = channel;
        in.flip();
        endInTime();
    }

    /**
     * Starts one at a free port of loopback, without files.
     *
     * @return it, connected; closed by the caller.
     * @throws MissingException where it is not installed.
     */
    public static RedisServer start() throws MissingException, IOException, InterruptedException
    {
        final int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()))
        {
            port = free.getLocalPort();
        }
        return start(List.of(), new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /**
     * Starts one elsewhere, without files.
     *
     * @param prefix  the words before its command line, which become its process by {@code exec}; none: here.
     * @param address where it listens, reached from here.
     * @return it, connected; closed by the caller.
     * @throws MissingException where it is not installed.
     */
    public static RedisServer start(final List<String> prefix, final InetSocketAddress address)
        throws MissingException, IOException, InterruptedException
    {
        final String version = askVersion();
        final int port = address.getPort();
        final List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(PROGRAM, "--port", Integer.toString(port), "--bind",
            address.getAddress().getHostAddress(), "--protected-mode", "no", "--save", "", "--appendonly", "no"));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        IOException last = null;
        for (int i = 0; i < ATTEMPTS && process.isAlive(); i++)
        {
            final SocketChannel channel = SocketChannel.open();
            try
            {
                channel.connect(address);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                return new RedisServer(process, version, channel);
            }
            catch (final IOException ex)
            {
                channel.close();
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

    /** @return such as {@code Redis 7.0.15}. */
    public String version()
    {
        return version;
    }

    /** Stores a record. */
    public void set(final byte[] key, final byte[] value) throws IOException
    {
        send("SET", key, value);
        final String answer = line();
        if (!"+OK".equals(answer))
        {
            throw new IOException("SET was answered " + answer);
        }
    }

    /** @return value of a record that is there. */
    public byte[] get(final byte[] key) throws IOException
    {
        send("GET", key);
        return value();
    }

    /**
     * Asks for records in one go.
     *
     * @param keys of records that are there.
     * @return bytes of all values.
     */
    public long getAll(final List<byte[]> keys) throws IOException
    {
        out.clear();
        for (final byte[] key : keys)
        {
            append("GET", key);
        }
        write();
        long bytes = 0;
        for (int i = 0; i < keys.size(); i++)
        {
            bytes += value().length;
        }
        return bytes;
    }

    private byte[] value() throws IOException
    {
        final String head = line();
        if (!head.startsWith("$") || head.startsWith("$-"))
        {
            throw new IOException("GET was answered " + head);
        }
        final byte[] value = new byte[Integer.parseInt(head, 1, head.length(), 10)];
        while (in.remaining() < value.length + END.length())
        {
            receive();
        }
        in.get(value);
        in.position(in.position() + END.length());
        return value;
    }

    /** @param polls whether the client looks for answers all the time from now on, or sleeps until they come. */
    public void polls(final boolean polls) throws IOException
    {
        channel.configureBlocking(!polls);
    }

    private void send(final String command, final byte[]... arguments) throws IOException
    {
        out.clear();
        append(command, arguments);
        write();
    }

    private void append(final String command, final byte[]... arguments)
    {
        put("*" + (1 + arguments.length) + END + "$" + command.length() + END + command + END);
        for (final byte[] argument : arguments)
        {
            put("$" + argument.length + END);
            out.put(argument);
            put(END);
        }
    }

    private void write() throws IOException
    {
        out.flip();
        while (out.hasRemaining())
        {
            channel.write(out);
        }
    }

    private void put(final String text)
    {
        out.put(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private String line() throws IOException
    {
        final StringBuilder line = new StringBuilder();
        while (true)
        {
            while (!in.hasRemaining())
            {
                receive();
            }
            final char next = (char)in.get();
            if ('\n' == next)
            {
                line.setLength(line.length() - 1);
                return line.toString();
            }
            line.append(next);
        }
    }

    private void receive() throws IOException
    {
        in.compact();
        final int count = channel.read(in);
        in.flip();
        if (count < 0)
        {
            throw new IOException("Redis closed the connection, or did not answer in time");
        }
    }

    /** @return its process. */
    public long process()
    {
        return process.pid();
    }

    /**
     * A read has no limit of its own, so that it is one system call: the process ends when all that is measured takes
     * too long, and with it the connection.
     */
    private void endInTime()
    {
        process.onExit().orTimeout(LONGEST_MS, TimeUnit.MILLISECONDS).exceptionally((late) ->
        {
            process.destroyForcibly();
            return process;
        });
    }

    @Override
    public void close() throws IOException
    {
        try
        {
            channel.close();
        }
        finally
        {
            process.destroy();
            process.onExit().join();
        }
    }
}
