package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection does, requester to responder, when requests execute strictly one after the other: the contract in
 * its simplest form. Both sides have one region with all rights and a read-only one is not modelled; of UC, only what
 * has an outcome that the contract fixes: requests that the responder takes.
 */
final class VerbsModel
{
    /** What a random program asks for; offsets are into the regions and may lie outside. */
    record Request(
        int operation,
        long wrId,
        int flags,
        int localOffset,
        int lengthBytes,
        boolean isLocalKeyGood,
        int remoteOffset,
        boolean isRemoteKeyGood,
        boolean hasImmediate,
        int immediate,
        long operand,
        long desired)
    {
        boolean isSignaled()
        {
            return (flags & SendFlags.SIGNALED) != 0;
        }

        boolean isInline()
        {
            return (flags & SendFlags.INLINE) != 0;
        }
    }

    /** A posted receive. */
    record Receive(long wrId, int offset, int lengthBytes)
    {
    }

    /** What a side has to poll. */
    record Expected(long wrId, int status, int opcode, int byteLength, int immediate)
    {
        static Expected failed(final long wrId, final int status)
        {
            return new Expected(wrId, status, 0, 0, 0);
        }
    }

    final ByteBuffer requester;
    final ByteBuffer responder;
    final ArrayDeque<Receive> receives = new ArrayDeque<>();
    final List<Expected> requesterCompletions = new ArrayList<>();
    final List<Expected> responderCompletions = new ArrayList<>();
    boolean isRequesterInError;
    boolean isResponderInError;
    private final int regionBytes;
    private final int firstRemote;
    private final int endRemote;
    private final boolean keepsReceives;

    /**
     * @param regionBytes   of both sides.
     * @param firstRemote   first byte of the responder that its key gives access to.
     * @param endRemote     behind the last one.
     * @param keepsReceives whether receives outlive their queue pair, as those of a shared receive queue do.
     */
    VerbsModel(final int regionBytes, final int firstRemote, final int endRemote, final boolean keepsReceives)
    {
        this.regionBytes = regionBytes;
        this.firstRemote = firstRemote;
        this.endRemote = endRemote;
        this.keepsReceives = keepsReceives;
        requester = ByteBuffer.allocate(regionBytes).order(ByteOrder.nativeOrder());
        responder = ByteBuffer.allocate(regionBytes).order(ByteOrder.nativeOrder());
    }

    void execute(final Request request, final byte[] inlinePayload)
    {
        if (isRequesterInError)
        {
            requesterCompletions.add(Expected.failed(request.wrId, WorkCompletionStatus.WR_FLUSH_ERR));
            return;
        }
        final int status = outcome(request);
        if (status != WorkCompletionStatus.SUCCESS)
        {
            requesterCompletions.add(Expected.failed(request.wrId, status));
            isRequesterInError = true;
            if (status != WorkCompletionStatus.LOC_PROT_ERR)
            {
                failResponder();
            }
            return;
        }
        apply(request, inlinePayload);
        if (request.isSignaled())
        {
            requesterCompletions.add(new Expected(
                request.wrId, status, request.operation, request.lengthBytes, 0));
        }
    }

    private int outcome(final Request request)
    {
        final boolean isEmpty = request.lengthBytes == 0;
        if (!isEmpty && !request.isInline() &&
            (!request.isLocalKeyGood || isOutside(request.localOffset, request.lengthBytes)))
        {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        if (request.operation == WorkCompletionOpcode.SEND)
        {
            final Receive receive = receives.peek();
            if (request.lengthBytes > receive.lengthBytes)
            {
                receives.poll();
                responderCompletions.add(Expected.failed(receive.wrId, WorkCompletionStatus.LOC_LEN_ERR));
                return WorkCompletionStatus.REM_INV_REQ_ERR;
            }
            return WorkCompletionStatus.SUCCESS;
        }
        if (request.operation > WorkCompletionOpcode.RDMA_READ && (request.remoteOffset & 7) != 0)
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        final boolean isRefused = !isEmpty && (!request.isRemoteKeyGood || request.remoteOffset < firstRemote ||
            request.remoteOffset + request.lengthBytes > endRemote);
        return isRefused ? WorkCompletionStatus.REM_ACCESS_ERR : WorkCompletionStatus.SUCCESS;
    }

    private boolean isOutside(final int offset, final int lengthBytes)
    {
        return offset < 0 || offset + lengthBytes > regionBytes;
    }

    private void apply(final Request request, final byte[] inlinePayload)
    {
        switch (request.operation)
        {
            case WorkCompletionOpcode.RDMA_READ ->
            {
                if (request.lengthBytes > 0)
                {
                    requester.put(request.localOffset, responder, request.remoteOffset, request.lengthBytes);
                }
            }
            case WorkCompletionOpcode.RDMA_WRITE -> copyOut(request, inlinePayload, request.remoteOffset);
            case WorkCompletionOpcode.SEND -> copyOut(request, inlinePayload, receives.peek().offset);
            case WorkCompletionOpcode.COMP_SWAP ->
            {
                final long found = responder.getLong(request.remoteOffset);
                requester.putLong(request.localOffset, found);
                responder.putLong(request.remoteOffset, found == request.operand ? request.desired : found);
            }
            default ->
            {
                final long found = responder.getLong(request.remoteOffset);
                requester.putLong(request.localOffset, found);
                responder.putLong(request.remoteOffset, found + request.operand);
            }
        }
        if (request.operation == WorkCompletionOpcode.SEND || request.hasImmediate)
        {
            final Receive receive = receives.poll();
            responderCompletions.add(new Expected(
                receive.wrId,
                WorkCompletionStatus.SUCCESS,
                request.operation == WorkCompletionOpcode.SEND ?
                    WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM,
                request.lengthBytes,
                request.hasImmediate ? request.immediate : 0));
        }
    }

    private void copyOut(final Request request, final byte[] inlinePayload, final int targetOffset)
    {
        if (request.lengthBytes == 0)
        {
            return;
        }
        if (request.isInline())
        {
            responder.put(targetOffset, inlinePayload, 0, request.lengthBytes);
        }
        else
        {
            responder.put(targetOffset, requester, request.localOffset, request.lengthBytes);
        }
    }

    private void failResponder()
    {
        isResponderInError = true;
        if (keepsReceives)
        {
            return;
        }
        for (final Receive receive : receives)
        {
            responderCompletions.add(Expected.failed(receive.wrId, WorkCompletionStatus.WR_FLUSH_ERR));
        }
        receives.clear();
    }
}
