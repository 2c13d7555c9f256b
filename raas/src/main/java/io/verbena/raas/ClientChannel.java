package io.verbena.raas;

import io.verbena.raas.batch.StagedBatch;
import io.verbena.raas.completion.OutstandingBatches;
import io.verbena.raas.completion.RequestId;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.Receives;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.agrona.DirectBuffer;

import java.nio.charset.StandardCharsets;

/**
 * A physical queue pair made by this side; shared by all virtual queue pairs to the peer and by the calls to it.
 *
 * <p>Credits: a call takes one of the receive buffers that the peer keeps for this connection, and its reply, sent
 * after the peer has posted that buffer again, gives it back. Replies never exceed calls, and this side posts as many
 * buffers. So no message ever meets an empty receive queue.
 */
final class ClientChannel extends Channel implements DcTransport.User
{
    /** The calls that go over channels; {@code index} is that of a call. */
    interface CallListener
    {
        /** The SEND of a request completed. */
        void onRequestSent(int index);

        /** Returns false when no call awaits it. */
        boolean onReply(ClientChannel channel, int immediate, DirectBuffer buffer, int offset);

        /** Neither completions nor replies of a channel come any more. */
        void onChannelClosed(ClientChannel channel);

        void onChannelBroken(ClientChannel channel, String failure);
    }

    /** Keeps the channels, and the virtual queue pairs that wait for them. */
    interface Pool extends Owner
    {
        /** Whether another queue pair takes the place of one that broke. */
        boolean isReplaceable(ClientChannel channel);

        /**
         * A channel broke or could not be connected.
         *
         * @param offender   virtual queue pair that fails even where the channel is replaced.
         * @param isReplaced whether the others stay, and wait for another queue pair.
         */
        void onBroken(ClientChannel channel, int status, int offender, boolean isReplaced);

        /** What was to be posted again is not: those that waited for it fail. */
        void failReady(ClientChannel channel, String reason);
    }

    private final Pool pool;
    private final ChannelScheduler.VirtualQps virtualQpsByNumber;
    private final PeerIdentity identity;
    private final CallListener calls;
    private final PeerAddress peer;
    private final SendQueue sends;
    private final OutstandingBatches outstanding;
    /** Which incarnation of the peer has answered; 0 when it did not say, or has not answered yet. */
    private int peerIncarnation;
    private byte[] request;
    private IdentitySecret encryptionSecret;
    private ConnectionAttempt attempt;
    private boolean isReady;
    private PeerGrants grants = PeerGrants.NONE;
    private byte[] privateData = new byte[0];
    private int credits;
    private int forgottenReplies;
    private int virtualQps;
    private DcTransport dc;
    private String failure = "";
    /** To be posted as soon as the queue pair is connected; null for nothing. */
    private Replay replay;
    /** Of the outstanding ones, those up to the last that was posted again, or has ended and waits for one that was. */
    private int recovering;
    private long replayDeadlineNs;
    private long connectDeadlineNs;

    ClientChannel(
        final ContextResources resources, final Pool pool, final ChannelScheduler.VirtualQps virtualQpsByNumber,
        final CallListener calls, final PeerAddress peer, final PeerIdentity identity)
    {
        super(resources, pool, resources.configuration().clientSendDepth());
        this.pool = pool;
        this.virtualQpsByNumber = virtualQpsByNumber;
        this.calls = calls;
        this.peer = peer;
        this.identity = identity;
        final RaasConfiguration configuration = resources.configuration();
        sends = new SendQueue(resources.doorbells(), resources.batches(), virtualQpsByNumber, new SendQueue.Limits(
            configuration.sendQueueDepth(), configuration.clientSendDepth() - configuration.sendQueueDepth(),
            configuration.sharedWindowBytes(), resources.readAtomicDepth()),
            () -> breakDown(WorkCompletionStatus.WR_FLUSH_ERR, "it broke before its doorbell was rung"));
        outstanding = sends.outstanding();
    }

    /**
     * Makes the queue pair and begins to connect it.
     *
     * @param secret proves the identity that it was made for; null when there is none.
     * @param nonce  of this request, never used with the secret before.
     */
    void connect(final IdentitySecret secret, final long nonce, final long timeoutNs)
    {
        open(resources.receives().forReplies());
        sends.queuePair(queuePair);
        encryptionSecret = resources.configuration().isEncrypted() ? secret : null;
        request = ConnectDataDescriptor.encodeRequest(identity, receives.credits(), secret, nonce, resources, queuePair,
            peer.servicePort());
        // The right to READ, without a region that has it: enough for the peer to probe whether we are still there.
        final int rights = AccessFlags.REMOTE_READ |
            (resources.configuration().messageReceives() > 0 ? AccessFlags.REMOTE_WRITE : 0);
        attempt = resources.device().connect(queuePair, peer.device(), peer.servicePort(), rights, request, timeoutNs);
        openReceives();
    }

