package io.verbena.cli.bench;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Connections that ask at a given rate, whether or not replies have come: each command has a time at which it is due,
 * and its latency counts from then. Used once, by one thread. It pauses while nothing is due and nothing has arrived: a
 * thread that polls all the time takes a processor from the servers where there are two, and a virtual machine whose
 * processors are all busy may lose them for tens of milliseconds, which would be the latency that is found.
 */
final class PacedClients implements AutoCloseable
{
    private static final int BUFFER_BYTES = 1 << 16;
    private static final long LONGEST_WAIT_NS = TimeUnit.SECONDS.toNanos(20);
    /** Longest pause: a reply is noticed that late at most, of either server. */
    private static final long LONGEST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final int WARM_UP_PART = 5;
    private static final String CRLF = "\r\n";
    private static final long SEED = 20261124;

    /** One connection: the commands that it awaits replies to, in their order. */
    private static final class Connection
    {
        final SocketChannel channel;
        long[] due = new long[1024];
        int head;
        int tail;
        int partBytes;

        Connection(final SocketChannel channel)
        {
            this.channel = channel;
        }

        void add(final long dueNs)
        {
            if (tail - head == due.length)
            {
                final long[] longer = new long[2 * due.length];
                for (int i = head; i != tail; i++)
                {
                    longer[i & longer.length - 1] = due[i & due.length - 1];
                }
                due = longer;
            }
            due[tail++ & due.length - 1] = dueNs;
        }

        long next()
        {
            if (head == tail)
            {
                throw new CommandFailedException(ExitStatus.FAILED, "a reply came to no command", null);
            }
            return due[head++ & due.length - 1];
        }
    }

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final Selector selector;
    private final Connection[] connections = new Connection[RespLoad.CONNECTIONS];
    private final int records;
    private final byte first;
    private final int replyBytes;
    private final ByteBuffer command;
    private final int keyOffset;
    private long[] latenciesNs;
    private int latencyCount;
    private int skipped;

    /**
     * @param port    of the server.
     * @param isGet   whether records are read; else they are written.
     * @param records of which one is asked for at random; all are there.
     */
    PacedClients(final int port, final boolean isGet, final int records) throws IOException
    {
        this.records = records;
        final String value = "v".repeat(RespLoad.VALUE_BYTES);
        final String key = String.format(RespLoad.KEY_FORMAT, 0);
        final String head = (isGet ? "*2" : "*3") + CRLF + "$3" + CRLF + (isGet ? "GET" : "SET") + CRLF + "$" +
            key.length() + CRLF;
        keyOffset = head.length();
        final String text = head + key + CRLF + (isGet ? "" : "$" + value.length() + CRLF + value + CRLF);
        command = ByteBuffer.allocateDirect(text.length());
        command.put(text.getBytes(StandardCharsets.US_ASCII));
        final String reply = isGet ? "$" + value.length() + CRLF + value + CRLF : "+OK" + CRLF;
        replyBytes = reply.length();
        first = (byte)reply.charAt(0);
        selector = Selector.open();
        for (int i = 0; i < connections.length; i++)
        {
            final SocketChannel channel =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            connections[i] = new Connection(channel);
            channel.register(selector, SelectionKey.OP_READ, connections[i]);
        }
    }

