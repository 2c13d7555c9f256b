package io.verbena.rdma.sim;

import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The responding side of a simulated queue pair: executes what has arrived, in order except where the contract lets a
 * later request overtake, one piece of one request in each step.
 */
final class SimResponder
{
    private static final long MAX_PIECE_NS = 40;
    private static final long RNR_RETRY_NS = 2_000;
    private static final int LINGER_ONE_IN = 4;
    /** How many requests are looked at for one that may overtake. */
    private static final int OVERTAKING_WINDOW = 4;

    private final SimQueuePair queuePair;
    private final SimFabric fabric;
    private final List<SimRequest> inbound = new ArrayList<>();
    /** When the next piece is executed; an earlier plan is void. */
    private long nextServeNs = Long.MAX_VALUE;
    /** A request ran out of RNR retries: what the requester sent after it is out of sequence and never executes. */
    private boolean isOutOfSequence;

    SimResponder(final SimQueuePair queuePair)
    {
        this.queuePair = queuePair;
        this.fabric = queuePair.device().fabric();
    }

    /** Takes an arrived request; false when nobody is there to take it. */
    boolean offer(final SimRequest request)
    {
        final QueuePairState state = queuePair.state();
        final boolean isThere = state == QueuePairState.RTS || state == QueuePairState.INIT;
        if (!isThere || isOutOfSequence || queuePair.device().isKilled() || queuePair.isCut())
        {
            return false;
        }
        if (mayLinger(request))
        {
            request.notBeforeNs =
                fabric.nowNs() + queuePair.decide(SimDecision.LINGER_NS, fabric.options().maxDelayNs());
        }
        inbound.add(request);
        serveSoon();
        return true;
    }

    /** Arrived and not wholly executed. */
    List<SimRequest> inbound()
    {
        return inbound;
    }

    void serveSoon()
    {
        serveAt(fabric.nowNs());
    }

    /** The queue pair takes nothing any more; what is half executed stays so. */
    void dropAll()
    {
        for (final SimRequest request : inbound)
        {
            request.requester.giveUp(request);
        }
        inbound.clear();
    }

    private void serveAt(final long timeNs)
    {
        if (timeNs < nextServeNs && !inbound.isEmpty() && queuePair.state() == QueuePairState.RTS)
        {
            nextServeNs = timeNs;
            fabric.schedule(
                timeNs, SimStep.Kind.SERVE, queuePair.device().index(), queuePair.number(), () -> serve(timeNs));
        }
    }

    private void serve(final long plannedNs)
    {
        if (plannedNs != nextServeNs)
        {
            return;
        }
        nextServeNs = Long.MAX_VALUE;
        if (queuePair.device().isKilled())
        {
            dropAll();
        }
        if (inbound.isEmpty() || queuePair.state() != QueuePairState.RTS)
        {
            return;
        }
        final SimRequest request = choose();
        if (request == null)
        {
            serveAt(earliestNs());
        }
        else if (request.requester.device().isSilenced())
        {
            inbound.remove(request);
            request.requester.giveUp(request);
            serveSoon();
        }
        else
        {
            final int status = executePiece(request);
            fabric.observer().onExecuted(queuePair.device(), request);
            if (status != SimRequest.PENDING)
            {
                answer(request, status);
            }
            serveAt(fabric.nowNs() + queuePair.decide(SimDecision.PIECE_NS, MAX_PIECE_NS + 1));
        }
    }

    private void answer(final SimRequest request, final int status)
    {
        inbound.remove(request);
        final SimQueuePair requester = request.requester;
        requester.respond(request, status);
        if (status == WorkCompletionStatus.SUCCESS)
        {
            requester.device().onExecuted();
        }
        else if (status == WorkCompletionStatus.RNR_RETRY_EXC_ERR)
        {
            isOutOfSequence = true;
            dropAll();
        }
        else
        {
            queuePair.moveToError();
        }
    }

