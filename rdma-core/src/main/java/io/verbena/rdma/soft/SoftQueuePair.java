package io.verbena.rdma.soft;

import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.StagedQueuePair;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A queue pair whose requester executes its requests on the peer's memory within the doorbell.
 *
 * <p>Fencing: a requester is {@linkplain AccessMark marked inside} from before it looks at the peer's state and keys
 * until after its last access; whoever closes changes those first and then waits for the marks it finds. The same
 * marks give the owner of a receive queue the right to flush it.
 *
 * <p>Order between requests: copies are plain word accesses, so a load fence follows each READ, a store fence precedes
 * each WRITE, atomics are full barriers, and a READ after a WRITE or an atomic is preceded by a full fence.
 */
final class SoftQueuePair extends StagedQueuePair
{
    private static final VarHandle STATE;
    /** Not a completion status: the request waits for the peer. */
    private static final int WAIT = -1;
    private static final int MIN_TOUCHED_REQUESTS = 4;
    private static final int MAX_TOUCHED_REQUESTS = 32;

    static
    {
        try
        {
            STATE = MethodHandles.lookup().findVarHandle(SoftQueuePair.class, "state", QueuePairState.class);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }

    private final SoftDevice device;
    private final SoftProtectionDomain protectionDomain;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final ReceiveQueue receives;
    private final KeyTable localKeys;
    private final AccessMark mark = new AccessMark();
    private final int number;
    private final int maxReadAtomic;
    private long sendHead;
    private long rnrDeadlineNs;
    private boolean hasRnrDeadline;
    private boolean isPayloadPlaced;
    private boolean isWaiting;
    private boolean needsStoreLoadFence;
    private long touchSink;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean isClosed;
    private boolean isDestroyed;
    private volatile SoftConnectionAttempt attempt;
    private volatile SoftQueuePair peer;
    // Written before the state that makes them visible.
    private KeyTable peerKeys;
    private int accessFlags;
    /** Test hook: called between the check of a request and its access. */
    Runnable beforeAccess;

    SoftQueuePair(
        final SoftProtectionDomain protectionDomain,
        final SoftCompletionQueue sendCompletions,
        final SoftCompletionQueue receiveCompletions,
        final QueuePairCapabilities capabilities,
        final int number)
    {
        super(capabilities, SoftDevice.MAX_MESSAGE_BYTES);
        this.device = protectionDomain.device();
        this.protectionDomain = protectionDomain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.receives = new ReceiveQueue(capabilities.maxReceiveRequests());
        this.localKeys = device.keys();
        this.maxReadAtomic = capabilities.maxReadAtomic();
        this.number = number;
    }

    SoftDevice device()
    {
        return device;
    }

    @Override
    public int number()
    {
        return number;
    }

    @Override
    public QueuePairState state()
    {
        return state;
    }

    boolean isClosed()
    {
        return isClosed;
    }

    @Override
    public int postReceive(final long wrId, final long localAddress, final int lengthBytes, final int localKey)
    {
        if (state == QueuePairState.RESET)
        {
            return PostStatus.INVALID_STATE;
        }
        if (!receives.offer(wrId, localAddress, lengthBytes, localKey))
        {
            return PostStatus.QUEUE_FULL;
        }
        // After the offer: whoever moved to ERR before has been asked to flush, and now flushes this one too.
        if (state == QueuePairState.ERR)
        {
            receiveCompletions.requestAttention();
        }
        return PostStatus.OK;
    }

    /** Polling thread: a completion of a receive was handed out. */
    void releaseReceive()
    {
        receives.release();
    }

    @Override
    public void moveToError()
    {
        if (changeState(QueuePairState.ERR))
        {
            sendCompletions.requestAttention();
            receiveCompletions.requestAttention();
        }
    }

    @Override
    public void close()
    {
        if (isDestroyed)
        {
            return;
        }
        final SoftConnectionAttempt pending = attempt;
        if (pending != null)
        {
            pending.cancel();
        }
        isClosed = true;
        state = QueuePairState.ERR;
        sendCompletions.removeWaiting(this);
        awaitOutside();
        awaitPeerOutside();
        isDestroyed = true;
        state = QueuePairState.RESET;
        protectionDomain.queuePairClosed(this);
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
    }

    /** Waits until a requester that was inside when this was called is outside. */
    void awaitOutside()
    {
        mark.awaitOutside(this);
    }

    /** As {@link #awaitOutside()} for the peer, which may be inside this side's memory. */
    void awaitPeerOutside()
    {
        final SoftQueuePair other = peer;
        if (other != null)
        {
            other.awaitOutside();
        }
    }

    /** Owner or the service: prepares to take receives. */
    void toInit()
    {
        if (isClosed || !STATE.compareAndSet(this, QueuePairState.RESET, QueuePairState.INIT))
        {
            throw new RdmaException("queue pair must be open and in state RESET: " + this);
        }
    }

    void attempt(final SoftConnectionAttempt attempt)
    {
        this.attempt = attempt;
    }

    /** The connecting side failed: receives posted so far are dropped without completions. */
    void toReset(final SoftConnectionAttempt failed)
    {
        if (attempt == failed && STATE.compareAndSet(this, QueuePairState.INIT, QueuePairState.RESET))
        {
            receives.clear();
        }
    }

    /** The service: binds this side to its peer and opens it. */
    void establish(final SoftQueuePair peer, final int accessFlags)
    {
        this.peer = peer;
        this.peerKeys = peer.device.keys();
        this.accessFlags = accessFlags;
        STATE.compareAndSet(this, QueuePairState.INIT, QueuePairState.RTS);
    }

    @Override
    protected void onDoorbell()
    {
        if (!isWaiting)
        {
            execute();
        }
    }

    /** Polling thread: tries again what waits for the peer. */
    void retry()
    {
        execute();
    }

    /** Polling thread: completes everything outstanding with WR_FLUSH_ERR once in ERR. */
    void flushIfInError()
    {
        if (state == QueuePairState.ERR)
        {
            flushSends();
            flushReceives();
        }
    }

    @Override
    public String toString()
    {
        return "SoftQueuePair{device=" + device.name() + ", number=" + number + ", state=" + state +
            ", isClosed=" + isClosed + '}';
    }

    private boolean changeState(final QueuePairState target)
    {
        QueuePairState current;
        do
        {
            current = state;
            if (current == target || current == QueuePairState.RESET)
            {
                return false;
            }
        }
        while (!STATE.compareAndSet(this, current, target));
        return true;
    }

    private void execute()
    {
        mark.enter();
        needsStoreLoadFence = false;
        try
        {
            executeInside();
        }
        finally
        {
            mark.leave();
        }
        if (state == QueuePairState.ERR)
        {
            flushSends();
        }
    }

    private void executeInside()
    {
        final long tail = sendTail();
        long position = sendHead;
        long touched = tail - position < MIN_TOUCHED_REQUESTS ? tail : position;
        while (position < tail && state == QueuePairState.RTS)
        {
            if (position == touched)
            {
                touched = Math.min(tail, position + MAX_TOUCHED_REQUESTS);
                touchTargets(position, touched);
            }
            final WorkRequest request = request(position);
            final int status = execute(request);
            if (status == WAIT)
            {
                break;
            }
            position++;
            sendHead = position;
            if (status != WorkCompletionStatus.SUCCESS)
            {
                moveToError();
                sendCompletions.pushSend(this, request.wrId, status, 0, 0, position);
            }
            else if ((request.flags & SendFlags.SIGNALED) != 0)
            {
                sendCompletions.pushSend(
                    this, request.wrId, status, request.operation, request.lengthBytes, position);
            }
        }
        if (isWaiting && (position == tail || state != QueuePairState.RTS))
        {
            isWaiting = false;
            sendCompletions.removeWaiting(this);
        }
    }

    /**
     * Loads from the targets of a batch close together, so that their cache misses overlap; executing one request is
     * too long for the processor to look ahead to the next one's.
     */
    private void touchTargets(final long fromPosition, final long toPosition)
    {
        long touched = 0;
        for (long position = fromPosition; position < toPosition; position++)
        {
            final WorkRequest request = request(position);
            final RegisteredRegion region = peerKeys.find(request.remoteKey);
            if (request.operation != WorkRequest.SEND && region != null &&
                region.contains(request.remoteAddress, 1))
            {
                touched += RawMemory.touch(request.remoteAddress);
            }
        }
        touchSink = touched;
    }

    private int execute(final WorkRequest request)
    {
        final int length = request.lengthBytes;
        final boolean isRead = request.operation >= WorkRequest.READ;
        if (length != 0 && (request.flags & SendFlags.INLINE) == 0)
        {
            final RegisteredRegion local = localKeys.find(request.localKey);
            if (local == null || !local.allows(
                protectionDomain, isRead ? AccessFlags.LOCAL_WRITE : 0, request.localAddress, length))
            {
                return WorkCompletionStatus.LOC_PROT_ERR;
            }
        }
        final SoftQueuePair responder = peer;
        if (responder.state != QueuePairState.RTS)
        {
            return WorkCompletionStatus.RETRY_EXC_ERR;
        }
        return switch (request.operation)
        {
            case WorkRequest.READ -> executeRead(request, responder, length);
            case WorkRequest.WRITE -> executeWrite(request, responder, length);
            case WorkRequest.SEND -> consumeReceive(request, responder, true);
            default -> executeAtomic(request, responder);
        };
    }

    private int executeRead(final WorkRequest request, final SoftQueuePair responder, final int length)
    {
        final int status = check(request, responder, AccessFlags.REMOTE_READ, length);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            return status;
        }
        if (needsStoreLoadFence)
        {
            VarHandle.fullFence();
            needsStoreLoadFence = false;
        }
        RawMemory.read(request.remoteAddress, request.localAddress, length);
        VarHandle.acquireFence();
        return WorkCompletionStatus.SUCCESS;
    }

