package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageImmediateDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;

/**
 * The answer to a call that its {@link RpcHandler} did not give at once; made by {@link RpcReply#defer()}. Belongs to
 * the owner thread of the server's context, and is used outside the handler. The call keeps its receive buffer, and
 * with it one credit of its connection, until it is answered: that is what bounds the number of answers owed.
 */
public final class DeferredReply
{
    /** Sends replies. */
    interface Sender
    {
        /** Returns false when there is no room to send it now. */
        boolean reply(DeferredReply to, int kind, DirectBuffer payload, int offset, int lengthBytes);
    }

    private final Sender sender;
    private final ServerChannel channel;
    private final int slot;
    private final int immediate;
    private final int method;
    private final int generation;
    private boolean isOver;

    DeferredReply(
        final Sender sender,
        final ServerChannel channel,
        final int slot,
        final int immediate,
        final int method,
        final int generation)
    {
        this.sender = sender;
        this.channel = channel;
        this.slot = slot;
        this.immediate = immediate;
        this.method = method;
        this.generation = generation;
    }

    /** @return true if nobody awaits it any more: it was sent, or the caller's connection has ended. */
    public boolean isOver()
    {
        return isOver || channel.isClosed();
    }

    /**
     * Gives the caller an identity: from now on it acts for it over this connection, beside those that it had. An
     * earlier incarnation of the same node is replaced. Nothing happens when its connection has ended.
     *
     * @param identity of a registered node, just given to it.
     */
    public void give(final PeerIdentity identity)
    {
        channel.give(identity);
    }

    /**
     * Answers.
     *
     * @param payload     bytes of the reply; copied.
     * @param offset      where they begin.
     * @param lengthBytes 0 to {@link RpcClient#MAX_MESSAGE_BYTES}.
     * @return false if there is no room to send now: to be tried again after the next {@link RaasContext#poll()}. True
     *         if it is over, sent or not.
     */
    public boolean reply(final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        return send(MessageImmediateDescriptor.KIND_REPLY, payload, offset, lengthBytes);
    }

    /**
     * Refuses the call: the caller hears {@link io.verbena.raas.rpc.RpcStatus#REFUSED} with this text.
     *
     * @param text for people, naming what was refused and the remedy; cut at {@link RpcClient#MAX_MESSAGE_BYTES}.
     * @return as {@link #reply}.
     */
    public boolean refuse(final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return send(MessageImmediateDescriptor.KIND_REFUSAL, new UnsafeBuffer(bytes), 0,
            Math.min(bytes.length, MessageBlock.MAX_MESSAGE_BYTES));
    }

    private boolean send(final int kind, final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        if (lengthBytes < 0 || lengthBytes > MessageBlock.MAX_MESSAGE_BYTES)
        {
            throw new RaasMisuseException("a reply of " + lengthBytes + " bytes: replies have 0 to " +
                MessageBlock.MAX_MESSAGE_BYTES);
        }
        if (isOver())
        {
            return true;
        }
        isOver = sender.reply(this, kind, payload, offset, lengthBytes);
        return isOver;
    }

    void revoke()
    {
        isOver = true;
    }

    ServerChannel channel()
    {
        return channel;
    }

    int slot()
    {
        return slot;
    }

    int immediate()
    {
        return immediate;
    }

    int method()
    {
        return method;
    }

    int generation()
    {
        return generation;
    }
}
