package io.verbena.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.verbena.resp.codec.MemoryBudget;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.session.CommandTable;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.SessionState;
import io.verbena.resp.session.Transport;
import io.verbena.resp.session.Worker;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Carries a session over a channel; by the thread of the channel. */
final class RespConnection extends ChannelInboundHandlerAdapter implements Transport
{
    private final Worker worker;
    private final CommandTable<Session> commands;
    private final SessionState state;
    private final MemoryBudget budget;
    private final long stallNs;
    private final Consumer<RespConnection> onEnd;
    private ChannelHandlerContext context;
    private Session session;
    private long stalls;
    /** Bytes of replies that the socket has not taken, as far as the budget knows. */
    private long unsentBytes;
    private boolean isSending;
    private volatile boolean isEvicted;

    RespConnection(
        final Worker worker, final CommandTable<Session> commands, final SessionState state, final MemoryBudget budget,
        final long stallNs, final Consumer<RespConnection> onEnd)
    {
        this.worker = worker;
        this.commands = commands;
        this.state = state;
        this.budget = budget;
        this.stallNs = stallNs;
        this.onEnd = onEnd;
    }

    @Override
    public void channelActive(final ChannelHandlerContext active)
    {
        context = active;
        session = new Session(worker, commands, this, state, budget);
    }

    @Override
    public void channelRead(final ChannelHandlerContext ignored, final Object message)
    {
        final ByteBuf received = (ByteBuf)message;
        try
        {
            if (session.isClosed())
            {
                return;
            }
            final RespDecoder decoder = session.arguments();
            final int length = received.readableBytes();
            if (decoder.reserve(length))
            {
                received.readBytes(decoder.array(), decoder.arrayOffset(), length);
                decoder.received(length);
            }
        }
        finally
        {
            received.release();
        }
        session.onReceived();
    }

    @Override
    public void channelReadComplete(final ChannelHandlerContext ignored)
    {
        session.onReceivedAll();
    }

    @Override
    public void userEventTriggered(final ChannelHandlerContext ignored, final Object event)
    {
        if (event instanceof ChannelInputShutdownReadComplete && !session.isClosed())
        {
            session.onEnd();
        }
    }

    @Override
    public void channelWritabilityChanged(final ChannelHandlerContext ignored)
    {
        if (context.channel().isWritable())
        {
            stalls++;
            session.resume();
        }
        else
        {
            final long present = ++stalls;
            context.executor().schedule(() -> closeIfStalled(present), stallNs, TimeUnit.NANOSECONDS);
        }
    }

    private void closeIfStalled(final long earlier)
    {
        if (earlier == stalls)
        {
            close();
        }
    }

    /** The node leaves: what was begun is finished, then the client is closed. */
    void drain()
    {
        if (null != session && !session.isClosed())
        {
            session.closeAfterReplies();
            session.onReceived();
        }
    }

    @Override
    public void channelInactive(final ChannelHandlerContext ignored)
    {
        stalls++;
        budget.giveBack(unsentBytes);
        unsentBytes = 0;
        if (null != session)
        {
            session.onClosed();
        }
        onEnd.accept(this);
    }

    @Override
    public void exceptionCaught(final ChannelHandlerContext failed, final Throwable cause)
    {
        // Of the connection, which the client has reset most often: nobody else is concerned.
        failed.close();
    }

    @Override
    public void send(final byte[] bytes, final int lengthBytes)
    {
        final ByteBuf sent = context.alloc().directBuffer(lengthBytes);
        sent.writeBytes(bytes, 0, lengthBytes);
        context.writeAndFlush(sent, context.voidPromise());
        countUnsent();
    }

    /** Replies count against the budget while the socket does not take them, which is seldom. */
    private void countUnsent()
    {
        final ChannelOutboundBuffer unsent = context.channel().unsafe().outboundBuffer();
        final long presentBytes = null == unsent ? 0 : unsent.totalPendingWriteBytes();
        if (presentBytes > unsentBytes)
        {
            if (!budget.take(presentBytes - unsentBytes))
            {
                close();
                return;
            }
        }
        else
        {
            budget.giveBack(unsentBytes - presentBytes);
        }
        unsentBytes = presentBytes;
        if (presentBytes > 0 && !isSending)
        {
            isSending = true;
            // Nothing, sent behind all that waits: it is done when the socket has taken that, or when it is closed.
            context.writeAndFlush(context.alloc().buffer(0)).addListener(
                (sent) -> context.executor().execute(this::onSent)); // until it returns, its own place counts
        }
    }

    private void onSent()
    {
        isSending = false;
        countUnsent();
    }

    @Override
    public boolean isWritable()
    {
        return context.channel().isWritable();
    }

    @Override
    public void read(final boolean isWanted)
    {
        context.channel().config().setAutoRead(isWanted);
    }

    @Override
    public void closeAfterSending()
    {
        context.writeAndFlush(context.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void close()
    {
        context.close();
    }

    @Override
    public Future<?> schedule(final long delayNs, final Runnable task)
    {
        return context.executor().schedule(task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public String[] addresses()
    {
        return addresses(context.channel());
    }

    /** Address of the client, and that of this side; any thread. */
    static String[] addresses(final Channel channel)
    {
        return new String[]{
            String.valueOf(channel.remoteAddress()).replaceFirst("^[^/]*/", ""),
            String.valueOf(channel.localAddress()).replaceFirst("^[^/]*/", "")};
    }

    /** Bytes of the budget that it holds; any thread. */
    long heldBytes()
    {
        return budget.takenBytes();
    }

    /** It is about to be closed, so that others get its memory; any thread. */
    void evict()
    {
        isEvicted = true;
    }

    boolean isEvicted()
    {
        return isEvicted;
    }

    /** What is known of the client; any thread. */
    SessionState state()
    {
        return state;
    }
}