    private int executeWrite(final WorkRequest request, final SoftQueuePair responder, final int length)
    {
        // Only the last packet of a WRITE_WITH_IMM meets the missing receive: its payload is not written again.
        if (!isPayloadPlaced)
        {
            final int status = check(request, responder, AccessFlags.REMOTE_WRITE, length);
            if (status != WorkCompletionStatus.SUCCESS)
            {
                return status;
            }
            VarHandle.releaseFence();
            RawMemory.write(request.localAddress, request.remoteAddress, length);
            needsStoreLoadFence = true;
            if (!request.hasImmediate)
            {
                return WorkCompletionStatus.SUCCESS;
            }
        }
        final int status = consumeReceive(request, responder, false);
        isPayloadPlaced = status == WAIT;
        return status;
    }

    private int executeAtomic(final WorkRequest request, final SoftQueuePair responder)
    {
        if ((request.remoteAddress & 7) != 0)
        {
            responder.moveToError();
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        final int status = check(request, responder, AccessFlags.REMOTE_ATOMIC, Long.BYTES);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            return status;
        }
        final long found = request.operation == WorkRequest.COMPARE_SWAP ?
            RawMemory.compareSwap(request.remoteAddress, request.operand, request.desired) :
            RawMemory.fetchAdd(request.remoteAddress, request.operand);
        RawMemory.putLong(request.localAddress, found);
        needsStoreLoadFence = true;
        return WorkCompletionStatus.SUCCESS;
    }

