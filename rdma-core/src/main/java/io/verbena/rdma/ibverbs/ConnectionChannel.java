package io.verbena.rdma.ibverbs;

import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/** One TCP connection of a connection service, requesting or answering. Used by the service's thread only. */
final class ConnectionChannel
{
    private static final long MAX_SILENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final ConnectionService service;
    private final SocketChannel channel;
    private final IbverbsConnectionAttempt attempt;
    private final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
    private final long openedNs = SystemNanoClock.INSTANCE.nanoTime();
    private ByteBuffer toSend;
    private SelectionKey key;
    private IbverbsConnectionRequest request;
    private boolean isLast;
    private boolean isClosed;

    private ConnectionChannel(
        final ConnectionService service,
        final SocketChannel channel,
        final IbverbsConnectionAttempt attempt,
        final ByteBuffer toSend)
    {
        this.service = service;
        this.channel = channel;
        this.attempt = attempt;
        this.toSend = toSend;
    }

    static ConnectionChannel requesting(
        final ConnectionService service,
        final SocketChannel channel,
        final IbverbsConnectionAttempt attempt,
        final ConnectionMessage request)
    {
        return new ConnectionChannel(service, channel, attempt, request.encode());
    }

    static ConnectionChannel answering(final ConnectionService service, final SocketChannel channel)
    {
        return new ConnectionChannel(service, channel, null, ByteBuffer.allocate(0));
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
            attempt.fail(IbverbsConnectionAttempt.State.UNREACHABLE, new byte[0]);
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
            onRequest(message);
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
                    send(IbverbsConnectionAttempt.ready(service.device()), true);
                }
                else
                {
                    close();
                }
            }
            case ConnectionMessage.REJECT ->
            {
                attempt.fail(IbverbsConnectionAttempt.State.REJECTED, answer.privateData());
                close();
            }
            default -> close();
        }
    }

    private void onRequest(final ConnectionMessage message)
    {
        final IbverbsConnectionListener listener = service.listener(message.servicePort());
        request = new IbverbsConnectionRequest(service, this, message);
        if (listener == null || !listener.offer(request))
        {
            send(request.answer(ConnectionMessage.UNREACHABLE, 0, 0, 0, new byte[0]), true);
        }
    }
}