    /**
     * Asks at a rate; the first fifth is not counted.
     *
     * @param perSecond commands, 1 or more.
     * @param seconds   how long.
     * @return latency that 999 of 1,000 commands do not exceed, in microseconds.
     */
    double p999Us(final double perSecond, final double seconds) throws IOException
    {
        final int count = Math.toIntExact(Math.max(1, Math.round(perSecond * seconds)));
        skipped = count / WARM_UP_PART;
        latenciesNs = new long[count - skipped];
        final double gapNs = TimeUnit.SECONDS.toNanos(1) / perSecond;
        final long beganNs = clock.nanoTime();
        int sent = 0;
        int received = 0;
        long progressNs = beganNs;
        while (received < count)
        {
            final long nowNs = clock.nanoTime();
            while (sent < count && beganNs + (long)(sent * gapNs) - nowNs <= 0)
            {
                send(connections[sent % connections.length], beganNs + (long)(sent * gapNs));
                sent++;
            }
            final int replies = receive();
            received += replies;
            progressNs = replies > 0 || received == sent ? nowNs : progressNs;
            if (0 == replies)
            {
                pause(sent < count ? beganNs + (long)(sent * gapNs) : nowNs + LONGEST_PAUSE_NS);
            }
            if (nowNs - progressNs > LONGEST_WAIT_NS)
            {
                throw stuck(received, sent);
            }
        }
        Arrays.sort(latenciesNs);
        return latenciesNs[(int)((latenciesNs.length - 1L) * 999 / 1_000)] / 1e3;
    }

    private void pause(final long untilNs)
    {
        final long leftNs = untilNs - clock.nanoTime();
        if (leftNs > 0)
        {
            LockSupport.parkNanos(this, Math.min(leftNs, LONGEST_PAUSE_NS));
        }
    }

    private static CommandFailedException stuck(final int received, final int sent)
    {
        return new CommandFailedException(ExitStatus.FAILED, "no reply for " +
            TimeUnit.NANOSECONDS.toSeconds(LONGEST_WAIT_NS) + " s: " + received + " replies to " + sent + " commands",
            null);
    }

    private void send(final Connection connection, final long dueNs) throws IOException
    {
        int number = random.nextInt(records);
        for (int i = keyOffset + 15; number > 0; i--)
        {
            command.put(i, (byte)('0' + number % 10));
            number /= 10;
        }
        command.clear();
        final long untilNs = dueNs + LONGEST_WAIT_NS;
        while (command.hasRemaining())
        {
            if (0 == connection.channel.write(command) && clock.nanoTime() - untilNs >= 0)
            {
                throw new CommandFailedException(ExitStatus.FAILED, "the server at " +
                    connection.channel.getRemoteAddress() + " reads nothing for 20 s", null);
            }
        }
        connection.add(dueNs);
        for (int i = keyOffset + 4; i < keyOffset + 16; i++)
        {
            command.put(i, (byte)'0');
        }
    }

    private int receive() throws IOException
    {
        selector.selectNow();
        int replies = 0;
        for (final SelectionKey key : selector.selectedKeys())
        {
            replies += receive((Connection)key.attachment());
        }
        selector.selectedKeys().clear();
        return replies;
    }

    private int receive(final Connection connection) throws IOException
    {
        in.clear();
        final int bytes = connection.channel.read(in);
        if (bytes < 0)
        {
            throw new CommandFailedException(ExitStatus.FAILED, "the server closed a connection", null);
        }
        final long nowNs = clock.nanoTime();
        int replies = 0;
        int at = 0;
        while (at < bytes)
        {
            if (0 == connection.partBytes && first != in.get(at))
            {
                final byte[] text = new byte[Math.min(80, bytes - at)];
                in.get(at, text);
                throw new CommandFailedException(ExitStatus.FAILED, "the server replied: " +
                    new String(text, StandardCharsets.US_ASCII).lines().findFirst().orElse(""), null);
            }
            final int part = Math.min(replyBytes - connection.partBytes, bytes - at);
            at += part;
            connection.partBytes += part;
            if (replyBytes == connection.partBytes)
            {
                connection.partBytes = 0;
                replies++;
                count(nowNs - connection.next());
            }
        }
        return replies;
    }

    private void count(final long latencyNs)
    {
        if (skipped > 0)
        {
            skipped--;
        }
        else
        {
            latenciesNs[latencyCount++] = latencyNs;
        }
    }

    @Override
    public void close() throws IOException
    {
        for (final Connection connection : connections)
        {
            connection.channel.close();
        }
        selector.close();
    }
}