    private int check(
        final WorkRequest request, final SoftQueuePair responder, final int neededFlag, final int length)
    {
        int status = WorkCompletionStatus.SUCCESS;
        if ((responder.accessFlags & neededFlag) == 0 ||
            neededFlag != AccessFlags.REMOTE_WRITE && (maxReadAtomic == 0 || responder.maxReadAtomic == 0))
        {
            status = WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        else if (length != 0)
        {
            final RegisteredRegion region = peerKeys.find(request.remoteKey);
            if (region == null ||
                !region.allows(responder.protectionDomain, neededFlag, request.remoteAddress, length))
            {
                status = WorkCompletionStatus.REM_ACCESS_ERR;
            }
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            responder.moveToError();
        }
        else if (beforeAccess != null)
        {
            beforeAccess.run();
        }
        return status;
    }

    private int consumeReceive(final WorkRequest request, final SoftQueuePair responder, final boolean isSend)
    {
        final ReceiveQueue queue = responder.receives;
        if (queue.isEmpty())
        {
            return awaitReceive();
        }
        hasRnrDeadline = false;
        final long wrId = queue.wrId();
        int receiveStatus = WorkCompletionStatus.SUCCESS;
        int status = WorkCompletionStatus.SUCCESS;
        if (isSend && request.lengthBytes != 0)
        {
            receiveStatus = fillReceive(request, responder, queue);
            status = switch (receiveStatus)
            {
                case WorkCompletionStatus.SUCCESS -> WorkCompletionStatus.SUCCESS;
                case WorkCompletionStatus.LOC_LEN_ERR -> WorkCompletionStatus.REM_INV_REQ_ERR;
                default -> WorkCompletionStatus.REM_OP_ERR;
            };
        }
        queue.remove();
        responder.receiveCompletions.pushReceive(
            responder,
            wrId,
            receiveStatus,
            isSend ? WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM,
            request.lengthBytes,
            request.hasImmediate ? request.immediate : 0);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            responder.moveToError();
        }
        return status;
    }

