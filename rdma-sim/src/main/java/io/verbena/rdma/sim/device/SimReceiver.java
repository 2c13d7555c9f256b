package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.spi.ReceiveQueue;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Brings a message into the oldest receive of a target, in one step. */
final class SimReceiver
{
    private SimReceiver()
    {
    }

    /** The status that the oldest receive's completion would have. */
    static int check(final SimTarget target, final SimRequest request)
    {
        final ReceiveQueue receives = target.receives();
        final int headerBytes = headerBytes(target);
        if (!request.isSend())
        {
            return WorkCompletionStatus.SUCCESS;
        }
        if ((long)request.lengthBytes + headerBytes > receives.lengthBytes())
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        if (request.lengthBytes + headerBytes > 0 && SimAccess.receiveBuffer(target) == null)
        {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        return request.invalidates && invalidated(target, request) == null ?
            WorkCompletionStatus.LOC_ACCESS_ERR : WorkCompletionStatus.SUCCESS;
    }

    /**
     * Consumes the oldest receive.
     *
     * @return the status for the requester.
     */
    static int consume(final SimTarget target, final SimRequest request)
    {
        final int status = check(target, request);
        if (status == WorkCompletionStatus.SUCCESS && request.isSend())
        {
            fill(target, request, request.lengthBytes);
            if (request.invalidates)
            {
                invalidated(target, request).unbind();
            }
        }
        complete(target, request, status);
        return AccessChecks.requesterStatus(status);
    }

    /** Places what came of a message that is then lost; the receive stays and takes the next one. */
    static void spoil(final SimTarget target, final SimRequest request, final int arrivedBytes)
    {
        final boolean fits = !target.receives().isEmpty() && check(target, request) == WorkCompletionStatus.SUCCESS;
        if (fits && request.isSend())
        {
            fill(target, request, arrivedBytes);
        }
    }

    private static void complete(final SimTarget target, final SimRequest request, final int status)
    {
        final ReceiveQueue receives = target.receives();
        final long wrId = receives.wrId();
        receives.remove();
        final boolean isDatagram = target.type() == QueuePairType.UD;
        final int flags = (isDatagram ? WorkCompletions.WITH_GRH : 0) |
            (request.hasImmediate ? WorkCompletions.WITH_IMMEDIATE : 0) |
            (request.invalidates ? WorkCompletions.WITH_INVALIDATION : 0);
        int extra = request.hasImmediate ? request.immediate : 0;
        extra = request.invalidates ? request.remoteKey : extra;
        target.receiveCompletions().pushReceive(
            target,
            wrId,
            status,
            request.isSend() ? WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM,
            request.lengthBytes + headerBytes(target),
            extra,
            flags,
            isDatagram ? request.requester.number() : 0,
            (request.flags & SendFlags.SOLICITED) != 0);
        target.receiveTaken();
    }

    private static void fill(final SimTarget target, final SimRequest request, final int lengthBytes)
    {
        final int headerBytes = headerBytes(target);
        if (lengthBytes + headerBytes == 0)
        {
            return;
        }
        final MemorySegment buffer = SimAccess.receiveBuffer(target);
        if (headerBytes > 0)
        {
            GlobalRoutingHeader.write(
                buffer, request.requester.host().address(), target.host().address(), request.lengthBytes);
        }
        MemorySegment.copy(request.payload.bytes, 0, buffer, ValueLayout.JAVA_BYTE, headerBytes, lengthBytes);
        target.host().timeline().trace().mix(request.payload.bytes, 0, lengthBytes);
    }

    private static int headerBytes(final SimTarget target)
    {
        return target.type() == QueuePairType.UD ? GlobalRoutingHeader.LENGTH_BYTES : 0;
    }

    private static BoundWindow invalidated(final SimTarget target, final SimRequest request)
    {
        final BoundWindow window = target.host().windows().find(request.remoteKey);
        final boolean mayInvalidate = window != null &&
            window.mayInvalidate(request.remoteKey, target.protectionDomain(), target.number());
        return mayInvalidate ? window : null;
    }
}
