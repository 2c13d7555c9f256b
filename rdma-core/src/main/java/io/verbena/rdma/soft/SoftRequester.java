package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.SegmentList;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.VarHandle;

/**
 * Executes the requests of one connected queue pair on the peer's memory, which is mapped here. Called by the owner
 * thread, {@linkplain AccessMark marked inside}.
 *
 * <p>Order between requests: copies are plain word accesses, so a load fence follows each READ, a store fence precedes
 * each WRITE, atomics are full barriers, and a READ after a WRITE or an atomic is preceded by a full fence.
 */
final class SoftRequester
{
    private static final int MAX_TOUCHED_BYTES = 512;

    private final ProtectionDomain protectionDomain;
    private final WindowRequests windows;
    private final KeyTable localKeys;
    private final RemoteQueuePair remote;
    private final QueuePairType type;
    private final boolean isReliable;
    private int maxReadAtomic;
    private boolean isPayloadPlaced;
    private boolean needsStoreLoadFence;
    /** Keeps loads from being optimised away. */
    private long preloaded;

    /**
     * @param device     of the queue pair.
     * @param domain     of the queue pair.
     * @param connection of the queue pair.
     * @param type       of the queue pair.
     * @param number     of the queue pair.
     */
    SoftRequester(
        final SoftHost device,
        final DomainIdentity domain,
        final SoftConnection connection,
        final QueuePairType type,
        final int number)
    {
        this.type = type;
        protectionDomain = domain.domain();
        localKeys = device.keys().local();
        remote = new RemoteQueuePair(device.address(), type, number);
        windows = new WindowRequests(device, domain, connection, number);
        isReliable = AccessChecks.answersRefusals(type);
    }

    RemoteQueuePair remote()
    {
        return remote;
    }

    /**
     * Requests go to this queue pair from now on; outside.
     *
     * @param target        device of the peer; null when there is none.
     * @param number        of the peer.
     * @param maxReadAtomic READs and atomics that may be outstanding; without any they are refused.
     * @return whether the peer has ever been there.
     */
    boolean connect(final SoftPeer target, final int number, final int maxReadAtomic)
    {
        this.maxReadAtomic = maxReadAtomic;
        isPayloadPlaced = false;
        return remote.find(target, number, QueuePairEntry.peerType(type));
    }

    /** Nowhere from now on. */
    void reset()
    {
        isPayloadPlaced = false;
        windows.reset();
        remote.forget();
    }

    boolean isConnected()
    {
        return remote.isFound();
    }

    /** At the start of a doorbell. */
    void begin()
    {
        needsStoreLoadFence = false;
    }

