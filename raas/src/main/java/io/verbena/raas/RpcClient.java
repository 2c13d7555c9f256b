package io.verbena.raas;

import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.rpc.RpcReplyListener;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.IntArrayList;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;

/**
 * The calling side of request/reply messages; one for each {@link RaasContext}, driven by its
 * {@link RaasContext#poll()}. Calls to one peer are sent in the order they were made, as far as the peer's receive
 * buffers allow; those that do not fit wait here, and no call to another peer waits behind them.
 */
public final class RpcClient implements AutoCloseable
{
    /**
     * One call. Its request buffer, and with it the slot, is free again when the caller has its answer and the SEND has
     * completed. Where that answer was that no reply came, one may come later, and finds another generation here: a
     * peer that stands still keeps nothing but the credits of its own queue pair.
     */
    static final class CallSlot
    {
        private int generation;
        private VirtualQp vqp;
        private RpcReplyListener listener;
        private long deadlineNs;
        private int messageLengthBytes;
        private ClientChannel channel;
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

        boolean isPostedOn(final ClientChannel onChannel)
        {
            return isOpen && channel == onChannel;
        }

        boolean expectsReply(final ClientChannel fromChannel, final int ofGeneration)
        {
            return isPostedOn(fromChannel) && isAwaited() && generation == ofGeneration;
        }

        void onPosted(final ClientChannel onChannel)
        {
            channel = onChannel;
            isSendPending = true;
            isReplyPending = true;
        }

        void onSent()
        {
            isSendPending = false;
        }

        /** The reply has come, or is counted as one that may come. */
        void onReplied()
        {
            isReplyPending = false;
        }

        /** On which its reply may still come; null: on none. */
        ClientChannel unanswered()
        {
            return isReplyPending ? channel : null;
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
            final boolean isDone = isOpen && listener == null && !isSendPending;
            if (isDone)
            {
                isOpen = false;
                vqp = null;
                channel = null;
            }
            return isDone;
        }
    }

    /** Longest request or reply. */
    public static final int MAX_MESSAGE_BYTES = MessageBlock.MAX_MESSAGE_BYTES;

    private final ContextResources resources;
    private final MemoryRegion region;
    private final MessageBlock requests;
    private final CallSlot[] slots;
    private final IntArrayList free = new IntArrayList();
    private final IntArrayList queued = new IntArrayList();
    private final UnsafeBuffer text = new UnsafeBuffer(new byte[0]);
    private final ClientChannel.CallListener sentCalls = new SentCalls();
    /** Of the call that was begun; wraps nothing while none is. */
    private final UnsafeBuffer requestBuffer = new UnsafeBuffer(0, 0);
    /** Over which a call was begun; null while none is. */
    private VirtualQp begunVqp;
    private int begunIndex;
    private int outstandingCalls;
    private int strayReplies;
    /** No call that is awaited has an earlier deadline. */
    private long earliestDeadlineNs;
    private boolean hasEndedVirtualQp;
    private long scansOfAllCalls;

