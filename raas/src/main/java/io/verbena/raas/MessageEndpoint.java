package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimitException;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageCredits;
import io.verbena.raas.message.MessageEvents;
import io.verbena.raas.message.MessageExchange;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.MessageState;
import io.verbena.raas.message.OpenMessagesDescriptor;
import io.verbena.raas.region.TenantRegion;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;

import java.util.function.Predicate;

/**
 * One end of a virtual queue pair for messages, over a queue pair that others use too. One side opens it, the other
 * accepts; from then on both are alike: each sends messages (SEND), and writes to memory that the other has granted
 * (WRITE_WITH_IMM), of which the other hears.
 *
 * <p>Order: what one end sends arrives in order, WRITEs and messages together. Each arrives once or not at all. An end
 * that keeps messages back, or is slow, makes its other end wait and nobody else: each has credits of its own.
 *
 * <p>When the queue pair breaks, both ends end. Nothing is sent again: what is known to have had no effect is reported
 * as {@link WorkCompletionStatus#WR_FLUSH_ERR}, everything else under way as {@link BatchListener#OUTCOME_UNKNOWN}.
 *
 * <p>The owner thread of the {@link RaasContext}. Closed by who opened it, or by the {@link Acceptor}'s side.
 */
public final class MessageEndpoint implements AutoCloseable
{
    /** What happens at an end; called by the owner thread inside {@link RaasContext#poll()}. */
    public interface Listener
    {
        /**
         * The end is OPEN.
         *
         * @param endpoint which.
         */
        default void onOpened(final MessageEndpoint endpoint)
        {
        }

        /**
         * A message has come.
         *
         * @param endpoint    to which.
         * @param message     for {@link MessageEndpoint#release}, where it is kept.
         * @param buffer      has it, from {@code offset}; not to be changed.
         * @param offset      where it begins.
         * @param lengthBytes 0 to {@link MessageEndpoint#MAX_MESSAGE_BYTES}.
         * @return true if it is done with: the buffer is used again. False to keep it, and its credit, until
         *         {@link MessageEndpoint#release}.
         */
        boolean onMessage(MessageEndpoint endpoint, int message, DirectBuffer buffer, int offset, int lengthBytes);

        /**
         * The other end has written to the memory that was granted to it; the bytes are there. Where in it, the two
         * ends have to know.
         *
         * @param endpoint    to which.
         * @param message     for {@link MessageEndpoint#release}, where its credit is kept.
         * @param kind        given by the other end, 0 to 7.
         * @param lengthBytes written.
         * @return as {@link #onMessage}.
         */
        default boolean onWrite(
            final MessageEndpoint endpoint, final int message, final int kind, final int lengthBytes)
        {
            return true;
        }

        /**
         * Called once for each message or WRITE that was posted, in their order, unless this end is closed before.
         *
         * @param endpoint by which.
         * @param cookie   given when it was posted.
         * @param status   {@link WorkCompletionStatus#SUCCESS}: it is at the peer, and its local memory can be used
         *                 again. WR_FLUSH_ERR: it had no effect. {@link BatchListener#OUTCOME_UNKNOWN}. Anything else:
         *                 the peer refused it.
         */
        default void onSent(final MessageEndpoint endpoint, final int cookie, final int status)
        {
        }

        /**
         * The end has ENDED, and was not closed here; called once, after {@link #onSent} of all that was under way.
         *
         * @param endpoint which.
         * @param reason   for people.
         */
        default void onEnded(final MessageEndpoint endpoint, final String reason)
        {
        }
    }

    /** Decides who may open messages with this node. */
    public interface Acceptor
    {
        /**
         * @param identity for whom the other end acts: proved or given over its connection.
         * @param service  what it asks for.
         * @param mine     what this end offers; to be set.
         * @return what hears of the end, which is {@linkplain Listener#onOpened opened} soon; null: nobody serves this.
         */
        Listener onOpen(PeerIdentity identity, int service, MessageOptions mine);
    }