    /** Lets READs go over DC until the queue pair is connected, which may take until a deadline. */
    void readOver(final DcTransport transport, final RemoteRegion region, final long deadlineNs)
    {
        dc = transport;
        connectDeadlineNs = deadlineNs;
        grants = new PeerGrants(new RemoteRegion[]{region}, new int[]{AccessFlags.REMOTE_READ});
    }

    /** Whether READs can be posted, if there is room. */
    boolean carriesReads()
    {
        return isReady || dc != null;
    }

    /** Whether everything can be posted: what went over DC is done. */
    boolean carriesWrites()
    {
        return isReady && dc == null;
    }

    String way()
    {
        return isReady ? transport() : dc != null ? "dc" : "none";
    }

    /** Nothing is under way over DC: if the queue pair is there, it has its turn. */
    @Override
    public void onTransportIdle()
    {
        if (isReady)
        {
            final DcTransport done = dc;
            dc = null;
            done.release();
        }
    }

    /** The queue pair is connected all the same; where requests are kept, it executes those that DC did not. */
    @Override
    public void onTransportBroken(final DcTransport broken, final int status, final String reason)
    {
        dc = null;
        if (resources.isReplaying())
        {
            final Replay left = newReplay(broken.outstanding().size(), peer.incarnation());
            // Whatever it says: over the queue pair they have other keys.
            left.takeOver(broken.outstanding(), WorkCompletionStatus.WR_FLUSH_ERR, 0, true);
            replay = left;
            if (isReady)
            {
                postKept();
            }
            left.callBack();
        }
        else
        {
            pool.failReady(this, peer + ": " + reason);
            retireAll(broken, status);
        }
    }

    private Replay newReplay(final int capacity, final int incarnation)
    {
        // What was posted again before, and has not completed, gets no more time.
        replayDeadlineNs = recovering > 0 ? replayDeadlineNs :
            resources.clock().nanoTime() + resources.replayTimeoutNs();
        return new Replay(resources, virtualQpsByNumber, sends.scheduler(), capacity, incarnation, replayDeadlineNs);
    }

    /** Takes over what was left by a queue pair to the same peer, to be posted when this one is connected. */
    void replace(final ClientChannel broken)
    {
        replay = broken.replay;
        broken.replay = null;
        replayDeadlineNs = replay.deadlineNs();
        sends.adopt(broken.sends);
        grants = broken.grants;
        privateData = broken.privateData;
    }

    /** Until when the queue pair has to be connected; only where something waits for it. */
    boolean isReplayOverdue(final long nowNs)
    {
        return replay != null && replay.deadlineNs() - nowNs <= 0;
    }

    long connectDeadlineNs()
    {
        return connectDeadlineNs;
    }

    long replayDeadlineNs()
    {
        return replayDeadlineNs;
    }

    /** Gives up what is to be posted again. */
    void endReplay(final String reason)
    {
        final Replay left = replay;
        replay = null;
        pool.failReady(this, peer + ": " + reason);
        left.abandon();
        left.callBack();
        sends.endWaiting();
    }

    PeerIdentity identity()
    {
        return identity;
    }

    @Override
    public PeerAddress peer()
    {
        return peer;
    }

    @Override
    int nodeId()
    {
        return peer.nodeId();
    }

    boolean isReady()
    {
        return isReady;
    }

    PeerGrants grants()
    {
        return grants;
    }

    byte[] privateData()
    {
        return privateData;
    }

    /** Why it is closed; empty while it is not. */
    String failure()
    {
        return failure;
    }

    void addVirtualQp(final Tenant tenant)
    {
        virtualQps++;
        sends.add(tenant);
    }

    /** Whether batches are kept until they have completed, because they may have to wait. */
    boolean isScheduling()
    {
        return sends.scheduler() != null && dc == null;
    }

    void removeVirtualQp()
    {
        virtualQps--;
    }

    boolean hasVirtualQps()
    {
        return virtualQps > 0;
    }

    boolean isUnused()
    {
        return virtualQps == 0 && outstanding.isEmpty() && replay == null && (dc == null || dc.isIdle()) &&
            sends.hasNoneWaiting();
    }

    /** It could not be connected at all, and is closed: whoever waits for it hears that. */
    void failConnecting(final RdmaException cause)
    {
        if (isClosed())
        {
            onClosed();
        }
        else
        {
            close();
        }
        onBreakdown(WorkCompletionStatus.GENERAL_ERR, String.valueOf(cause.getMessage()));
    }