    RpcClient(final ContextResources resources, final int maxCalls)
    {
        this.resources = resources;
        region = resources.verbsProtectionDomain().allocateRegistered(
            (long)maxCalls * MessageBlock.SLOT_LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        requests = new MessageBlock(region, 0, maxCalls);
        slots = new CallSlot[maxCalls];
        for (int i = maxCalls - 1; i >= 0; i--)
        {
            slots[i] = new CallSlot();
            free.addInt(i);
        }
    }

    /**
     * Calls; the request is copied. May be made while the virtual queue pair is CONNECTING: then it is sent once READY.
     *
     * @param vqp         over which; must stay open until the call has ended, otherwise it ends with PEER_FAILED.
     * @param method      0 to 65,534; 65,535 opens {@linkplain MessageEndpoint messages}.
     * @param request     bytes of the request.
     * @param offset      where they begin.
     * @param lengthBytes up to {@link #MAX_MESSAGE_BYTES}.
     * @param timeoutNs   from now; covers waiting for the connection and for room at the peer.
     * @param listener    called exactly once, never from inside this method.
     * @return number of the call, positive; or QUEUE_FULL (too many calls outstanding) or INVALID_STATE (vqp neither
     *         CONNECTING nor READY) of {@link PostStatus}: then no callback comes.
     */
    public long call(
        final VirtualQp vqp,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final long timeoutNs,
        final RpcReplyListener listener)
    {
        return callUntil(
            vqp, method, request, offset, lengthBytes, resources.clock().nanoTime() + timeoutNs, listener);
    }

    /**
     * As {@link #call}, until an instant.
     *
     * @param deadlineNs by the clock of the context; covers waiting for the connection and for room at the peer.
     * @return as {@link #call}.
     */
    public long callUntil(
        final VirtualQp vqp,
        final int method,
        final DirectBuffer request,
        final int offset,
        final int lengthBytes,
        final long deadlineNs,
        final RpcReplyListener listener)
    {
        checkCall(method, lengthBytes);
        request.boundsCheck(offset, lengthBytes);
        final int status = begin(vqp);
        if (status != PostStatus.OK)
        {
            return status;
        }
        requestBuffer.putBytes(0, request, offset, lengthBytes);
        return complete(method, lengthBytes, deadlineNs, listener);
    }

    /**
     * First half of a call whose request is not copied: the caller writes it into {@link #requestBuffer()}, from where
     * the device sends it. {@link #complete} or {@link #cancel} must follow before anything else is asked of the
     * context.
     *
     * @param vqp as for {@link #call}.
     * @return {@link PostStatus#OK}; QUEUE_FULL or INVALID_STATE as {@link #call}: then nothing was begun.
     */
    public int begin(final VirtualQp vqp)
    {
        if (begunVqp != null)
        {
            throw new RaasMisuseException("begin() of a call while another is begun: complete or cancel it first");
        }
        if (vqp.resources() != resources)
        {
            throw new RaasMisuseException("call over a virtual queue pair of another context: " + vqp);
        }
        if (vqp.state() != VirtualQp.State.READY && vqp.state() != VirtualQp.State.CONNECTING)
        {
            return PostStatus.INVALID_STATE;
        }
        if (free.isEmpty() || !vqp.tenant().takeCall())
        {
            return PostStatus.QUEUE_FULL;
        }
        begunVqp = vqp;
        begunIndex = free.popInt();
        requestBuffer.wrap(requests.buffer(),
            requests.offset(begunIndex) + MessageHeaderDescriptor.HEADER_LENGTH_BYTES, MAX_MESSAGE_BYTES);
        return PostStatus.OK;
    }

    /**
     * Where the request of a call that was begun is written: {@link #MAX_MESSAGE_BYTES}, of which the first are
     * undefined before. Not to be touched from {@link #complete} or {@link #cancel} on: by then it may be sent, and be
     * the buffer of another call.
     *
     * @return the same object each time.
     */
    public MutableDirectBuffer requestBuffer()
    {
        return requestBuffer;
    }

    /** Gives up a call that was begun; no callback comes. */
    public void cancel()
    {
        takeBegun().tenant().giveBackCall();
        free.pushInt(begunIndex);
    }

    /**
     * Makes the call that was begun.
     *
     * @param method      as for {@link #call}.
     * @param lengthBytes of the request, which was written; as for {@link #call}.
     * @param deadlineNs  as for {@link #callUntil}.
     * @param listener    as for {@link #call}.
     * @return number of the call, positive.
     */
    public long complete(
        final int method, final int lengthBytes, final long deadlineNs, final RpcReplyListener listener)
    {
        checkCall(method, lengthBytes);
        final VirtualQp vqp = takeBegun();
        final int index = begunIndex;
        final CallSlot slot = slots[index];
        slot.open(vqp, listener, deadlineNs, lengthBytes);
        earliestDeadlineNs =
            outstandingCalls == 0 || deadlineNs - earliestDeadlineNs < 0 ? deadlineNs : earliestDeadlineNs;
        MessageHeaderDescriptor.encode(
            requests.buffer(), requests.offset(index), method, lengthBytes, slot.generation());
        outstandingCalls++;
        final long callId = callId(index);
        if (vqp.state() != VirtualQp.State.READY || !queued.isEmpty() && isBehindOthers(vqp) || !send(index))
        {
            queued.addInt(index);
        }
        return callId;
    }

    private VirtualQp takeBegun()
    {
        if (begunVqp == null)
        {
            throw new RaasMisuseException("no call is begun");
        }
        final VirtualQp vqp = begunVqp;
        begunVqp = null;
        requestBuffer.wrap(0, 0);
        return vqp;
    }

    private static void checkCall(final int method, final int lengthBytes)
    {
        if (lengthBytes < 0 || lengthBytes > MAX_MESSAGE_BYTES || method != (method & 0xFFFF))
        {
            throw new RaasMisuseException("call of method " + method + " with " + lengthBytes +
                " bytes: methods are 0 to 65535 and requests 0 to " + MAX_MESSAGE_BYTES + " bytes");
        }
    }

    /**
     * Whether calls to the same peer wait for room there: it is theirs first. Calls to others, of which some may be
     * connecting for long, hold up nobody.
     */
    private boolean isBehindOthers(final VirtualQp vqp)
    {
        for (int i = 0; i < queued.size(); i++)
        {
            final VirtualQp waiting = slots[queued.getInt(i)].vqp();
            if (waiting.channel() == vqp.channel() && waiting.state() == VirtualQp.State.READY)
            {
                return true;
            }
        }
        return false;
    }

    /** What channels report to. */
    ClientChannel.CallListener sentCalls()
    {
        return sentCalls;
    }

    /** @return calls that hold a slot: not ended yet, or their SEND is not. */
    public RaasLimit limit()
    {
        return new RaasLimit("calls", (long)slots.length - free.size(), slots.length, "RaasConfiguration.maxCalls");
    }

    /** @return calls whose listener has not been called. */
    public int outstandingCalls()
    {
        return outstandingCalls;
    }

    /** Replies that no call awaits: nearly all are to calls that had ended already. */
    int strayReplies()
    {
        return strayReplies;
    }

    boolean isIdle()
    {
        return outstandingCalls == 0;
    }

    private long callId(final int index)
    {
        return (long)slots[index].generation() << MessageImmediateDescriptor.SLOT_BITS | index;
    }

    int poll(final long nowNs)
    {
        final int sent = sendQueued();
        return hasEndedVirtualQp || earliestDeadlineNs - nowNs <= 0 ? sent + endOverdue(nowNs) : sent;
    }

    /** A virtual queue pair has FAILED or was closed: its calls end in the next poll. */
    void onVirtualQpEnded()
    {
        hasEndedVirtualQp = true;
    }

    /** How often every call was checked; not for each poll, since there may be a thousand. */
    long scansOfAllCalls()
    {
        return scansOfAllCalls;
    }

    boolean hasQueued()
    {
        return !queued.isEmpty();
    }

    /** Sends what waits, as far as there is room now; calls no listener. */
    int sendQueued()
    {
        int sent = 0;
        int kept = 0;
        for (int i = 0; i < queued.size(); i++)
        {
            final int index = queued.getInt(i);
            final CallSlot slot = slots[index];
            if (slot.isQueued() && slot.vqp().state() == VirtualQp.State.READY && send(index))
            {
                sent++;
            }
            else if (slot.isQueued())
            {
                queued.setInt(kept++, index);
            }
        }
        while (queued.size() > kept)
        {
            queued.popInt();
        }
        return sent;
    }

    private boolean send(final int index)
    {
        final CallSlot slot = slots[index];
        final ClientChannel channel = slot.vqp().channel();
        if (!channel.canSendCall())
        {
            return false;
        }
        final int immediate = MessageImmediateDescriptor.encode(
            MessageImmediateDescriptor.KIND_REQUEST, slot.generation(), index);
        final boolean isSent =
            channel.sendCall(requests, index, slot.messageLengthBytes(), immediate) == PostStatus.OK;
        if (isSent)
        {
            slot.onPosted(channel);
        }
        return isSent;
    }

    private int endOverdue(final long nowNs)
    {
        int ended = 0;
        hasEndedVirtualQp = false;
        scansOfAllCalls++;
        earliestDeadlineNs = Long.MAX_VALUE + nowNs;
        for (int index = 0; index < slots.length; index++)
        {
            final CallSlot slot = slots[index];
            if (!slot.isAwaited())
            {
                continue;
            }
            final long deadlineNs = slot.deadlineNs();
            final VirtualQp vqp = slot.vqp();
            if (vqp.state() == VirtualQp.State.FAILED || vqp.state() == VirtualQp.State.CLOSED)
            {
                end(index, RpcStatus.PEER_FAILED, vqp.state() == VirtualQp.State.CLOSED ?
                    vqp.peer() + ": the virtual queue pair was closed during the call" : vqp.failure());
                ended++;
            }
            else if (deadlineNs - nowNs <= 0)
            {
                end(index, RpcStatus.TIMED_OUT, vqp.peer() +
                    (slot.isQueued() ? ": the call could not be sent in time" : ": no reply in time"));
                ended++;
            }
            else if (deadlineNs - earliestDeadlineNs < 0)
            {
                earliestDeadlineNs = deadlineNs;
            }
        }
        return ended;
    }

    private void end(final int index, final RpcStatus status, final String reason)
    {
        final byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        text.wrap(bytes);
        end(index, status, text, 0, bytes.length);
    }

    private void end(
        final int index, final RpcStatus status, final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        final long callId = callId(index);
        if (slots[index].isQueued())
        {
            queued.removeInt(index);
        }
        final ClientChannel unanswered = slots[index].unanswered();
        if (unanswered != null)
        {
            unanswered.forgetReply();
            slots[index].onReplied();
        }
        final RpcReplyListener listener = slots[index].end();
        outstandingCalls--;
        freeWhenDone(index);
        try
        {
            listener.onReply(callId, status, payload, offset, lengthBytes);
        }
        catch (final RuntimeException ex)
        {
            resources.deferError(ex);
        }
    }

    private void freeWhenDone(final int index)
    {
        final VirtualQp vqp = slots[index].vqp();
        if (slots[index].freeWhenDone())
        {
            vqp.tenant().giveBackCall();
            free.pushInt(index);
        }
    }

    @Override
    public void close()
    {
        region.close();
    }

    /** What channels report about the calls that were sent over them. */
    private final class SentCalls implements ClientChannel.CallListener
    {
        @Override
        public void onRequestSent(final int index)
        {
            slots[index].onSent();
            freeWhenDone(index);
        }

        @Override
        public boolean onReply(
            final ClientChannel channel, final int immediate, final DirectBuffer buffer, final int offset)
        {
            final int index = MessageImmediateDescriptor.slot(immediate);
            final int generation = MessageHeaderDescriptor.generation(buffer, offset);
            final boolean isKnown = index < slots.length && slots[index].expectsReply(channel, generation) &&
                MessageImmediateDescriptor.generation(immediate) ==
                    MessageImmediateDescriptor.generationBits(generation);
            if (!isKnown)
            {
                strayReplies++;
                return false;
            }
            slots[index].onReplied();
            final int kind = MessageImmediateDescriptor.kind(immediate);
            final RpcStatus status = kind == MessageImmediateDescriptor.KIND_REPLY ? RpcStatus.OK : RpcStatus.REFUSED;
            end(index, status, buffer, offset + MessageHeaderDescriptor.HEADER_LENGTH_BYTES,
                MessageHeaderDescriptor.payloadLength(buffer, offset));
            return true;
        }

        @Override
        public void onChannelClosed(final ClientChannel channel)
        {
            for (int index = 0; index < slots.length; index++)
            {
                if (slots[index].isPostedOn(channel))
                {
                    slots[index].onSent();
                    freeWhenDone(index);
                }
            }
        }

        @Override
        public void onChannelBroken(final ClientChannel channel, final String failure)
        {
            for (int index = 0; index < slots.length; index++)
            {
                if (slots[index].isPostedOn(channel) && slots[index].isAwaited())
                {
                    end(index, RpcStatus.PEER_FAILED, failure);
                }
            }
        }
    }
}
