package io.verbena.raas;

import io.verbena.raas.message.MessageHeaderDescriptor;

/**
 * One call of a {@link RpcClient}. Its request buffer, and with it the slot, is free again when three things are true:
 * the caller has its answer, the SEND has completed, and the reply, which returns the peer's receive buffer, has come.
 */
final class CallSlot
{
    private int generation;
    private VirtualQp vqp;
    private RpcReplyListener listener;
    private long deadlineNs;
    private int messageLengthBytes;
    private Channel channel;
    private boolean isOpen;
    private boolean isSendPending;
    private boolean isReplyPending;

    void open(
        final VirtualQp overVqp,
        final RpcReplyListener replyListener,
        final long deadline,
        final int requestLengthBytes)
    {
        generation = generation == Integer.MAX_VALUE ? 1 : generation + 1;
        vqp = overVqp;
        listener = replyListener;
        deadlineNs = deadline;
        messageLengthBytes = MessageHeaderDescriptor.HEADER_LENGTH_BYTES + requestLengthBytes;
        isOpen = true;
    }

    int generation()
    {
        return generation;
    }

    VirtualQp vqp()
    {
        return vqp;
    }

    long deadlineNs()
    {
        return deadlineNs;
    }

    int messageLengthBytes()
    {
        return messageLengthBytes;
    }

    /** Whether somebody waits for the end of the call. */
    boolean isAwaited()
    {
        return listener != null;
    }

    /** Whether it waits to be sent. */
    boolean isQueued()
    {
        return listener != null && channel == null;
    }

    boolean isPostedOn(final Channel onChannel)
    {
        return isOpen && channel == onChannel;
    }

    boolean expectsReply(final Channel fromChannel, final int ofGeneration)
    {
        return isPostedOn(fromChannel) && isReplyPending && generation == ofGeneration;
    }

    void onPosted(final Channel onChannel)
    {
        channel = onChannel;
        isSendPending = true;
        isReplyPending = true;
    }

    void onSent()
    {
        isSendPending = false;
    }

    /** The reply has come, or will never come. */
    void onReplied()
    {
        isReplyPending = false;
    }

    /** Ends the call for its caller; returns whom to call. */
    RpcReplyListener end()
    {
        final RpcReplyListener ended = listener;
        listener = null;
        return ended;
    }

    /** Returns whether it became free just now. */
    boolean freeWhenDone()
    {
        final boolean isDone = isOpen && listener == null && !isSendPending && !isReplyPending;
        if (isDone)
        {
            isOpen = false;
            vqp = null;
            channel = null;
        }
        return isDone;
    }
}