    /** Drives connecting; returns whether it is decided. */
    boolean pollConnect()
    {
        switch (attempt.poll())
        {
            case PENDING ->
            {
                return false;
            }
            case ESTABLISHED -> onEstablished(attempt.privateData());
            case REJECTED -> breakProtocol(attempt.privateData().length == 0 ? "the peer stopped listening" :
                "refused by the peer: " + new String(attempt.privateData(), StandardCharsets.UTF_8));
            case UNREACHABLE -> breakProtocol(problemOr("nobody listens there"));
            case TIMED_OUT -> breakDown(
                WorkCompletionStatus.RESP_TIMEOUT_ERR, problemOr("no answer to connect in time"));
            default -> throw new IllegalStateException("unknown state of a connection attempt: " + attempt.poll());
        }
        return true;
    }

    /** The provider knows more where there is a network between. */
    private String problemOr(final String otherwise)
    {
        return attempt.problem().isEmpty() ? otherwise : attempt.problem();
    }

    private void onEstablished(final byte[] answer)
    {
        final String problem = ConnectDataDescriptor.answerProblem(request, answer,
            encryptionSecret != null && encryptionSecret.isCoveredBy(attempt.packetSeal()));
        if (problem != null)
        {
            breakProtocol(problem);
            return;
        }
        grants = ConnectDataDescriptor.grants(answer);
        privateData = ConnectDataDescriptor.data(answer);
        peerIncarnation = ConnectDataDescriptor.acceptorIncarnation(answer);
        credits = Math.min(receives.credits(), ConnectDataDescriptor.credits(answer));
        encrypt(encryptionSecret, true, request, answer);
        sends.open(true);
        isReady = true;
        if (dc != null && dc.isIdle())
        {
            onTransportIdle();
        }
        if (replay != null)
        {
            postKept();
        }
    }

    /** Posts what was left before anything newer, with one doorbell; calls nobody back before that is done. */
    private void postKept()
    {
        if (peerIncarnation == 0 || peerIncarnation != replay.incarnation())
        {
            endReplay("connection broke, and who answers now is incarnation " + peerIncarnation + ", not " +
                replay.incarnation());
            return;
        }
        final Replay left = replay;
        replay = null;
        // Nothing newer until all of it has completed: so it is never more than a queue pair has room for.
        sends.open(false);
        final boolean isPosted = sends.postKept(left, grants, resources.replays());
        recovering = outstanding.size();
        if (!isPosted)
        {
            breakDown(WorkCompletionStatus.WR_FLUSH_ERR, "it broke before requests were posted again");
            return;
        }
        callBackEnded();
        sends.pump();
    }

    /** Calls back what has ended, up to the first that is under way; behind the last, anything may be posted. */
    private void callBackEnded()
    {
        while (recovering > 0 && outstanding.isOldestEnded())
        {
            final long wrId = outstanding.oldestWrId();
            final int status = outstanding.oldestDetail();
            outstanding.removeOldest();
            recovering--;
            virtualQpsByNumber.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
        }
        sends.open(recovering == 0);
    }

    /** One-sided requests that can be posted now; none while DC drains: a batch could overtake those before it. */
    int dataSpace(final Tenant tenant)
    {
        return dc == null ? sends.dataSpace(tenant) : isReady ? 0 : dc.space();
    }

    /** Posts a checked batch, kept under a number or not; the caller saw that there is space. */
    int postBatch(final Tenant tenant, final StagedBatch batch, final int number, final long wrId)
    {
        return dc != null ? dc.postBatch(batch, number, wrId) : sends.postBatch(tenant, batch, number, wrId);
    }

    /** A call has ended without its reply, which nobody knows when it comes, and which gives a credit back. */
    void forgetReply()
    {
        forgottenReplies++;
    }

    boolean canSendCall()
    {
        return credits > 0 && !isOutOfStep() && sends.hasRoomForCall();
    }

    /** Sends a request of a call from a slot of the caller; the caller saw that it can. */
    int sendCall(final MessageBlock block, final int slot, final int lengthBytes, final int immediate)
    {
        final int status = sends.sendCall(block, slot, sealed(block, slot, lengthBytes, immediate), immediate);
        credits -= status == PostStatus.OK ? 1 : 0;
        if (status != PostStatus.OK && isCounted())
        {
            endOutOfStep();
        }
        return status;
    }

    @Override
    boolean sendControl(final int immediate)
    {
        return isReady && sends.hasRoomForCall() && sends.sendControl(immediate) == PostStatus.OK;
    }