    /** Longest message. */
    public static final int MAX_MESSAGE_BYTES = MessageBlock.MAX_MESSAGE_BYTES;
    /** Kinds of WRITEs, from 0, by which the ends tell them apart. */
    public static final int WRITE_KINDS = MessageImmediateDescriptor.WRITE_KINDS;
    private final ContextResources resources;
    private final Listener listener;
    private final MessageOptions options;
    private final MessageExchange exchange;
    private final EndpointLink link;

    private MessageEndpoint(
        final ContextResources resources, final MessageOptions options, final Listener listener,
        final EndpointLink link)
    {
        this.resources = resources;
        this.options = options;
        this.listener = listener;
        this.link = link;
        final Events events = new Events();
        exchange = new MessageExchange(resources.messages(), options.credits(), events);
        if (exchange.number() == RequestId.CALLS)
        {
            throw new RaasLimitException(resources.messages().limit());
        }
        link.bind(exchange, events);
        exchange.begin(link);
    }

    /**
     * Opens messages with a peer; returns at once. The end is OPENING, then OPEN or ENDED.
     *
     * @param context   of this node, with {@link RaasConfiguration#messageReceives(int)}.
     * @param tenant    whose messages they are; they are posted in its turn, and take of its receives.
     * @param peer      whom to reach.
     * @param options   what this end offers; copied.
     * @param listener  hears of what comes.
     * @param timeoutNs after which it has ENDED when the peer has not answered.
     * @return the end, closed by the caller.
     * @throws RaasLimitException when there is no room for another one; nothing was begun.
     */
    public static MessageEndpoint open(
        final RaasContext context, final Tenant tenant, final PeerAddress peer, final MessageOptions options,
        final Listener listener, final long timeoutNs)
    {
        final String problem = problem(options);
        if (problem != null)
        {
            throw new RaasMisuseException(problem);
        }
        final MessageOptions own = options.copy();
        final EndpointLink.Opened opened = new EndpointLink.Opened(context.rpcClient(), own);
        final VirtualQp vqp = context.connect(
            tenant, peer, ReadTargetAddress.NONE, RemoteRegion.NONE, opened, timeoutNs);
        opened.over(vqp);
        try
        {
            return new MessageEndpoint(vqp.resources(), own, listener, opened);
        }
        catch (final RaasLimitException ex)
        {
            vqp.close();
            throw ex;
        }
    }

    /**
     * Has a server accept messages from now on, besides calls.
     *
     * @param server   of a context with {@link RaasConfiguration#messageReceives(int)}.
     * @param acceptor decides who may open them.
     */
    public static void accept(final RpcServer server, final Acceptor acceptor)
    {
        server.opening((channel, refused, request, offset, lengthBytes, reply) ->
            answer(channel, acceptor, refused, request, offset, lengthBytes, reply));
    }

    /** Answers the call that opens an end: the length of the reply, or what {@link RpcReply#refuse} returns. */
    private static int answer(
        final ServerChannel channel, final Acceptor acceptor, final Predicate<PeerIdentity> refused,
        final DirectBuffer request, final int offset, final int lengthBytes, final RpcReply reply)
    {
        final ContextResources resources = channel.resources;
        final String problem = channel.isEncrypted() ? "this connection is encrypted, and messages would not be" :
            OpenMessagesDescriptor.problem(request, offset, lengthBytes);
        if (problem != null)
        {
            return reply.refuse(problem);
        }
        final PeerIdentity identity = new PeerIdentity(
            OpenMessagesDescriptor.nodeId(request, offset), OpenMessagesDescriptor.incarnation(request, offset));
        if (!identity.equals(channel.identity()) && !channel.actsFor(identity) || refused.test(identity))
        {
            return reply.refuse("messages for " + identity + ": this connection does not act for it");
        }
        final int service = OpenMessagesDescriptor.service(request, offset);
        final MessageOptions mine = new MessageOptions();
        final Listener listener = acceptor.onOpen(identity, service, mine);
        final String refusal = listener == null ? "nobody serves messages of service " + service + " here" :
            problem(mine);
        if (refusal != null)
        {
            return reply.refuse(refusal);
        }
        if (mine.granted() != null && !channel.isWritable())
        {
            return reply.refuse("memory for service " + service + ": the connection was admitted without REMOTE_WRITE");
        }
        final EndpointLink link = new EndpointLink.Accepted(resources, channel, refused,
            mine.service(service).identity(identity), OpenMessagesDescriptor.credits(request, offset));
        if (!link.reserve(channel))
        {
            return reply.refuse(link.noReceives());
        }
        try
        {
            final MessageEndpoint endpoint = new MessageEndpoint(resources, mine, listener, link);
            link.pair(request, offset);
            OpenMessagesDescriptor.encode(reply.buffer(), reply.offset(), endpoint.exchange.number(), mine);
            return OpenMessagesDescriptor.LENGTH_BYTES;
        }
        catch (final RaasLimitException ex)
        {
            link.giveBack();
            return reply.refuse(ex.getMessage());
        }
    }