    private int fillReceive(final WorkRequest request, final SoftQueuePair responder, final ReceiveQueue queue)
    {
        if (request.lengthBytes > queue.lengthBytes())
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        final RegisteredRegion buffer = peerKeys.find(queue.key());
        if (buffer == null || !buffer.allows(
            responder.protectionDomain, AccessFlags.LOCAL_WRITE, queue.address(), queue.lengthBytes()))
        {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        if (beforeAccess != null)
        {
            beforeAccess.run();
        }
        VarHandle.releaseFence();
        RawMemory.write(request.localAddress, queue.address(), request.lengthBytes);
        needsStoreLoadFence = true;
        return WorkCompletionStatus.SUCCESS;
    }

    private int awaitReceive()
    {
        final long nowNs = device.clock().nanoTime();
        if (!hasRnrDeadline)
        {
            hasRnrDeadline = true;
            rnrDeadlineNs = nowNs + device.rnrTimeoutNs();
        }
        if (!isWaiting)
        {
            isWaiting = true;
            sendCompletions.addWaiting(this);
        }
        return nowNs - rnrDeadlineNs >= 0 ? WorkCompletionStatus.RNR_RETRY_EXC_ERR : WAIT;
    }

    private void flushSends()
    {
        final long tail = sendTail();
        while (sendHead < tail)
        {
            final WorkRequest request = request(sendHead);
            sendHead++;
            sendCompletions.pushSend(
                this, request.wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, sendHead);
        }
        if (isWaiting)
        {
            isWaiting = false;
            sendCompletions.removeWaiting(this);
        }
    }

    private void flushReceives()
    {
        final SoftQueuePair other = peer;
        if (other != null && other.mark.isInside())
        {
            // The peer may be consuming a receive right now: look again at the next poll.
            receiveCompletions.requestAttention();
            return;
        }
        while (!receives.isEmpty())
        {
            final long wrId = receives.wrId();
            receives.remove();
            receiveCompletions.pushReceive(this, wrId, WorkCompletionStatus.WR_FLUSH_ERR, 0, 0, 0);
        }
    }
}
