package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionAttempt;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One TCP connection of a connection service, requesting or answering. Used by the service's thread only. */
final class ConnectionChannel
{
    /** The requesting side of a connection. */
    interface Requester
    {
        /** TCP is connected. */
        void onConnected();

        /** Whether an answer is the peer's own, as far as that can be known. */
        boolean takes(ConnectionMessage answer);

        /** The peer accepted; the channel stays open until this side says that it is ready, or closes it. */
        void onAccepted(ConnectionMessage answer);

        /** Once a look: gives up when its time is over. */
        void onLook(long nowNs);

        void fail(ConnectionAttempt.State outcome, byte[] data, String problem);
    }

    /** The answering side of a connection. */
    interface Responder
    {
        /** The peer's queue pair is RTS. */
        void onReady();

        /** Whether what follows a request is the peer's own, as far as that can be known. */
        boolean takes(ConnectionMessage next);

        /** The peer has closed; without having become ready it has given up. */
        void onPeerGone();
    }

    /** Takes the requests of peers. */
    interface Acceptor
    {
        /** Null when nobody listens; then the peer has been answered. */
        Responder onRequest(ConnectionChannel channel, ConnectionMessage request);

        /** A channel is closed. */
        void onClosed(ConnectionChannel channel);
    }

    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final SocketChannel channel;
    private final Requester attempt;
    private final Acceptor acceptor;
    private final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
    private final long patienceNs;
    private long deadlineNs;
    private ByteBuffer toSend;
    private SelectionKey key;
    private Responder request;
    private boolean isLast;
    private boolean isClosed;

    private ConnectionChannel(
        final SocketChannel channel,
        final Requester attempt,
        final Acceptor acceptor,
        final long patienceNs,
        final ByteBuffer toSend)
    {
        this.patienceNs = patienceNs;
        deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + patienceNs;
        this.channel = channel;
        this.attempt = attempt;
        this.acceptor = acceptor;
        this.toSend = toSend;
    }

    static ConnectionChannel requesting(
        final SocketChannel channel, final Requester attempt, final long patienceNs, final ConnectionMessage request)
    {
        return new ConnectionChannel(channel, attempt, null, patienceNs, request.encode());
    }

    /** @param patienceNs how long the peer may take to say what is expected next. */
    static ConnectionChannel answering(final SocketChannel channel, final Acceptor acceptor, final long patienceNs)
    {
        return new ConnectionChannel(channel, null, acceptor, patienceNs, ByteBuffer.allocate(0));
    }

    void register(final Selector selector, final boolean isConnected) throws IOException
    {
        key = channel.register(selector, isConnected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, this);
        if (isConnected)
        {
            onConnected();
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
                onConnected();
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
            close(ex.getMessage());
        }
    }

    private void onConnected() throws IOException
    {
        if (attempt != null)
        {
            attempt.onConnected();
        }
        write();
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
        deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + patienceNs;
        try
        {
            write();
        }
        catch (final IOException ex)
        {
            close(ex.getMessage());
        }
    }

    /** Once a look: no peer is waited for longer than its deadline. */
    void onLook(final long nowNs)
    {
        if (attempt != null && !isLast)
        {
            attempt.onLook(nowNs);
        }
        else if (deadlineNs != NO_DEADLINE && nowNs - deadlineNs >= 0)
        {
            close();
        }
    }

    /** Where the peer is. */
    InetAddress remoteAddress()
    {
        return channel.socket().getInetAddress();
    }

    /** What is not decided yet fails. */
    void close()
    {
        close("closed");
    }

    private void close(final String problem)
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
            attempt.fail(ConnectionAttempt.State.UNREACHABLE, new byte[0], problem);
        }
        if (acceptor != null)
        {
            acceptor.onClosed(this);
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
            close("the peer closed the connection without an answer");
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
            // The user takes as long to answer as it takes.
            deadlineNs = NO_DEADLINE;
            request = acceptor.onRequest(this, message);
        }
        else if (request != null && message.kind() == ConnectionMessage.READY && request.takes(message))
        {
            request.onReady();
            close();
        }
        else
        {
            close();
        }
    }

    /** Why, as the peer says; of another machine, so that it is kept to one line. */
    private static String text(final ConnectionMessage answer)
    {
        return new String(answer.privateData(), StandardCharsets.US_ASCII).replaceAll("[^ -~]", "?");
    }

    private void onAnswer(final ConnectionMessage answer)
    {
        if (!attempt.takes(answer))
        {
            close(answer.kind() == ConnectionMessage.UNREACHABLE && answer.privateData().length > 0 ?
                text(answer) :
                "the answer does not prove the key of this end: give both ends the same encrypt=KEYFILE");
            return;
        }
        switch (answer.kind())
        {
            case ConnectionMessage.ACCEPT -> attempt.onAccepted(answer);
            case ConnectionMessage.REJECT ->
            {
                attempt.fail(ConnectionAttempt.State.REJECTED, answer.privateData(), "the peer rejected");
                close();
            }
            case ConnectionMessage.UNREACHABLE ->
                close(answer.privateData().length > 0 ? text(answer) : "nobody listens at that service port");
            default -> close("the peer gave an answer of an unknown kind: " + answer.kind());
        }
    }
}