    private static String problem(final MessageOptions options)
    {
        if (options.credits() < 1 || options.credits() > MessageCredits.MAX_CREDITS)
        {
            return "MessageOptions.credits is " + options.credits() + ", it must be 1 to " +
                MessageCredits.MAX_CREDITS;
        }
        final MemoryRegion region = options.granted();
        if (region == null)
        {
            return null;
        }
        if ((region.accessFlags() & AccessFlags.REMOTE_WRITE) == 0)
        {
            return "MessageOptions.grants: the region lacks REMOTE_WRITE, its rights are " + region.accessFlags();
        }
        return options.grantedLengthBytes() < 1 || options.grantedOffset() < 0 ||
            options.grantedOffset() > region.lengthBytes() - options.grantedLengthBytes() ?
            "MessageOptions.grants: " + options.grantedLengthBytes() + " bytes from offset " +
                options.grantedOffset() + " are not within the region of " + region.lengthBytes() : null;
    }

    /** @return where it is. */
    public MessageState state()
    {
        return exchange.state();
    }

    /** @return why it has ENDED, one line for people; empty otherwise. */
    public String failure()
    {
        return exchange.failure();
    }

    /** @return messages and WRITEs for which the other end has receives now; 0 unless OPEN. */
    public int space()
    {
        return exchange.space();
    }

    /** @return messages and WRITEs posted and not reported: their local memory has to stay registered. */
    public int outstanding()
    {
        return link.outstanding();
    }

    /** @return messages and credits that are kept here. */
    public int kept()
    {
        return exchange.kept();
    }

    /** @return what the other end asked for, or was asked for. */
    public int service()
    {
        return options.service();
    }

    /** @return for whom the end acts that opened; null until the peer was asked, for the identity of the connection. */
    public PeerIdentity identity()
    {
        return options.identity();
    }

    /** @return bytes that the other end has granted to be written to; 0 for none, and before OPEN. */
    public long remoteLengthBytes()
    {
        return link.remoteLengthBytes();
    }

    /**
     * Limits posting as {@link VirtualQp#grantedUntil} does, to the time for which the peer lets it write.
     *
     * @param endsNs by {@link RaasContext#clock()}; of an end that was accepted it means nothing.
     */
    public void grantedUntil(final long endsNs)
    {
        link.grantedUntil(endsNs);
    }

    /**
     * Sends a message.
     *
     * @param local       has it; of the tenant's, or, of an end that was accepted, the context's protection domain.
     * @param offset      where it begins.
     * @param lengthBytes 0 to {@link #MAX_MESSAGE_BYTES}.
     * @param cookie      comes back in {@link Listener#onSent}; its meaning is the caller's.
     * @return {@link PostStatus}: QUEUE_FULL (no credits, or no room on the queue pair now: poll, then send again) or
     *         INVALID_STATE (not OPEN, or the grant has ended): then nothing was posted, and nothing is reported. The
     *         bytes must stay unchanged until it is reported.
     */
    public int send(final MemoryRegion local, final long offset, final int lengthBytes, final int cookie)
    {
        if (lengthBytes < 0 || lengthBytes > MAX_MESSAGE_BYTES)
        {
            throw new RaasMisuseException(
                "message of " + lengthBytes + " bytes: they have 0 to " + MAX_MESSAGE_BYTES + "; " + this);
        }
        return post(
            StagedBatch.SEND, MessageImmediateDescriptor.KIND_MESSAGE, local, offset, lengthBytes, 0, cookie);
    }

