package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import org.agrona.MutableDirectBuffer;

import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;

/** Where a {@link RpcHandler} writes its answer; valid during the call only. */
public final class RpcReply
{
    /** What {@link #refuse(String)} returns. */
    public static final int REFUSED = -1;

    /** What a handler returns that called {@link #defer()}. */
    public static final int DEFERRED = -2;

    private final DeferredReply.Sender sender;
    private MutableDirectBuffer buffer;
    private ServerChannel channel;
    private int slot;
    private int immediate;
    private DeferredReply deferred;
    private int offset;
    private int refusalLengthBytes;

    RpcReply(final DeferredReply.Sender sender)
    {
        this.sender = sender;
    }

    /** @return number of the connection that the request came by, 1 or more; never used again by the server. */
    public long connection()
    {
        return channel.connection();
    }

    /** @return whether the connection is encrypted. */
    public boolean isEncrypted()
    {
        return channel.isEncrypted();
    }

    /**
     * @param identity of a registered node.
     * @return whether the caller acts for it: it was proved when the connection was made, or given since.
     */
    public boolean actsFor(final PeerIdentity identity)
    {
        return channel.actsFor(identity);
    }

    /**
     * @param wanted which identities.
     * @return whether the caller acts for one of them.
     */
    public boolean actsForAny(final Predicate<PeerIdentity> wanted)
    {
        return channel.actsForAny(wanted);
    }

    /** @return takes the bytes of the reply, from {@link #offset()}. */
    public MutableDirectBuffer buffer()
    {
        return buffer;
    }

    /** @return where the reply begins in {@link #buffer()}. */
    public int offset()
    {
        return offset;
    }

    /** @return longest reply. */
    public int capacity()
    {
        return MessageBlock.MAX_MESSAGE_BYTES;
    }

    /**
     * Refuses the call: the caller hears {@link io.verbena.raas.rpc.RpcStatus#REFUSED} with this text.
     *
     * @param text for people, naming what was refused and the remedy; cut at {@link #capacity()}.
     * @return {@link #REFUSED}, to be returned by the handler.
     */
    public int refuse(final String text)
    {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        refusalLengthBytes = Math.min(bytes.length, capacity());
        buffer.putBytes(offset, bytes, 0, refusalLengthBytes);
        return REFUSED;
    }

    /**
     * Puts the answer off: it is given later through what this returns, by the owner thread. The handler then returns
     * {@link #DEFERRED}; the request's bytes are valid during the handler's call only, all the same.
     *
     * @return how to answer later.
     */
    public DeferredReply defer()
    {
        if (deferred == null)
        {
            final int start = channel.receives().offset(slot);
            deferred = new DeferredReply(
                sender,
                channel,
                slot,
                immediate,
                MessageHeaderDescriptor.method(channel.receives().buffer(slot), start),
                MessageHeaderDescriptor.generation(channel.receives().buffer(slot), start));
        }
        return deferred;
    }

    boolean isDeferred()
    {
        return deferred != null;
    }

    /** The handler answered, or failed, although it had put the answer off: only one of the two may be sent. */
    void revokeDeferred()
    {
        if (deferred != null)
        {
            deferred.revoke();
            deferred = null;
        }
    }

    void wrap(
        final ServerChannel from,
        final int receiveSlot,
        final int requestImmediate,
        final MutableDirectBuffer replyBuffer,
        final int replyOffset)
    {
        channel = from;
        slot = receiveSlot;
        immediate = requestImmediate;
        deferred = null;
        buffer = replyBuffer;
        offset = replyOffset;
        refusalLengthBytes = 0;
    }

    int refusalLengthBytes()
    {
        return refusalLengthBytes;
    }
}
