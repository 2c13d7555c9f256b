package io.verbena.raas;

import org.agrona.MutableDirectBuffer;

import java.nio.charset.StandardCharsets;

/** Where a {@link RpcHandler} writes its answer; valid during the call only. */
public final class RpcReply
{
    /** What {@link #refuse(String)} returns. */
    public static final int REFUSED = -1;

    private MutableDirectBuffer buffer;
    private int offset;
    private int refusalLengthBytes;

    RpcReply()
    {
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
        return RpcClient.MAX_MESSAGE_BYTES;
    }

    /**
     * Refuses the call: the caller hears {@link RpcStatus#REFUSED} with this text.
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

    void wrap(final MutableDirectBuffer replyBuffer, final int replyOffset)
    {
        buffer = replyBuffer;
        offset = replyOffset;
        refusalLengthBytes = 0;
    }

    int refusalLengthBytes()
    {
        return refusalLengthBytes;
    }
}
