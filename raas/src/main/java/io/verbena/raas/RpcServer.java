package io.verbena.raas;

import io.verbena.raas.encryption.ConnectionGate;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.IdentityVerifier;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.OpenMessagesDescriptor;
import io.verbena.raas.message.Receives;
import io.verbena.raas.usage.EncryptionUse;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.IntArrayList;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The answering side: accepts queue pairs at a service port, gives peers access to memory as far as the
 * {@link ConnectionAcceptor} says, and answers calls. Driven by {@link RaasContext#poll()}; one owner thread.
 */
public final class RpcServer implements AutoCloseable
{
    private static final int MAX_CONNECTIONS_PER_POLL = 16;
    private static final int NEVER_FENCED = 0;

    /** Answers the calls that open messages. */
    interface Opening
    {
        int onCall(
            ServerChannel channel, Predicate<PeerIdentity> refused, DirectBuffer request, int offset, int lengthBytes,
            RpcReply reply);
    }

    /** A request that waits in its receive buffer until a reply buffer is free. */
    private record WaitingRequest(ServerChannel channel, int slot, int immediate)
    {
    }

    private final ContextResources resources;
    private final ChannelPool pool;
    private final Consumer<RpcServer> onClosed;
    private final int servicePort;
    private final ConnectionAcceptor acceptor;
    private final ConnectionGate gate;
    private final RpcHandler handler;
    private final ConnectionListener listener;
    private final MemoryRegion replyRegion;
    private final MessageBlock replies;
    private final ServerChannel[] replySlotOwners;
    private final IntArrayList freeReplySlots = new IntArrayList();
    private final ArrayDeque<WaitingRequest> waiting = new ArrayDeque<>();
    private final List<ServerChannel> channels = new ArrayList<>();
    private final Int2IntHashMap fencedIncarnations = new Int2IntHashMap(NEVER_FENCED);
    private final RpcReply reply = new RpcReply(this::reply);
    private final ServerChannel.Listener channelListener = new ChannelListener();
    private long nextProbeNs;
    private long refusals;
    private long lastConnection;
    private int incarnation;
    private Opening opening = (channel, refused, request, offset, lengthBytes, to) ->
        to.refuse("no messages are accepted here");
    private boolean isHandling;
    private boolean isClosed;
    private boolean isGone;

    private RpcServer(
        final ContextResources resources,
        final ChannelPool pool,
        final Consumer<RpcServer> onClosed,
        final int servicePort,
        final ConnectionAcceptor acceptor,
        final IdentityVerifier verifier,
        final RpcHandler handler,
        final MemoryRegion replyRegion,
        final ConnectionListener listener)
    {
        this.resources = resources;
        this.pool = pool;
        this.onClosed = onClosed;
        this.servicePort = servicePort;
        this.acceptor = acceptor;
        gate = new ConnectionGate(verifier);
        this.handler = handler;
        this.replyRegion = replyRegion;
        this.listener = listener;
        final PeerIdentity identity = resources.configuration().identity();
        incarnation = identity.nodeId() == 0 ? 0 : identity.incarnation();
        nextProbeNs = resources.clock().nanoTime() + resources.configuration().probeIntervalNs();
        final int replySlots = resources.configuration().replySlots();
        replySlotOwners = new ServerChannel[replySlots];
        replies = new MessageBlock(replyRegion, 0, replySlots);
        for (int slot = 0; slot < replySlots; slot++)
        {
            freeReplySlots.addInt(slot);
        }
    }

    /**
     * @param onClosed called once when it is closed.
     * @param verifier null: identities are what peers say.
     */
    static RpcServer open(
        final ContextResources resources,
        final ChannelPool pool,
        final Consumer<RpcServer> onClosed,
        final int servicePort,
        final ConnectionAcceptor acceptor,
        final IdentityVerifier verifier,
        final RpcHandler handler)
    {
        final MemoryRegion replyRegion = resources.verbsProtectionDomain().allocateRegistered(
            (long)resources.configuration().replySlots() * MessageBlock.SLOT_LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        try
        {
            final CompletionChannel channel = resources.configuration().completionChannel();
            final ConnectionListener listener = null == channel ?
                resources.device().listen(servicePort) : resources.device().listen(servicePort, channel);
            return new RpcServer(
                resources, pool, onClosed, servicePort, acceptor, verifier, handler, replyRegion, listener);
        }
        catch (final RdmaException ex)
        {
            replyRegion.close();
            throw ex;
        }
    }

    /**
     * Says which life of this node answers from now on, to peers that connect: only to the same one do they post
     * requests again when their queue pair breaks.
     *
     * @param ofThisNode its incarnation, other than in every life before; 0: not to be told. At first that of
     *                   {@link RaasConfiguration#identity()}, where that has a node number.
     */
    public void incarnation(final int ofThisNode)
    {
        incarnation = ofThisNode;
    }

    /** @return connected peers: queue pairs accepted and not closed. */
    public int connections()
    {
        return channels.size();
    }

    /** @return peers refused so far because there was no room, or by the {@link ConnectionAcceptor}. */
    public long refusals()
    {
        return refusals;
    }

    /** @return connections refused so far because the peer did not prove the identity that it claimed. */
    public long refusedProofs()
    {
        return gate.refusedProofs();
    }

    /** @return who was refused last so, one line; empty when nobody was. */
    public String lastRefusedProof()
    {
        return gate.lastRefusedProof();
    }

    /** Takes only encrypted connections of some identities, others' as they come; says whom it refuses, and why. */
    public void encryption(final Predicate<PeerIdentity> ofWhom, final BiConsumer<PeerIdentity, String> onRefused)
    {
        gate.encryption(ofWhom, onRefused);
    }

    /** @return encrypted connections, and what was refused because of encryption. */
    public EncryptionUse encryption()
    {
        return gate.encryption((int)channels.stream().filter(Channel::isEncrypted).count());
    }

    /** @return how many queue pairs clients have here, of whatever kind. */
    public int clientConnections()
    {
        int count = 0;
        for (int i = 0; i < channels.size(); i++)
        {
            count += channels.get(i).identity().isClient() ? 1 : 0;
        }
        return count;
    }

    /**
     * @param identity of a peer.
     * @return whether it has a queue pair here.
     */
    public boolean isConnected(final PeerIdentity identity)
    {
        return channels.stream().anyMatch(channel -> channel.identity().equals(identity));
    }

    /**
     * Refuses one life of a node, and earlier lives of it, from now on: none of them is connected, and nothing that
     * they call is done. Their queue pairs stay: whoever has given them keys of their own to its memory closes these
     * registrations now, and so fences them.
     *
     * @param identity whom, with a node number and an incarnation of 1 or more.
     */
    public void refuse(final PeerIdentity identity)
    {
        final int nodeId = identity.nodeId();
        if (nodeId < 1 || identity.incarnation() < 1)
        {
            throw new RaasMisuseException(
                "fence of " + identity + ": registered nodes have numbers from 1, and only they can be fenced");
        }
        fencedIncarnations.put(nodeId, Math.max(fencedIncarnations.get(nodeId), identity.incarnation()));
        resources.messages().onRefused();
    }

    /**
     * Fences one life of a node that reaches memory under keys which others have too: {@linkplain #refuse refuses} it
     * and closes all its queue pairs. After this returns no access of it lands in this node's memory.
     *
     * @param identity whom, with a node number and an incarnation of 1 or more.
     * @return how many queue pairs were closed.
     */
    public int fence(final PeerIdentity identity)
    {
        refuse(identity);
        int closed = 0;
        for (int i = channels.size() - 1; i >= 0; i--)
        {
            final ServerChannel channel = channels.get(i);
            if (isFenced(channel.identity()))
            {
                channel.close();
                closed++;
            }
        }
        return closed;
    }

    /** @return whether this life of a peer was {@linkplain #refuse refused}; calls over old connections still come. */
    public boolean isFenced(final PeerIdentity identity)
    {
        final int fenced = fencedIncarnations.get(identity.nodeId());
        return fenced != NEVER_FENCED && identity.incarnation() <= fenced;
    }

    int poll(final long nowNs)
    {
        int work = 0;
        while (work < MAX_CONNECTIONS_PER_POLL)
        {
            final ConnectionRequest request = listener.poll();
            if (request == null)
            {
                break;
            }
            answer(request);
            work++;
        }
        if (nextProbeNs - nowNs <= 0)
        {
            nextProbeNs = nowNs + resources.configuration().probeIntervalNs();
            channels.forEach(ServerChannel::probe);
        }
        return work + answerWaiting();
    }

    private int answerWaiting()
    {
        int work = 0;
        // One round over all: a peer that takes no replies must not delay the others.
        for (int left = waiting.size(); left > 0 && !waiting.isEmpty(); left--)
        {
            final WaitingRequest next = waiting.poll();
            if (canReply(next.channel))
            {
                next.channel.addWaitingRequests(-1);
                answer(next.channel, next.slot, next.immediate);
                work++;
            }
            else
            {
                waiting.add(next);
            }
        }
        return work;
    }

    private void answer(final ConnectionRequest request)
    {
        final byte[] data = request.privateData();
        final String problem = ConnectDataDescriptor.requestProblem(data);
        if (problem != null)
        {
            request.reject(ConnectDataDescriptor.encodeRefusal(problem));
            return;
        }
        final PeerIdentity identity = ConnectDataDescriptor.identity(data);
        final int encryption = ConnectDataDescriptor.encryptionAsked(data);
        final String refusal = gate.refusal(ConnectDataDescriptor.claim(data, request, servicePort),
            ConnectDataDescriptor.proof(data), encryption, request.source());
        final IdentitySecret secret = gate.proved();
        if (refusal != null || isFenced(identity))
        {
            request.reject(ConnectDataDescriptor.encodeRefusal(refusal != null ? refusal : fencedText(identity)));
            return;
        }
        final Admission admission = admission(identity, request);
        if (!admission.isAccepted() || isFenced(identity))
        {
            // The acceptor may have fenced it just now.
            refusals++;
            request.reject(ConnectDataDescriptor.encodeRefusal(
                admission.isAccepted() ? fencedText(identity) : admission.reason()));
            return;
        }
        if (!pool.reserve(resources.configuration().serverSendDepth()))
        {
            refusals++;
            request.reject(ConnectDataDescriptor.encodeRefusal(pool.noRoom()));
            return;
        }
        final Receives receives = receivesFor(request, data);
        if (receives != null)
        {
            accept(request, identity, admission, receives, encryption == 0 ? null : secret);
        }
    }

    /** Null when there are none: then the request was refused. */
    private Receives receivesFor(final ConnectionRequest request, final byte[] data)
    {
        String refusal;
        try
        {
            final Receives receives =
                resources.receives().forRequests(Math.max(1, ConnectDataDescriptor.credits(data)));
            if (receives != null)
            {
                return receives;
            }
            refusal = pool.noReceives();
        }
        catch (final RdmaException ex)
        {
            resources.deferError(ex);
            refusal = ex.getMessage();
        }
        pool.release(resources.configuration().serverSendDepth());
        refusals++;
        request.reject(ConnectDataDescriptor.encodeRefusal(refusal));
        return null;
    }

    private static String fencedText(final PeerIdentity identity)
    {
        return identity + " was fenced here: register anew";
    }

    private Admission admission(final PeerIdentity identity, final ConnectionRequest request)
    {
        try
        {
            return acceptor.onConnect(identity, request.source());
        }
        catch (final RuntimeException ex)
        {
            resources.deferError(ex);
            return Admission.refuse("the acceptor failed: " + ex);
        }
    }

    private void accept(
        final ConnectionRequest request, final PeerIdentity identity, final Admission admission,
        final Receives receives, final IdentitySecret encryptionSecret)
    {
        ServerChannel channel = null;
        try
        {
            channel = new ServerChannel(resources, pool, channelListener, receives, identity, ++lastConnection);
            channels.add(channel);
            channel.accept(request, admission, incarnation, encryptionSecret);
        }
        catch (final RdmaException ex)
        {
            // The peer is gone between its request and our answer, or the queue pair cannot be set up.
            if (channel == null)
            {
                request.reject(ConnectDataDescriptor.encodeRefusal(ex.getMessage()));
            }
            else
            {
                channel.close();
            }
            resources.deferError(ex);
        }
    }

    private boolean canReply(final ServerChannel channel)
    {
        return channel.canSendReply(freeReplySlots.size());
    }

    private void answer(final ServerChannel channel, final int slot, final int immediate)
    {
        final Receives receives = channel.receives();
        final int start = receives.offset(slot);
        final int method = MessageHeaderDescriptor.method(receives.buffer(slot), start);
        final int generation = MessageHeaderDescriptor.generation(receives.buffer(slot), start);
        final int replySlot = freeReplySlots.popInt();
        replySlotOwners[replySlot] = channel;
        final int result = handle(channel, slot, immediate, replies.offset(replySlot));
        if (channel.isClosed())
        {
            // Fenced by its own request: the reply slot went with the channel.
            return;
        }
        if (result == RpcReply.DEFERRED)
        {
            freeReplySlot(replySlot);
            return;
        }
        final int length = result == RpcReply.REFUSED ? reply.refusalLengthBytes() : result;
        final int kind = result == RpcReply.REFUSED ?
            MessageImmediateDescriptor.KIND_REFUSAL : MessageImmediateDescriptor.KIND_REPLY;
        MessageHeaderDescriptor.encode(replies.buffer(), replies.offset(replySlot), method, length, generation);
        send(channel, replySlot, slot, immediate, kind, length);
    }

    /** Answers a call whose handler put the answer off; returns false when there is no room to send it now. */
    private boolean reply(
        final DeferredReply to, final int kind, final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        if (!canReply(to.channel()))
        {
            return false;
        }
        final int replySlot = freeReplySlots.popInt();
        replySlotOwners[replySlot] = to.channel();
        final int replyStart = replies.offset(replySlot);
        MessageHeaderDescriptor.encode(replies.buffer(), replyStart, to.method(), lengthBytes, to.generation());
        replies.buffer().putBytes(
            replyStart + MessageHeaderDescriptor.HEADER_LENGTH_BYTES, payload, offset, lengthBytes);
        send(to.channel(), replySlot, to.slot(), to.immediate(), kind, lengthBytes);
        return true;
    }

    private void send(
        final ServerChannel channel, final int replySlot, final int slot, final int immediate, final int kind,
        final int length)
    {
        // The buffer is posted before the reply returns the credit: the next request finds it.
        channel.receives().post(slot);
        channel.sendReply(replies, replySlot, MessageHeaderDescriptor.HEADER_LENGTH_BYTES + length,
            MessageImmediateDescriptor.encode(
                kind, MessageImmediateDescriptor.generation(immediate), MessageImmediateDescriptor.slot(immediate)));
    }

    private int handle(final ServerChannel channel, final int slot, final int immediate, final int replyStart)
    {
        final Receives receives = channel.receives();
        final int start = receives.offset(slot);
        final int version = MessageHeaderDescriptor.version(receives.buffer(slot), start);
        reply.wrap(
            channel, slot, immediate, replies.buffer(), replyStart + MessageHeaderDescriptor.HEADER_LENGTH_BYTES);
        if (version != MessageHeaderDescriptor.VERSION)
        {
            return reply.refuse("message version " + version + " is not known here, only " +
                MessageHeaderDescriptor.VERSION + ": update the older of the two nodes");
        }
        if (isFenced(channel.identity()))
        {
            return reply.refuse(fencedText(channel.identity()));
        }
        isHandling = true;
        try
        {
            final int method = MessageHeaderDescriptor.method(receives.buffer(slot), start);
            final int payload = start + MessageHeaderDescriptor.HEADER_LENGTH_BYTES;
            final int payloadLength = MessageHeaderDescriptor.payloadLength(receives.buffer(slot), start);
            final int length = method == OpenMessagesDescriptor.METHOD ?
                opening.onCall(channel, this::isFenced, receives.buffer(slot), payload, payloadLength, reply) :
                handler.onRequest(channel.identity(), method, receives.buffer(slot), payload, payloadLength, reply);
            if (length > reply.capacity() || length < RpcReply.DEFERRED ||
                (length == RpcReply.DEFERRED) != reply.isDeferred())
            {
                throw new IllegalStateException("a handler returned a reply of " + length + " bytes" +
                    (reply.isDeferred() ? " after it had put the answer off" : ""));
            }
            return length;
        }
        catch (final RuntimeException ex)
        {
            reply.revokeDeferred();
            resources.deferError(ex);
            return reply.refuse("the handler failed: " + ex);
        }
        finally
        {
            isHandling = false;
        }
    }

    private void freeReplySlot(final int replySlot)
    {
        replySlotOwners[replySlot] = null;
        freeReplySlots.pushInt(replySlot);
    }

    /** Who answers calls that open messages. */
    void opening(final Opening newOpening)
    {
        opening = newOpening;
    }

    /** Stops listening and closes the queue pairs accepted here; when that fails, it can be tried again. */
    @Override
    public void close()
    {
        if (isHandling)
        {
            throw new RaasMisuseException("close() of the server at port " + servicePort + " from its own handler");
        }
        if (!isClosed)
        {
            isClosed = true;
            listener.close();
        }
        while (!channels.isEmpty())
        {
            channels.getLast().close();
        }
        if (!isGone)
        {
            isGone = true;
            onClosed.accept(this);
            replyRegion.close();
        }
    }

    /** What accepted channels report. */
    private final class ChannelListener implements ServerChannel.Listener
    {
        @Override
        public void onRequest(final ServerChannel channel, final int slot, final int immediate)
        {
            if (0 == channel.waitingRequests() && canReply(channel))
            {
                answer(channel, slot, immediate);
            }
            else
            {
                channel.addWaitingRequests(1);
                waiting.add(new WaitingRequest(channel, slot, immediate));
            }
        }

        @Override
        public void onRefusedMessage(final PeerIdentity identity)
        {
            gate.onRefusedMessage(identity);
        }

        @Override
        public void onReplySent(final int replySlot)
        {
            freeReplySlot(replySlot);
        }

        @Override
        public void onChannelClosed(final ServerChannel channel)
        {
            channels.remove(channel);
            waiting.removeIf(request -> request.channel == channel);
            for (int slot = 0; slot < replySlotOwners.length; slot++)
            {
                if (replySlotOwners[slot] == channel)
                {
                    freeReplySlot(slot);
                }
            }
        }
    }
}
