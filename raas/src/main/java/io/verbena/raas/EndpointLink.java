package io.verbena.raas;

import io.verbena.raas.completion.OutstandingBatches;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageCredits;
import io.verbena.raas.message.MessageEvents;
import io.verbena.raas.message.MessageExchange;
import io.verbena.raas.message.MessageLink;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.MessageState;
import io.verbena.raas.message.OpenMessagesDescriptor;
import io.verbena.raas.message.Receives;
import io.verbena.raas.rpc.RpcReplyListener;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;

import java.util.function.Predicate;

/** How a message endpoint posts: of the two kinds, one was opened here and one accepted. */
abstract class EndpointLink implements MessageLink
{
    protected final MessageOptions options;
    protected MessageExchange exchange;
    protected long remoteAddress;
    protected int remoteKey;
    private MessageEvents events;
    private long remoteLengthBytes;
    private Channel channel;

    private EndpointLink(final MessageOptions options)
    {
        this.options = options;
    }

    final void bind(final MessageExchange newExchange, final MessageEvents newEvents)
    {
        exchange = newExchange;
        events = newEvents;
        if (channel != null)
        {
            exchange.bind(channel);
        }
    }

    abstract ContextResources resources();

    /** What local memory is checked for. */
    abstract RequestChecks checks();

    /** Posts one request; {@link PostStatus}. */
    abstract int post(
        int opcode, long localAddress, int lengthBytes, int localKey, long remoteOffset, int immediate, int cookie);

    /** See {@link VirtualQp#grantedUntil}. */
    abstract void grantedUntil(long endsNs);

    /** Takes the receives that the end needs; false when there are not so many. */
    final boolean reserve(final Channel over)
    {
        final boolean isReserved = over.receives().reserve(options.credits() + MessageCredits.CONTROL_RECEIVES);
        channel = isReserved ? over : null;
        if (isReserved && exchange != null)
        {
            exchange.bind(over);
        }
        return isReserved;
    }

    final void giveBack()
    {
        channel.receives().release(options.credits() + MessageCredits.CONTROL_RECEIVES);
    }

    /** Why there are none to be taken. */
    final String noReceives()
    {
        return "no room for " + options.credits() + " credits and " + MessageCredits.CONTROL_RECEIVES +
            " more messages: a queue pair has " + resources().configuration().messageReceives() +
            " receives for messages of all its endpoints; close some, or raise RaasConfiguration.messageReceives";
    }

    /** The other end has said what it offers. */
    final void pair(final DirectBuffer terms, final int offset)
    {
        remoteKey = OpenMessagesDescriptor.grantedKey(terms, offset);
        remoteAddress = OpenMessagesDescriptor.grantedAddress(terms, offset);
        remoteLengthBytes = OpenMessagesDescriptor.grantedLengthBytes(terms, offset);
        exchange.pair(OpenMessagesDescriptor.number(terms, offset), OpenMessagesDescriptor.credits(terms, offset));
    }

    /** What the other end has granted to be written to; 0 for nothing. */
    final long remoteLengthBytes()
    {
        return remoteLengthBytes;
    }

    /** A request is over. */
    protected final void report(final int cookie, final int status)
    {
        if (exchange.state() == MessageState.CLOSED)
        {
            return;
        }
        try
        {
            events.onSent(cookie, status);
        }
        catch (final RuntimeException ex)
        {
            events.onError(ex);
        }
    }

    protected final Channel channel()
    {
        return channel;
    }

    @Override
    public final Receives receives()
    {
        return channel.receives();
    }

    @Override
    public final boolean sendControl(final int immediate)
    {
        return channel.sendControl(immediate);
    }

    @Override
    public final void breakProtocol(final String reason)
    {
        channel.breakProtocol(reason + "; " + exchange);
    }

    /** Of an end that was opened here: a virtual queue pair of its own. */
    static final class Opened extends EndpointLink implements BatchListener, RpcReplyListener
    {
        /** The call goes on when its caller has stopped waiting: only its reply says what there is to close. */
        private static final long CALL_TIMEOUT_NS = Long.MAX_VALUE / 4;

        private final RpcClient rpcClient;
        private VirtualQp vqp;
        private boolean isAsking;
        private boolean hasQuota;

        Opened(final RpcClient rpcClient, final MessageOptions options)
        {
            super(options);
            this.rpcClient = rpcClient;
        }

        void over(final VirtualQp newVqp)
        {
            vqp = newVqp;
        }

        @Override
        ContextResources resources()
        {
            return vqp.resources();
        }

        @Override
        public void open(final long nowNs)
        {
            if (vqp.isFailed())
            {
                exchange.end(vqp.failure());
            }
            else if (vqp.connectDeadlineNs() - nowNs <= 0)
            {
                exchange.end(vqp.peer() + ": messages were not opened in time");
            }
            else if (!isAsking && vqp.carriesWrites() && rpcClient.begin(vqp) == PostStatus.OK)
            {
                ask(nowNs);
            }
        }

        private void ask(final long nowNs)
        {
            hasQuota = hasQuota || vqp.tenant().takeReceives(exchange.receives());
            if (!hasQuota || !reserve(vqp.channel()))
            {
                rpcClient.cancel();
                exchange.end(hasQuota ? noReceives() : "no room for " + exchange.receives() +
                    " receives: tenant '" + vqp.tenant().name() + "' has " + vqp.tenant().options().receives() +
                    " for all its message endpoints; close some, or raise TenantOptions.receives");
                return;
            }
            if (options.identity() == null)
            {
                options.identity(vqp.channel().identity());
            }
            OpenMessagesDescriptor.encode(rpcClient.requestBuffer(), 0, exchange.number(), options);
            isAsking = true;
            rpcClient.complete(
                OpenMessagesDescriptor.METHOD, OpenMessagesDescriptor.LENGTH_BYTES, nowNs + CALL_TIMEOUT_NS, this);
        }