    /** As {@link SoftPeer#preload}, at the peer that was found; outside. */
    void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        if (remote.isFound())
        {
            preloaded = remote.peer().preload(
                remoteKey, remoteAddress, Math.min(MAX_TOUCHED_BYTES, lengthBytes));
        }
    }

    /**
     * Loads from all lines of a batch's targets close together, so that their cache misses overlap; executing one
     * request is too long for the processor to look ahead to the next one's.
     *
     * @return something of what lies there, to be kept, so that the load is not optimised away.
     */
    long touch(final WorkRequest request)
    {
        final long address = request.operation == WorkRequest.SEND || !remote.isFound() ?
            0 : remote.peer().hint(request.remoteKey, request.remoteAddress, request.lengthBytes);
        if (address == 0)
        {
            return 0;
        }
        long seen = RawMemory.touch(address);
        final long last = address + Math.min(MAX_TOUCHED_BYTES, request.lengthBytes - 1);
        for (long line = address + RawMemory.LINE_BYTES; line <= last; line += RawMemory.LINE_BYTES)
        {
            seen += RawMemory.touch(line);
        }
        return seen;
    }

    /**
     * Executes a request, as far as it goes.
     *
     * @return completion status; or {@link RemoteQueuePair#NOT_READY}, {@link RemoteQueuePair#UNANSWERED} or
     *     {@link WindowRequests#WAIT_OUTSIDE}: to be tried again.
     */
    int execute(final WorkRequest request)
    {
        if (request.isLocal())
        {
            return windows.execute(request);
        }
        final int length = request.lengthBytes;
        if (length != 0 && (request.flags & SendFlags.INLINE) == 0 && !isOwn(request, length))
        {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        int status = remote.status();
        if (status == WorkCompletionStatus.SUCCESS)
        {
            status = executeRemotely(request, length);
        }
        if (status != WorkCompletionStatus.SUCCESS)
        {
            isPayloadPlaced &= isReliable && status == RemoteQueuePair.NOT_READY;
            // Unreliable: nobody answers, and what was not delivered is dropped without a word.
            return isReliable ? status : WorkCompletionStatus.SUCCESS;
        }
        return status;
    }

    /** Whether the keys of the local places give what the request needs. */
    private boolean isOwn(final WorkRequest request, final int length)
    {
        final int neededFlag = request.operation >= WorkRequest.READ ? AccessFlags.LOCAL_WRITE : 0;
        if (request.segmentCount == 1)
        {
            return isOwn(request.localKey, neededFlag, request.localAddress, length);
        }
        final SegmentList segments = request.segments;
        for (int i = 0; i < segments.count(); i++)
        {
            if (!isOwn(segments.key(i), neededFlag, segments.address(i), segments.lengthBytes(i)))
            {
                return false;
            }
        }
        return true;
    }

    private boolean isOwn(final int key, final int neededFlag, final long address, final int length)
    {
        final RegisteredRegion local = localKeys.find(key);
        return local != null && local.allows(protectionDomain, neededFlag, address, length);
    }

    private int executeRemotely(final WorkRequest request, final int length)
    {
        return switch (request.operation)
        {
            case WorkRequest.READ -> executeRead(request, length);
            case WorkRequest.WRITE -> executeWrite(request, length);
            case WorkRequest.SEND -> consumeReceive(request, length);
            default -> executeAtomic(request);
        };
    }

    private int executeRead(final WorkRequest request, final int length)
    {
        if (!isGranted(AccessFlags.REMOTE_READ))
        {
            return remote.refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
        }
        if (length == 0)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        final long address =
            remote.translate(request.remoteKey, AccessFlags.REMOTE_READ, request.remoteAddress, length);
        if (address == 0)
        {
            return remote.refuse(WorkCompletionStatus.REM_ACCESS_ERR);
        }
        if (needsStoreLoadFence)
        {
            VarHandle.fullFence();
            needsStoreLoadFence = false;
        }
        if (request.segmentCount == 1)
        {
            RawMemory.read(address, request.localAddress, length);
        }
        else
        {
            request.segments.scatter(address);
        }
        VarHandle.acquireFence();
        return WorkCompletionStatus.SUCCESS;
    }

    private int executeWrite(final WorkRequest request, final int length)
    {
        // Only the last packet of a WRITE_WITH_IMM meets the missing receive: its payload is not written again.
        if (!isPayloadPlaced)
        {
            if (!isGranted(AccessFlags.REMOTE_WRITE))
            {
                return remote.refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
            }
            if (length != 0)
            {
                final long address =
                    remote.translate(request.remoteKey, AccessFlags.REMOTE_WRITE, request.remoteAddress, length);
                if (address == 0)
                {
                    return remote.refuse(WorkCompletionStatus.REM_ACCESS_ERR);
                }
                VarHandle.releaseFence();
                RemoteQueuePair.copyOut(request, address);
                needsStoreLoadFence = true;
            }
            if (!request.hasImmediate)
            {
                return WorkCompletionStatus.SUCCESS;
            }
        }
        final int status = remote.consumeReceive(request);
        isPayloadPlaced = status == RemoteQueuePair.NOT_READY;
        return status;
    }

    private int consumeReceive(final WorkRequest request, final int length)
    {
        needsStoreLoadFence |= length != 0;
        return remote.consumeReceive(request);
    }

    private int executeAtomic(final WorkRequest request)
    {
        if ((request.remoteAddress & 7) != 0 || !isGranted(AccessFlags.REMOTE_ATOMIC))
        {
            return remote.refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
        }
        final long address =
            remote.translate(request.remoteKey, AccessFlags.REMOTE_ATOMIC, request.remoteAddress, Long.BYTES);
        if (address == 0)
        {
            return remote.refuse(WorkCompletionStatus.REM_ACCESS_ERR);
        }
        final long found = request.operation == WorkRequest.COMPARE_SWAP ?
            RawMemory.compareSwap(address, request.operand, request.desired) :
            RawMemory.fetchAdd(address, request.operand);
        RawMemory.putLong(request.localAddress, found);
        needsStoreLoadFence = true;
        return WorkCompletionStatus.SUCCESS;
    }

    /** The responder's queue pair, not its region, gives these rights. */
    private boolean isGranted(final int neededFlag)
    {
        return (remote.accessFlags() & neededFlag) != 0 &&
            (neededFlag == AccessFlags.REMOTE_WRITE || maxReadAtomic != 0 && remote.readAtomicDepth() != 0);
    }
}