    /**
     * The oldest request, or by chance one that may overtake all before it; null when those have to wait. What would
     * fail overtakes nothing, because a refusal acknowledges everything before it; nor is it overtaken, as
     * nothing behind it is executed.
     */
    private SimRequest choose()
    {
        for (int i = window() - 1; i >= 0; i--)
        {
            final SimRequest candidate = inbound.get(i);
            if (candidate.notBeforeNs <= fabric.nowNs() && mayOvertakeAllBefore(i) &&
                (i == 0 || queuePair.decide(SimDecision.OVERTAKE, 2) > 0 && willSucceed(candidate)))
            {
                return candidate;
            }
        }
        return null;
    }

    private long earliestNs()
    {
        long earliestNs = Math.max(inbound.get(0).notBeforeNs, fabric.nowNs());
        for (int i = 1; i < window(); i++)
        {
            if (mayOvertakeAllBefore(i))
            {
                earliestNs = Math.min(earliestNs, Math.max(inbound.get(i).notBeforeNs, fabric.nowNs() + 1));
            }
        }
        return earliestNs;
    }

    private int window()
    {
        return Math.min(inbound.size(), OVERTAKING_WINDOW);
    }

    private boolean mayOvertakeAllBefore(final int index)
    {
        for (int i = 0; i < index; i++)
        {
            if (!mayOvertake(inbound.get(index), inbound.get(i)) || !willSucceed(inbound.get(i)))
            {
                return false;
            }
        }
        return true;
    }

    /** A request that others may overtake is sometimes slow to begin. */
    private boolean mayLinger(final SimRequest request)
    {
        final boolean canBeOvertaken = request.isAtomic() ?
            fabric.options().readAfterAtomicNeedsFence() :
            request.operation == WorkRequest.READ && fabric.options().readOvertakenByWrite();
        return canBeOvertaken && queuePair.decide(SimDecision.LINGER, LINGER_ONE_IN) == LINGER_ONE_IN - 1;
    }

    private boolean mayOvertake(final SimRequest later, final SimRequest earlier)
    {
        if ((later.flags & SendFlags.FENCE) != 0)
        {
            return false;
        }
        if (later.operation == WorkRequest.READ)
        {
            return earlier.isAtomic() && fabric.options().readAfterAtomicNeedsFence();
        }
        return !later.isAtomic() && earlier.operation == WorkRequest.READ && fabric.options().readOvertakenByWrite();
    }

    private boolean willSucceed(final SimRequest request)
    {
        if (request.consumesReceive() && queuePair.receives().isEmpty())
        {
            return false;
        }
        return switch (request.operation)
        {
            case WorkRequest.READ -> check(request, AccessFlags.REMOTE_READ) == WorkCompletionStatus.SUCCESS;
            case WorkRequest.WRITE -> check(request, AccessFlags.REMOTE_WRITE) == WorkCompletionStatus.SUCCESS;
            case WorkRequest.SEND -> checkReceive(request, queuePair.receives()) == WorkCompletionStatus.SUCCESS;
            default -> (request.remoteAddress & 7) == 0 &&
                check(request, AccessFlags.REMOTE_ATOMIC) == WorkCompletionStatus.SUCCESS;
        };
    }

    private int executePiece(final SimRequest request)
    {
        return switch (request.operation)
        {
            case WorkRequest.SEND -> consumeReceive(request);
            case WorkRequest.READ -> movePiece(request, AccessFlags.REMOTE_READ);
            case WorkRequest.WRITE -> write(request);
            default -> executeAtomic(request);
        };
    }

    private int write(final SimRequest request)
    {
        if (request.rnrDeadlineNs == 0)
        {
            final int status = movePiece(request, AccessFlags.REMOTE_WRITE);
            if (status != WorkCompletionStatus.SUCCESS || !request.hasImmediate)
            {
                return status;
            }
        }
        return consumeReceive(request);
    }

    private int movePiece(final SimRequest request, final int neededFlag)
    {
        final int status = check(request, neededFlag);
        if (status != WorkCompletionStatus.SUCCESS || request.lengthBytes == 0)
        {
            return status;
        }
        request.cut(fabric.options().tearing(), fabric.decisions());
        final RegisteredRegion region = queuePair.device().keys().find(request.remoteKey);
        final boolean isLast = request.moveNextPiece(
            region.segment().asSlice(request.remoteAddress - region.address(), request.lengthBytes), fabric.trace());
        return isLast ? WorkCompletionStatus.SUCCESS : SimRequest.PENDING;
    }

