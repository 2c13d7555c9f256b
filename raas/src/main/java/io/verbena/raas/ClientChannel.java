package io.verbena.raas;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ConnectionAttempt;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.nio.charset.StandardCharsets;

/**
 * A physical queue pair made by this side; shared by all virtual queue pairs to the peer and by the calls to it.
 *
 * <p>Credits: a call takes one of the receive buffers that the peer posted for this connection, and its reply, sent
 * after the peer has posted that buffer again, gives it back. Replies never exceed calls, and this side posts as many
 * buffers. So no message ever meets an empty receive queue.
 */
final class ClientChannel extends Channel
{
    /** Send slots for calls per credit: a reply can arrive before the completion of the request's own SEND. */
    private static final int CALL_SENDS_PER_CREDIT = 2;

    private final PeerAddress peer;
    private final int dataDepth;
    private final int callDepth;
    private final OutstandingBatches outstanding;
    private ConnectionAttempt attempt;
    private boolean isReady;
    private PeerGrants grants = PeerGrants.NONE;
    private byte[] privateData = new byte[0];
    private int dataOutstanding;
    private int callsOutstanding;
    private int credits;
    private int virtualQps;
    private DcCarrier carrier;
    private String failure = "";

    ClientChannel(final RaasContext context, final PeerAddress peer, final int dataDepth)
    {
        super(context, sendDepth(dataDepth, context.configuration().rpcCredits()));
        this.peer = peer;
        this.dataDepth = dataDepth;
        callDepth = CALL_SENDS_PER_CREDIT * context.configuration().rpcCredits();
        outstanding = new OutstandingBatches(dataDepth + callDepth);
    }

    static int sendDepth(final int dataDepth, final int credits)
    {
        return dataDepth + CALL_SENDS_PER_CREDIT * credits;
    }

    void connect(final long timeoutNs)
    {
        final byte[] data = ConnectDataDescriptor.encodeRequest(context.identity(), receives.slotCount());
        // The right to READ, without a region that has it: enough for the peer to probe whether we are still there.
        attempt = context.device().connect(
            queuePair, peer.device(), peer.servicePort(), AccessFlags.REMOTE_READ, data, timeoutNs);
        postAllReceives();
    }

    /** Lets READs go over DC until the queue pair is connected. */
    void readOver(final DcCarrier dcCarrier, final RemoteRegion region)
    {
        carrier = dcCarrier;
        grants = new PeerGrants(new RemoteRegion[]{region}, new int[]{AccessFlags.REMOTE_READ});
    }

    /** Whether READs can be posted, if there is room. */
    boolean carriesReads()
    {
        return isReady || carrier != null;
    }

    /** Whether everything can be posted: what went over DC is done. */
    boolean carriesWrites()
    {
        return isReady && carrier == null;
    }

    /** Nothing is under way over DC: if the queue pair is there, it has its turn. */
    void onCarrierIdle()
    {
        if (isReady)
        {
            final DcCarrier done = carrier;
            carrier = null;
            done.release();
        }
    }

    PeerAddress peer()
    {
        return peer;
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

    void addVirtualQp()
    {
        virtualQps++;
    }

    void removeVirtualQp()
    {
        virtualQps--;
    }

    boolean isUnused()
    {
        return virtualQps == 0 && outstanding.isEmpty() && (carrier == null || carrier.isIdle());
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
            case UNREACHABLE -> breakProtocol("nobody listens there");
            case TIMED_OUT -> breakDown(WorkCompletionStatus.RESP_TIMEOUT_ERR, "no answer to connect in time");
            default -> throw new IllegalStateException("unknown state of a connection attempt: " + attempt.poll());
        }
        return true;
    }

    private void onEstablished(final byte[] answer)
    {
        final String problem = ConnectDataDescriptor.answerProblem(answer);
        if (problem != null)
        {
            breakProtocol(problem);
            return;
        }
        grants = ConnectDataDescriptor.grants(answer);
        privateData = ConnectDataDescriptor.data(answer);
        credits = Math.min(receives.slotCount(), ConnectDataDescriptor.credits(answer));
        isReady = true;
        if (carrier != null && carrier.isIdle())
        {
            onCarrierIdle();
        }
    }

