package io.verbena.protocol.bootstrap;

import org.agrona.concurrent.SystemNanoClock;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Reads messages from a socket, each within a time of its own, however slowly its bytes arrive: a timeout of the socket
 * alone begins again with each byte. Not thread-safe; the socket is closed by its opener.
 */
final class MessageReader
{
    private final Socket socket;
    private final InputStream in;
    private final int timeoutMs;
    private long deadlineNs;

    /**
     * Begins with the first message.
     *
     * @param socket    connected.
     * @param timeoutMs longest time from the start of a message to its last byte, milliseconds; 1 or more.
     * @throws IOException when the socket is closed.
     */
    MessageReader(final Socket socket, final int timeoutMs) throws IOException
    {
        this.socket = socket;
        in = socket.getInputStream();
        this.timeoutMs = timeoutMs;
        startMessage();
    }

    /** The next bytes belong to another message, whose time begins now. */
    void startMessage()
    {
        startMessage(timeoutMs);
    }

    /** As {@link #startMessage()}, with another time for this message. */
    void startMessage(final int ofThisMs)
    {
        deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ofThisMs);
    }

    /**
     * Reads a part of the message.
     *
     * @param length bytes.
     * @return that many bytes, or fewer when the other side has closed the connection.
     * @throws SocketTimeoutException when the time of the message is up.
     * @throws IOException            when the connection has failed.
     */
    byte[] readUpTo(final int length) throws IOException
    {
        final byte[] bytes = new byte[length];
        int count = 0;
        while (count < length)
        {
            final int read = readSome(bytes, count);
            if (read < 0)
            {
                return Arrays.copyOf(bytes, count);
            }
            count += read;
        }
        return bytes;
    }

    /**
     * Reads a part of the message.
     *
     * @param length bytes.
     * @return that many bytes.
     * @throws EOFException           when the other side has closed the connection before.
     * @throws SocketTimeoutException when the time of the message is up.
     * @throws IOException            when the connection has failed.
     */
    byte[] read(final int length) throws IOException
    {
        final byte[] bytes = readUpTo(length);
        if (bytes.length < length)
        {
            throw new EOFException("closed after " + bytes.length + " of " + length + " bytes");
        }
        return bytes;
    }

    private int readSome(final byte[] bytes, final int offset) throws IOException
    {
        final long leftNs = deadlineNs - SystemNanoClock.INSTANCE.nanoTime();
        if (leftNs <= 0)
        {
            throw new SocketTimeoutException("no whole message within " + timeoutMs + " ms");
        }
        socket.setSoTimeout((int)TimeUnit.NANOSECONDS.toMillis(leftNs) + 1); // 0 would mean: for ever
        return in.read(bytes, offset, bytes.length - offset);
    }
}