        @Override
        public void onReply(
            final long callId, final RpcStatus status, final DirectBuffer payload, final int offset,
            final int lengthBytes)
        {
            isAsking = false;
            final String problem = status != RpcStatus.OK ? payload.getStringWithoutLengthUtf8(offset, lengthBytes) :
                OpenMessagesDescriptor.problem(payload, offset, lengthBytes);
            if (problem == null)
            {
                pair(payload, offset);
            }
            else
            {
                exchange.end(vqp.peer() + ": " + problem);
            }
        }

        @Override
        public boolean isAsking()
        {
            return isAsking;
        }

        @Override
        public void onBatchComplete(final VirtualQp from, final int cookie, final int status)
        {
            // Where requests are not kept, nothing is known of what had no effect.
            report(cookie, status == WorkCompletionStatus.SUCCESS || resources().isReplaying() ?
                status : OUTCOME_UNKNOWN);
        }

        @Override
        RequestChecks checks()
        {
            return vqp.tenant().checks();
        }

        @Override
        int post(
            final int opcode, final long localAddress, final int lengthBytes, final int localKey,
            final long remoteOffset, final int immediate, final int cookie)
        {
            return vqp.post(opcode, localAddress, lengthBytes, localKey, remoteAddress + remoteOffset, remoteKey,
                immediate, cookie);
        }

        @Override
        void grantedUntil(final long endsNs)
        {
            vqp.grantedUntil(endsNs);
        }

        @Override
        public int outstanding()
        {
            return vqp.outstandingBatches();
        }

        @Override
        public void onSendComplete()
        {
            throw new IllegalStateException("a completion that no batch stands for: " + exchange);
        }

        @Override
        public void onQueuePairClosed(final String reason)
        {
            // Not to be posted again over another one: there the other end is not known.
            vqp.fail(vqp.peer() + ": " + reason);
        }

        @Override
        public void reportLost()
        {
            // The batches of the virtual queue pair end with the queue pair.
        }

        @Override
        public boolean isRefused()
        {
            return false;
        }

        @Override
        public void probe()
        {
            channel().probeUnlessBusy();
        }

        @Override
        public void close()
        {
            if (hasQuota)
            {
                vqp.tenant().giveBackReceives(exchange.receives());
            }
            vqp.close();
        }
    }

    /** Of an end that was accepted: the queue pair that its other end's node has made. */
    static final class Accepted extends EndpointLink
    {
        private final ContextResources resources;
        private final ServerChannel accepted;
        private final Predicate<PeerIdentity> refused;
        /** Cookies, oldest first. */
        private final OutstandingBatches sent;
        private final int maxSent;

        Accepted(
            final ContextResources resources, final ServerChannel accepted, final Predicate<PeerIdentity> refused,
            final MessageOptions options, final int peerCredits)
        {
            super(options);
            this.resources = resources;
            this.accepted = accepted;
            this.refused = refused;
            // Credits may come back before completions do.
            maxSent = 2 * peerCredits;
            sent = new OutstandingBatches(maxSent);
        }

        @Override
        public void open(final long nowNs)
        {
            throw new IllegalStateException("an end that was accepted knows its other end: " + exchange);
        }

        @Override
        public boolean isAsking()
        {
            return false;
        }

        @Override
        ContextResources resources()
        {
            return resources;
        }

        @Override
        RequestChecks checks()
        {
            return resources.tenants().first().checks();
        }

        @Override
        int post(
            final int opcode, final long localAddress, final int lengthBytes, final int localKey,
            final long remoteOffset, final int immediate, final int cookie)
        {
            if (sent.size() == maxSent)
            {
                return PostStatus.QUEUE_FULL;
            }
            final long wrId = RequestId.encode(exchange.number(), cookie);
            final int status = accepted.postMessage(opcode, wrId, localAddress, lengthBytes, localKey,
                remoteAddress + remoteOffset, remoteKey, immediate);
            if (status == PostStatus.OK)
            {
                sent.add(wrId, 1, 0);
            }
            return status;
        }

        @Override
        void grantedUntil(final long endsNs)
        {
            // Whose memory it writes to has made the queue pair.
        }

        @Override
        public int outstanding()
        {
            return sent.size();
        }

        @Override
        public void onSendComplete()
        {
            reportOldest(WorkCompletionStatus.SUCCESS);
        }

        private void reportOldest(final int status)
        {
            final int cookie = RequestId.cookie(sent.oldestWrId());
            sent.removeOldest();
            report(cookie, status);
        }

        @Override
        public void onQueuePairClosed(final String reason)
        {
            // What was under way is reported by the next poll.
        }

        @Override
        public void reportLost()
        {
            while (exchange.isBroken() && !sent.isEmpty())
            {
                reportOldest(BatchListener.OUTCOME_UNKNOWN);
            }
        }

        @Override
        public void probe()
        {
            // Its server does.
        }

        @Override
        public boolean isRefused()
        {
            return refused.test(options.identity());
        }

        @Override
        public void close()
        {
            // The queue pair is its peer's.
        }
    }
}
