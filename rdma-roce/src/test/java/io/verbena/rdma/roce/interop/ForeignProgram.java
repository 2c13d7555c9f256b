package io.verbena.rdma.roce.interop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A program of others, in another process, that uses Soft-RoCE and sends its queue pair over a TCP connection, which
 * either side may have opened. Our engine is driven whenever this waits, since the program's packets come at any time.
 */
final class ForeignProgram implements AutoCloseable
{
    private static final long PATIENCE_NS = 30_000_000_000L;
    private static final long CONNECT_PAUSE_NS = 20_000_000;

    private final EngineSide ours;
    private final String name;
    private final Path output;
    private final Process process;
    private final SocketChannel channel;

    private ForeignProgram(final EngineSide ours, final List<String> command, final ServerSocketChannel listening,
        final int port) throws IOException
    {
        this.ours = ours;
        name = command.getFirst();
        output = Files.createTempFile("interop", ".txt");
        process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        final SocketChannel[] made = new SocketChannel[1];
        boolean isConnected = false;
        try
        {
            await("TCP connection", () -> null != (made[0] = null == listening ? connect(port) : accept(listening)));
            made[0].configureBlocking(false);
            isConnected = true;
        }
        finally
        {
            if (!isConnected)
            {
                process.destroyForcibly();
            }
        }
        channel = made[0];
    }

    /**
     * Starts a program that connects to this process.
     *
     * @param options of the program; the port is added as {@code -p}, then this host.
     */
    static ForeignProgram connecting(final EngineSide ours, final List<String> options)
    {
        try (ServerSocketChannel listening = ServerSocketChannel.open())
        {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listening.configureBlocking(false);
            final int port = ((InetSocketAddress)listening.getLocalAddress()).getPort();
            final List<String> command = withPort(options, port);
            command.add(InetAddress.getLoopbackAddress().getHostAddress());
            return new ForeignProgram(ours, command, listening, port);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Starts a program that listens, and connects to it. */
    static ForeignProgram listening(final EngineSide ours, final List<String> options)
    {
        try
        {
            final int port;
            try (ServerSocket free = new ServerSocket(0))
            {
                port = free.getLocalPort();
            }
            return new ForeignProgram(ours, withPort(options, port), null, port);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private static List<String> withPort(final List<String> options, final int port)
    {
        final List<String> command = new ArrayList<>(options);
        command.add("-p");
        command.add(Integer.toString(port));
        return command;
    }

    private static SocketChannel accept(final ServerSocketChannel listening)
    {
        try
        {
            return listening.accept();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Null as long as nobody listens. */
    private static SocketChannel connect(final int port)
    {
        try
        {
            return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        }
        catch (final ConnectException ex)
        {
            LockSupport.parkNanos(CONNECT_PAUSE_NS);
            return null;
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Drives our engine until something holds, which a program that has failed ends. */
    void await(final String what, final BooleanSupplier condition)
    {
        final long endNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean())
        {
            final boolean hasWorked = ours.drive() | ours.poll();
            final boolean hasFailed = !process.isAlive() && process.exitValue() != 0;
            if (hasFailed || System.nanoTime() - endNs > 0)
            {
                throw new AssertionError("no " + what + " of " + name + (hasFailed ? ", which ended with " +
                    process.exitValue() : " in " + PATIENCE_NS / 1_000_000 + " ms") + "; polled " +
                    ours.polled.size() + "; " + ours.engine.counters() + "; it printed: " + printed());
            }
            if (!hasWorked)
            {
                ours.rest();
            }
        }
    }

    byte[] read(final int lengthBytes)
    {
        final ByteBuffer message = ByteBuffer.allocate(lengthBytes);
        await("message of " + lengthBytes + " bytes", () -> fill(message));
        return message.array();
    }

    private boolean fill(final ByteBuffer message)
    {
        try
        {
            if (channel.read(message) < 0)
            {
                throw new AssertionError(name + " has closed its TCP connection: " + printed());
            }
            return !message.hasRemaining();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    void write(final byte[] message)
    {
        try
        {
            final int written = channel.write(ByteBuffer.wrap(message));
            InteropPair.equal("bytes written to TCP", message.length, written);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Waits for its end; @return what it printed, without an error. */
    String end()
    {
        await("end", () -> !process.isAlive());
        InteropPair.equal("exit status of " + name, 0, process.exitValue());
        return printed();
    }

    private String printed()
    {
        try
        {
            return Files.readString(output).strip();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close()
    {
        process.destroyForcibly();
        try
        {
            channel.close();
            Files.deleteIfExists(output);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
