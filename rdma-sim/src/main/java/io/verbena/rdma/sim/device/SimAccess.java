package io.verbena.rdma.sim.device;

import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.BoundWindow;
import io.verbena.rdma.spi.OperationRules;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WindowBinding;
import io.verbena.rdma.spi.WindowTable;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;

/** Checks and translations of the addresses that requests name. Looked at anew for each piece of a request. */
final class SimAccess
{
    private SimAccess()
    {
    }

    /** Whether a one-sided request may be executed: SUCCESS or the status that its requester gets. */
    static int check(final SimTarget target, final SimRequest request)
    {
        final int depth = Math.min(target.readAtomicDepth(), request.requester.maxReadAtomic());
        final int status =
            AccessChecks.queuePairStatus(request.operation, target.accessFlags(), request.remoteAddress, depth);
        if (status != WorkCompletionStatus.SUCCESS || request.launch.readsAhead() >= depth && request.isReadOrAtomic())
        {
            return WorkCompletionStatus.REM_INV_REQ_ERR;
        }
        final boolean isAllowed = request.lengthBytes == 0 || memory(target, request) != null;
        return isAllowed ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.REM_ACCESS_ERR;
    }

    /** The memory named by a request's remote address, as long as the request; null when it has no right to it. */
    static MemorySegment memory(final SimTarget target, final SimRequest request)
    {
        final int right = OperationRules.neededRight(request.operation);
        if (WindowTable.isWindowKey(request.remoteKey))
        {
            final BoundWindow window = target.host().windows().find(request.remoteKey);
            final WindowBinding binding = window == null ? null : window.bindingFor(
                request.remoteKey, target.protectionDomain(), target.number(), right, request.remoteAddress,
                request.lengthBytes);
            return binding == null ? null :
                slice(binding.region(), binding.regionAddress(request.remoteAddress), request.lengthBytes);
        }
        return memory(
            target.host(), target.protectionDomain(), request.remoteKey, right, request.remoteAddress,
            request.lengthBytes);
    }

    /** Memory of a device by key and address; null when domain, rights or bounds do not fit. */
    static MemorySegment memory(
        final SimHost host,
        final ProtectionDomain domain,
        final int key,
        final int right,
        final long address,
        final int lengthBytes)
    {
        final RegisteredRegion region = host.keys().find(key);
        return region == null || !region.allows(domain, right, address, lengthBytes) ?
            null : slice(region, address, lengthBytes);
    }

    /** A receive buffer of this length at the head of the queue; null when its key is wrong. */
    static MemorySegment receiveBuffer(final SimTarget target)
    {
        return memory(
            target.host(), target.protectionDomain(), target.receives().key(), AccessFlags.LOCAL_WRITE,
            target.receives().address(), target.receives().lengthBytes());
    }

    private static MemorySegment slice(final RegisteredRegion region, final long address, final int lengthBytes)
    {
        return region.segment().asSlice(address - region.address(), lengthBytes);
    }
}