    @Override
    public void onSendComplete(final long wrId)
    {
        if (outstanding.isEmpty() || outstanding.oldestWrId() != wrId)
        {
            throw new IllegalStateException(
                "completion out of order on queue pair " + queuePairNumber() + ": wrId=" + Long.toHexString(wrId));
        }
        retireOldest(WorkCompletionStatus.SUCCESS);
        if (recovering > 0)
        {
            recovering--;
            callBackEnded();
        }
        sends.pump();
    }

    private void retireOldest(final int status)
    {
        if (outstanding.oldestOwner() != OutstandingBatches.NOBODY)
        {
            sends.retireOldestPart(status);
            return;
        }
        final long wrId = sends.removeOldest();
        if (RequestId.number(wrId) != RequestId.CALLS)
        {
            virtualQpsByNumber.onBatchDone(RequestId.number(wrId), RequestId.cookie(wrId), status);
        }
        else if (!isClosed() && wrId != SendQueue.CONTROL)
        {
            calls.onRequestSent(RequestId.cookie(wrId));
        }
    }

    @Override
    String excess()
    {
        return "the peer sent more replies than it has credits: ";
    }

    @Override
    void onArrived(final int slot, final int lengthBytes, final int immediate)
    {
        final int offset = receives.offset(slot);
        final int kind = MessageImmediateDescriptor.kind(immediate);
        if (kind != MessageImmediateDescriptor.KIND_REPLY && kind != MessageImmediateDescriptor.KIND_REFUSAL)
        {
            onMessage(slot, lengthBytes, immediate);
            return;
        }
        if (!MessageHeaderDescriptor.isIntact(receives.buffer(slot), offset, lengthBytes))
        {
            breakProtocol("the peer sent " + lengthBytes + " bytes of kind " + kind + " where a reply was due");
            return;
        }
        final boolean isKnown = calls.onReply(this, immediate, receives.buffer(slot), offset);
        if (!isClosed() && !isKnown && forgottenReplies == 0)
        {
            // No credit comes back with it: none was taken.
            drop(slot);
        }
        else if (!isClosed())
        {
            forgottenReplies -= isKnown ? 0 : 1;
            // Before the credit is back: the reply to the next call finds this buffer posted.
            receives.post(slot);
            credits++;
        }
    }

    @Override
    public boolean hasOutstandingSends()
    {
        return !outstanding.isEmpty();
    }

    @Override
    void onClosed()
    {
        sends.stop();
        if (dc != null)
        {
            dc.close();
        }
        calls.onChannelClosed(this);
    }

    @Override
    void onBreakdown(final int status, final String reason)
    {
        failure = peer + (isReady ? ": connection broke: " : ": not connected: ") + reason;
        final boolean isReplaced = isReady && status != WorkCompletionStatus.GENERAL_ERR && peerIncarnation != 0 &&
            resources.isReplaying() && pool.isReplaceable(this);
        final int offender = Replay.offender(outstanding, status, sends.gathered());
        isReady = false;
        sends.open(false);
        credits = 0;
        if (resources.isReplaying())
        {
            sort(status, offender, isReplaced);
        }
        else
        {
            pool.onBroken(this, status, offender, false);
            retireAll(dc, status);
            sends.endWaiting();
        }
        calls.onChannelBroken(this, failure);
    }

    /** What is posted again waits for another queue pair; what is not has ended. */
    private void sort(final int status, final int offender, final boolean isReplaced)
    {
        final Replay broken = newReplay(outstanding.size() + (dc == null ? 0 : dc.outstanding().size()),
            peerIncarnation);
        if (dc != null)
        {
            broken.takeOver(dc.outstanding(), WorkCompletionStatus.WR_FLUSH_ERR, 0, isReplaced);
            dc = null;
        }
        broken.takeOver(outstanding, status, sends.gathered(), isReplaced);
        // Of a queue pair before this one, which was to take its place and could not be connected.
        final Replay before = replay;
        replay = isReplaced ? broken : null;
        pool.onBroken(this, status, offender, isReplaced);
        if (before != null)
        {
            before.abandon();
            before.callBack();
        }
        broken.callBack();
        if (!isReplaced)
        {
            sends.endWaiting();
        }
    }

    /** Where requests are not kept: the oldest batch has the one that failed, everything behind it was flushed. */
    private void retireAll(final DcTransport transport, final int status)
    {
        int batchStatus = status;
        while (transport != null && !transport.isIdle())
        {
            transport.retireOldest(batchStatus);
            batchStatus = WorkCompletionStatus.WR_FLUSH_ERR;
        }
        dc = null;
        while (isClosed() && !outstanding.isEmpty())
        {
            retireOldest(batchStatus);
            batchStatus = WorkCompletionStatus.WR_FLUSH_ERR;
        }
    }
}