    /** One-sided requests that can be posted now. */
    int dataSpace()
    {
        if (carrier != null)
        {
            // None while it drains: a batch on the queue pair could overtake those before it.
            return isReady ? 0 : carrier.space();
        }
        return dataDepth - dataOutstanding;
    }

    /** Posts a checked batch; the caller saw that there is space. */
    int postBatch(final StagedBatch batch, final long wrId)
    {
        if (carrier != null)
        {
            return carrier.postBatch(batch, wrId);
        }
        queuePair.begin();
        batch.stageOn(queuePair, wrId);
        final int status = queuePair.complete();
        if (status == PostStatus.OK)
        {
            outstanding.add(wrId, batch.count());
            dataOutstanding += batch.count();
        }
        return status;
    }

    boolean canSendCall()
    {
        return credits > 0 && callsOutstanding < callDepth;
    }

    /** Sends a request of a call from a slot of the caller; the caller saw that it can. */
    int sendCall(final MessageBlock block, final int slot, final int lengthBytes, final int immediate)
    {
        final long wrId = VirtualQpTable.wrId(VirtualQpTable.CALLS, slot);
        queuePair.begin();
        queuePair.sendWithImmediate(
            wrId, SendFlags.SIGNALED, block.localAddress(slot), lengthBytes, block.localKey(), immediate);
        final int status = queuePair.complete();
        if (status == PostStatus.OK)
        {
            outstanding.add(wrId, 1);
            callsOutstanding++;
            credits--;
        }
        return status;
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
    }

    private void retireOldest(final int status)
    {
        final long wrId = outstanding.oldestWrId();
        final int requestCount = outstanding.removeOldest();
        final int number = VirtualQpTable.number(wrId);
        if (number == VirtualQpTable.CALLS)
        {
            callsOutstanding--;
            if (!isClosed())
            {
                context.rpcClient().onRequestSent(VirtualQpTable.cookie(wrId));
            }
        }
        else
        {
            dataOutstanding -= requestCount;
            context.virtualQps().dispatch(number, VirtualQpTable.cookie(wrId), status);
        }
    }

    @Override
    public void onReceive(final int slot, final int lengthBytes, final int immediate)
    {
        final int offset = receives.offset(slot);
        final int kind = MessageImmediateDescriptor.kind(immediate);
        final boolean isReply =
            kind == MessageImmediateDescriptor.KIND_REPLY || kind == MessageImmediateDescriptor.KIND_REFUSAL;
        if (!isReply || !MessageHeaderDescriptor.isIntact(receives.buffer(), offset, lengthBytes))
        {
            breakProtocol("the peer sent a message of " + lengthBytes + " bytes and kind " + kind +
                " where a reply was due");
            return;
        }
        context.rpcClient().onReply(this, immediate, receives.buffer(), offset);
        if (!isClosed())
        {
            // Before the credit is back: the reply to the next call finds this buffer posted.
            postReceive(slot);
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
        if (carrier != null)
        {
            carrier.close();
        }
        context.pool().onClientClosed(this);
        context.rpcClient().onChannelClosed(this);
    }

    @Override
    void onBreakdown(final int status, final String reason)
    {
        failure = peer + (isReady ? ": connection broke: " : ": not connected: ") + reason;
        isReady = false;
        context.pool().onBroken(this, status);
        // The first outstanding batch has the request that failed; everything behind it was flushed.
        int batchStatus = status;
        while (carrier != null && !carrier.isIdle())
        {
            carrier.retireOldest(batchStatus);
            batchStatus = WorkCompletionStatus.WR_FLUSH_ERR;
        }
        carrier = null;
        while (!outstanding.isEmpty())
        {
            retireOldest(batchStatus);
            batchStatus = WorkCompletionStatus.WR_FLUSH_ERR;
        }
        context.rpcClient().onChannelBroken(this);
    }
}