    private int executeAtomic(final SimRequest request)
    {
        if ((request.remoteAddress & 7) != 0)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        final int status = check(request, AccessFlags.REMOTE_ATOMIC);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            return status;
        }
        final long address =
            queuePair.device().keys().find(request.remoteKey).rawAddress(request.remoteAddress);
        request.found = request.operation == WorkRequest.COMPARE_SWAP ?
            RawMemory.compareSwap(address, request.operand, request.desired) :
            RawMemory.fetchAdd(address, request.operand);
        fabric.trace().mix(request.found);
        return WorkCompletionStatus.SUCCESS;
    }

    private int check(final SimRequest request, final int neededFlag)
    {
        final boolean lacksReadAtomic = request.isReadOrAtomic() &&
            (queuePair.maxReadAtomic() == 0 || request.requester.maxReadAtomic() == 0);
        if ((queuePair.accessFlags() & neededFlag) == 0 || lacksReadAtomic)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        if (request.lengthBytes == 0)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        final RegisteredRegion region = queuePair.device().keys().find(request.remoteKey);
        final boolean isAllowed = region != null && region.allows(
            queuePair.protectionDomain(), neededFlag, request.remoteAddress, request.lengthBytes);
        return isAllowed ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.REM_ACCESS_ERR;
    }

    private int consumeReceive(final SimRequest request)
    {
        final ReceiveQueue receives = queuePair.receives();
        if (receives.isEmpty())
        {
            if (request.rnrDeadlineNs == 0)
            {
                request.rnrDeadlineNs = fabric.nowNs() + fabric.options().rnrTimeoutNs();
            }
            request.notBeforeNs = fabric.nowNs() + RNR_RETRY_NS;
            return fabric.nowNs() >= request.rnrDeadlineNs ?
                WorkCompletionStatus.RNR_RETRY_EXC_ERR : SimRequest.PENDING;
        }
        request.rnrDeadlineNs = 0;
        final int receiveStatus =
            request.isSend() ? fillReceive(request, receives) : WorkCompletionStatus.SUCCESS;
        final long wrId = receives.wrId();
        receives.remove();
        queuePair.receiveCompletions().pushReceive(
            queuePair,
            wrId,
            receiveStatus,
            request.isSend() ? WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM,
            request.lengthBytes,
            request.hasImmediate ? request.immediate : 0);
        return switch (receiveStatus)
        {
            case WorkCompletionStatus.SUCCESS -> WorkCompletionStatus.SUCCESS;
            case WorkCompletionStatus.LOC_LEN_ERR -> WorkCompletionStatus.REM_INV_REQ_ERR;
            default -> WorkCompletionStatus.REM_OP_ERR;
        };
    }

    private int fillReceive(final SimRequest request, final ReceiveQueue receives)
    {
        final int status = checkReceive(request, receives);
        if (status == WorkCompletionStatus.SUCCESS && request.lengthBytes > 0)
        {
            final RegisteredRegion buffer = queuePair.device().keys().find(receives.key());
            MemorySegment.copy(
                request.payload,
                0,
                buffer.segment(),
                ValueLayout.JAVA_BYTE,
                receives.address() - buffer.address(),
                request.lengthBytes);
            fabric.trace().mix(request.payload, 0, request.lengthBytes);
        }
        return status;
    }

    private int checkReceive(final SimRequest request, final ReceiveQueue receives)
    {
        if (request.lengthBytes > receives.lengthBytes())
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        if (request.lengthBytes == 0)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        final RegisteredRegion buffer = queuePair.device().keys().find(receives.key());
        final boolean isAllowed = buffer != null && buffer.allows(
            queuePair.protectionDomain(), AccessFlags.LOCAL_WRITE, receives.address(), receives.lengthBytes());
        return isAllowed ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_PROT_ERR;
    }
}
