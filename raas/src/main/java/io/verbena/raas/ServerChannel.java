package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.Numbers;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.Receives;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.SendFlags;
import org.agrona.collections.Int2IntHashMap;

import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** A physical queue pair accepted from a peer: its requests come in here, and replies go out. */
final class ServerChannel extends Channel
{
    /** Answers what comes in over accepted queue pairs. */
    interface Listener
    {
        void onRequest(ServerChannel channel, int slot, int immediate);

        /** A message of the identity's encrypted connection did not open. */
        void onRefusedMessage(PeerIdentity identity);

        /** The buffer of a reply is free again. */
        void onReplySent(int replySlot);

        /** What the channel held is free. */
        void onChannelClosed(ServerChannel channel);
    }

    /** Identifier of a probe; those of replies are their slots, those of messages the numbers of their endpoints. */
    private static final long PROBE = -1;
    /** Identifier of empty messages; no endpoint has index 0. */
    private static final long CONTROL = RequestId.encode(1 << RequestId.INDEX_BITS, 0);

    private final Listener listener;
    private final PeerIdentity identity;
    private final long connection;
    private int repliesOutstanding;
    private int messagesOutstanding;
    private boolean isWritable;
    private int waitingRequests;
    /** Incarnations by node: identities that were given to the peer here, over this connection. */
    private Int2IntHashMap givenIdentities;
    private boolean isProbing;
    /** At first as if it had been: a probe that comes before the peer is RTR is lost, seven times if it takes long. */
    private boolean wasHeard = true;

    ServerChannel(
        final ContextResources resources,
        final Owner owner,
        final Listener listener,
        final Receives receives,
        final PeerIdentity identity,
        final long connection)
    {
        super(resources, owner, resources.configuration().serverSendDepth());
        this.listener = listener;
        this.identity = identity;
        this.connection = connection;
        open(receives);
    }

    /** Number of the connection at its server. */
    long connection()
    {
        return connection;
    }

    /** Requests of it that wait until they can be answered. */
    int waitingRequests()
    {
        return waitingRequests;
    }

    void addWaitingRequests(final int change)
    {
        waitingRequests += change;
    }

    @Override
    int nodeId()
    {
        return identity.nodeId() == 0 ? NO_NODE : identity.nodeId();
    }

    PeerIdentity identity()
    {
        return identity;
    }

    /** See {@link DeferredReply#give}. */
    void give(final PeerIdentity given)
    {
        if (givenIdentities == null)
        {
            givenIdentities = new Int2IntHashMap(0);
        }
        givenIdentities.put(given.nodeId(), given.incarnation());
    }

    /** See {@link RpcReply#actsFor}. */
    boolean actsFor(final PeerIdentity other)
    {
        // No registration has incarnation 0: it is what the map returns for a node that it does not have.
        return other.nodeId() != 0 && other.incarnation() != 0 && (other.equals(identity) ||
            givenIdentities != null && givenIdentities.get(other.nodeId()) == other.incarnation());
    }

