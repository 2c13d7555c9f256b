package io.verbena.rdma.ibverbs;

import org.agrona.concurrent.SystemNanoClock;

import io.verbena.rdma.verbs.ConnectionAttempt;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** One TCP connection of a connection service, requesting or answering. Used by the service's thread only. */
final class ConnectionChannel
{
    /** The requesting side of a connection. */
    interface Requester
    {
        /** The peer accepted; whether this side still wants it. */
        boolean onAccepted(ConnectionMessage answer);

        /** What says that it is connected. */
        ConnectionMessage ready();

        void fail(ConnectionAttempt.State outcome, byte[] data);
    }

    /** The answering side of a connection. */
    interface Responder
    {
        /** The peer's queue pair is RTS. */
        void onReady();

        /** The peer has closed; without having become ready it has given up. */
        void onPeerGone();
    }

    /** Takes the requests of peers. */
    interface Acceptor
    {
        /** Null when nobody listens; then the peer has been answered. */
        Responder onRequest(ConnectionChannel channel, ConnectionMessage request);
    }

    private static final long MAX_SILENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final SocketChannel channel;
    private final Requester attempt;
    private final Acceptor acceptor;
    private final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
    private final long openedNs = SystemNanoClock.INSTANCE.nanoTime();
    private ByteBuffer toSend;
    private SelectionKey key;
    private Responder request;
    private boolean isLast;
    private boolean isClosed;

    private ConnectionChannel(
        final SocketChannel channel, final Requester attempt, final Acceptor acceptor, final ByteBuffer toSend)
    {
        this.channel = channel;
        this.attempt = attempt;
        this.acceptor = acceptor;
        this.toSend = toSend;
    }

    static ConnectionChannel requesting(
        final SocketChannel channel, final Requester attempt, final ConnectionMessage request)
    {
        return new ConnectionChannel(channel, attempt, null, request.encode());
    }

    static ConnectionChannel answering(final SocketChannel channel, final Acceptor acceptor)
    {
        return new ConnectionChannel(channel, null, acceptor, ByteBuffer.allocate(0));
    }

    void register(final Selector selector, final boolean isConnected) throws IOException
    {
        key = channel.register(selector, isConnected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
        if (isConnected)
        {
            write();
        }
    }

    void onReady()
    {
        try
        {
            if (key.isValid() && key.isConnectable())
            {
                channel.finishConnect();
                key.interestOps(SelectionKey.OP_READ);
                write();
            }
            if (key.isValid() && key.isWritable())
            {
                write();
            }
            if (key.isValid() && key.isReadable())
            {
                read();
            }
        }
        catch (final IOException | IllegalArgumentException ex)
        {
            close();
        }
    }

    /** Sends, and closes behind it when nothing more is to be said. */
    void send(final ConnectionMessage message, final boolean isLastMessage)
    {
        if (isClosed)
        {
            return;
        }
        toSend = message.encode();
        isLast = isLastMessage;
        try
        {
            write();
        }
        catch (final IOException ex)
        {
            close();
        }
    }

    void closeWhenSilent()
    {
        if (attempt == null && request == null && SystemNanoClock.INSTANCE.nanoTime() - openedNs > MAX_SILENCE_NS)
        {
            close();
        }
    }

    /** What is not decided yet fails. */
    void close()
    {
        if (isClosed)
        {
            return;
        }
        isClosed = true;
        try
        {
            channel.close();
        }
        catch (final IOException ex)
        {
            // Closed all the same.
            isLast = true;
        }
        if (attempt != null)
        {
            attempt.fail(ConnectionAttempt.State.UNREACHABLE, new byte[0]);
        }
        if (request != null)
        {
            request.onPeerGone();
        }
    }

    private void write() throws IOException
    {
        channel.write(toSend);
        if (toSend.hasRemaining())
        {
            key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
        else
        {
            key.interestOps(SelectionKey.OP_READ);
            if (isLast)
            {
                close();
            }
        }
    }

    private void read() throws IOException
    {
        final int count = channel.read(received);
        for (ConnectionMessage message = ConnectionMessage.take(received); message != null && !isClosed;
            message = ConnectionMessage.take(received))
        {
            onMessage(message);
        }
        if (count < 0)
        {
            close();
        }
    }

    private void onMessage(final ConnectionMessage message)
    {
        if (attempt != null)
        {
            onAnswer(message);
        }
        else if (request == null && message.kind() == ConnectionMessage.REQUEST)
        {
            request = acceptor.onRequest(this, message);
        }
        else if (request != null && message.kind() == ConnectionMessage.READY)
        {
            request.onReady();
            close();
        }
        else
        {
            close();
        }
    }

    private void onAnswer(final ConnectionMessage answer)
    {
        switch (answer.kind())
        {
            case ConnectionMessage.ACCEPT ->
            {
                if (attempt.onAccepted(answer))
                {
                    send(attempt.ready(), true);
                }
                else
                {
                    close();
                }
            }
            case ConnectionMessage.REJECT ->
            {
                attempt.fail(ConnectionAttempt.State.REJECTED, answer.privateData());
                close();
            }
            default -> close();
        }
    }
}