    /**
     * Writes to the memory that the other end has granted, which hears of it when the bytes are there.
     *
     * @param local        as for {@link #send}.
     * @param localOffset  first byte in it.
     * @param lengthBytes  0 or more.
     * @param remoteOffset first byte in what was granted, see {@link #remoteLengthBytes()}.
     * @param kind         0 to 7: the number that the other end's listener receives with it.
     * @param cookie       as for {@link #send}.
     * @return as {@link #send}.
     */
    public int write(
        final MemoryRegion local, final long localOffset, final int lengthBytes, final long remoteOffset,
        final int kind, final int cookie)
    {
        if (kind < 0 || kind >= WRITE_KINDS)
        {
            throw new RaasMisuseException(
                "WRITE of kind " + kind + ": there are 0 to " + (WRITE_KINDS - 1) + "; " + this);
        }
        if (exchange.state() == MessageState.OPEN && (lengthBytes < 0 || remoteOffset < 0 ||
            remoteOffset > link.remoteLengthBytes() - lengthBytes))
        {
            throw new RaasMisuseException("WRITE of " + lengthBytes + " bytes at offset " + remoteOffset +
                ": the other end has granted " + link.remoteLengthBytes() + "; " + this);
        }
        return post(StagedBatch.WRITE_WITH_IMMEDIATE, MessageImmediateDescriptor.KIND_WRITE + kind, local,
            localOffset, lengthBytes, remoteOffset, cookie);
    }

    private int post(
        final int opcode, final int kind, final MemoryRegion local, final long localOffset, final int lengthBytes,
        final long remoteOffset, final int cookie)
    {
        final String violation = link.checks().localViolation(StagedBatch.SEND, local, localOffset, lengthBytes);
        if (violation != null)
        {
            throw new RaasMisuseException("message of " + lengthBytes + " bytes, local offset " + localOffset + ": " +
                violation + "; " + this);
        }
        if (exchange.space() == 0)
        {
            return exchange.state() == MessageState.OPEN ? PostStatus.QUEUE_FULL : PostStatus.INVALID_STATE;
        }
        final TenantRegion region = (TenantRegion)local;
        final int status = link.post(opcode, region.address + localOffset, lengthBytes, region.localKey,
            remoteOffset, exchange.immediate(kind), cookie);
        if (status == PostStatus.OK)
        {
            exchange.onPosted();
        }
        return status;
    }

    /**
     * A message, or the credit of a WRITE, that was kept is done with.
     *
     * @param message as the listener got it. Of an end that is over it need not be there any more.
     */
    public void release(final int message)
    {
        if (!exchange.release(message) && exchange.state() == MessageState.OPEN)
        {
            throw new RaasMisuseException("release() of message " + message + ", which is not kept here; " + this);
        }
    }

    /**
     * Closes; no callback comes any more. What is under way still executes: keep its local memory registered until
     * {@link #outstanding()} is 0. Messages that are kept are given back.
     */
    @Override
    public void close()
    {
        if (exchange.state() != MessageState.CLOSED)
        {
            exchange.close();
        }
    }

    @Override
    public String toString()
    {
        return "MessageEndpoint{service=" + options.service() + " identity=" + options.identity() + ' ' + exchange +
            '}';
    }

    /** What happens, for the listener. */
    private final class Events implements MessageEvents
    {
        @Override
        public void onOpened()
        {
            listener.onOpened(MessageEndpoint.this);
        }

        @Override
        public boolean onMessage(
            final int message, final DirectBuffer buffer, final int offset, final int lengthBytes)
        {
            return listener.onMessage(MessageEndpoint.this, message, buffer, offset, lengthBytes);
        }

        @Override
        public boolean onWrite(final int message, final int kind, final int lengthBytes)
        {
            return listener.onWrite(MessageEndpoint.this, message, kind, lengthBytes);
        }

        @Override
        public void onSent(final int cookie, final int status)
        {
            listener.onSent(MessageEndpoint.this, cookie, status);
        }

        @Override
        public void onEnded(final String reason)
        {
            listener.onEnded(MessageEndpoint.this, reason);
        }

        @Override
        public void onError(final RuntimeException error)
        {
            resources.deferError(error);
        }
    }
}