    /** See {@link RpcReply#actsForAny}. */
    boolean actsForAny(final Predicate<PeerIdentity> wanted)
    {
        if (identity.nodeId() != 0 && wanted.test(identity))
        {
            return true;
        }
        if (givenIdentities != null)
        {
            final Int2IntHashMap.EntryIterator entries = givenIdentities.entrySet().iterator();
            while (entries.hasNext())
            {
                entries.next();
                if (wanted.test(new PeerIdentity(entries.getIntKey(), entries.getIntValue())))
                {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * @param incarnation      of this node, for the peer.
     * @param encryptionSecret that keys follow from; null: messages are in clear.
     */
    void accept(
        final ConnectionRequest request, final Admission admission, final int incarnation,
        final IdentitySecret encryptionSecret)
    {
        isWritable = (admission.accessFlags() & AccessFlags.REMOTE_WRITE) != 0;
        final byte[] inClear = ConnectDataDescriptor.encodeAnswer(admission, receives.credits(), incarnation);
        final byte[] asked = request.privateData();
        // As this end knows by itself: who asks for it in clear, or with packets of another key, does not get it.
        final boolean isCovered = encryptionSecret != null && encryptionSecret.isCoveredBy(request.packetSeal()) &&
            ConnectDataDescriptor.encryptionAsked(asked) == SealedMessageDescriptor.IN_SEALED_PACKETS;
        final RandomGenerator random = resources.device().random();
        final byte[] answer = encryptionSecret == null ? inClear : isCovered ?
            ConnectDataDescriptor.encrypted(inClear, SealedMessageDescriptor.IN_SEALED_PACKETS, random) :
            ConnectDataDescriptor.encrypted(inClear, random);
        encrypt(encryptionSecret, false, asked, answer);
        request.prepare(queuePair);
        openReceives();
        request.accept(queuePair, admission.accessFlags(), answer);
    }

    /** @param freeReplySlots of all peers: a peer has no more than are free, so that none holds all of them. */
    boolean canSendReply(final int freeReplySlots)
    {
        return repliesOutstanding < freeReplySlots &&
            repliesOutstanding < RaasConfiguration.SENDS_PER_CREDIT * receives.credits();
    }

    /** Whether the peer may write to memory that it has a key for. */
    boolean isWritable()
    {
        return isWritable;
    }

    @Override
    boolean sendControl(final int immediate)
    {
        return postMessage(StagedBatch.SEND, CONTROL, 0, 0, 0, 0, 0, immediate) == PostStatus.OK;
    }

    /** Posts a message of an endpoint, whose number is in the identifier. */
    int postMessage(
        final int opcode, final long wrId, final long localAddress, final int lengthBytes, final int localKey,
        final long remoteAddress, final int remoteKey, final int immediate)
    {
        if (messagesOutstanding == resources.configuration().messageReceives())
        {
            return PostStatus.QUEUE_FULL;
        }
        queuePair.begin();
        if (opcode == StagedBatch.SEND)
        {
            queuePair.sendWithImmediate(wrId, SendFlags.SIGNALED, localAddress, lengthBytes, localKey, immediate);
        }
        else
        {
            queuePair.writeWithImmediate(wrId, SendFlags.SIGNALED, localAddress, lengthBytes, localKey, remoteAddress,
                remoteKey, immediate);
        }
        final int status = queuePair.complete();
        messagesOutstanding += status == PostStatus.OK ? 1 : 0;
        return status;
    }

    /** Sends a reply; where the device refuses that, the connection is ended. */
    void sendReply(final MessageBlock block, final int slot, final int lengthBytes, final int immediate)
    {
        final int length = sealed(block, slot, lengthBytes, immediate);
        queuePair.begin();
        queuePair.sendWithImmediate(
            slot, SendFlags.SIGNALED, block.localAddress(slot), length, block.localKey(), immediate);
        if (queuePair.complete() == PostStatus.OK)
        {
            repliesOutstanding++;
        }
        else
        {
            endOutOfStep();
        }
    }

    /** Posts a READ of length 0 unless the peer was heard since the last call: if the peer is gone, it fails. */
    void probe()
    {
        if (!wasHeard && !isProbing)
        {
            queuePair.begin();
            queuePair.read(PROBE, SendFlags.SIGNALED, 0, 0, 0, 0, 0);
            isProbing = queuePair.complete() == PostStatus.OK;
        }
        wasHeard = false;
    }

    @Override
    public void onSendComplete(final long wrId)
    {
        if (wrId == PROBE)
        {
            isProbing = false;
        }
        else if (RequestId.number(wrId) == RequestId.CALLS)
        {
            repliesOutstanding--;
            listener.onReplySent((int)wrId);
        }
        else
        {
            messagesOutstanding--;
            if (wrId != CONTROL)
            {
                resources.messages().at(Numbers.index(RequestId.number(wrId))).onSendComplete();
            }
        }
    }

    @Override
    String excess()
    {
        return identity + " sent more requests than it has credits: ";
    }

    @Override
    void onArrived(final int slot, final int lengthBytes, final int immediate)
    {
        wasHeard = true;
        if (MessageImmediateDescriptor.kind(immediate) != MessageImmediateDescriptor.KIND_REQUEST)
        {
            onMessage(slot, lengthBytes, immediate);
            return;
        }
        if (!MessageHeaderDescriptor.isIntact(receives.buffer(slot), receives.offset(slot), lengthBytes))
        {
            breakProtocol(
                "not a request: immediate 0x" + Integer.toHexString(immediate) + ", " + lengthBytes + " bytes");
            return;
        }
        listener.onRequest(this, slot, immediate);
    }

    @Override
    void onRefusedMessage()
    {
        listener.onRefusedMessage(identity);
    }

    @Override
    public boolean hasOutstandingSends()
    {
        return repliesOutstanding > 0 || messagesOutstanding > 0 || isProbing;
    }

    @Override
    void onClosed()
    {
        listener.onChannelClosed(this);
    }

    @Override
    void onBreakdown(final int status, final String reason)
    {
        // The caller sees its end of the queue pair fail; there is nobody here to tell.
    }
}
