package io.verbena.rdma.soft;

import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.KeyTable;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.RegisteredRegion;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.VarHandle;

/**
 * Executes the requests of one queue pair on the peer's memory, which is mapped here. Called by the owner thread,
 * {@linkplain AccessMark marked inside}.
 *
 * <p>Order between requests: copies are plain word accesses, so a load fence follows each READ, a store fence precedes
 * each WRITE, atomics are full barriers, and a READ after a WRITE or an atomic is preceded by a full fence.
 */
final class SoftRequester
{
    /** Not a completion status: the request waits for the peer to post a receive, or to become ready. */
    static final int WAIT = -1;
    /** Not a completion status: an invalidation waits for the peer's requester to be outside. */
    static final int WAIT_OUTSIDE = -2;

    private final SoftQueuePair queuePair;
    private final SoftProtectionDomain protectionDomain;
    private final KeyTable localKeys;
    private final long interfaceId;
    private final int maxReadAtomic;
    private final WindowRequests windows;
    private SoftPeer peer;
    private DeviceFile peerFile;
    private long peerEntry;
    private int peerNumber;
    private long peerReadyWord;
    private long inboxLimit;
    private boolean isPayloadPlaced;
    private boolean needsStoreLoadFence;
    private long touchSink;
    /** Test hook: called between the check of a request and its access. */
    Runnable beforeAccess;

    SoftRequester(
        final SoftQueuePair queuePair, final SoftProtectionDomain protectionDomain, final int maxReadAtomic)
    {
        this.queuePair = queuePair;
        this.protectionDomain = protectionDomain;
        localKeys = protectionDomain.device().keys().local();
        interfaceId = protectionDomain.device().address().gidLow();
        this.maxReadAtomic = maxReadAtomic;
        windows = new WindowRequests(queuePair, protectionDomain);
    }

    /** Requests go to this queue pair from now on; outside. */
    void target(final SoftPeer target, final int number)
    {
        peer = target;
        peerFile = target.file();
        peerNumber = number;
        peerEntry = peerFile.queuePairEntry(number);
        peerReadyWord = QueuePairEntry.stateWord(number, QueuePairState.RTS);
        inboxLimit = 0;
        isPayloadPlaced = false;
    }

    boolean hasTarget()
    {
        return peer != null;
    }

    /** At the start of a doorbell. */
    void begin()
    {
        needsStoreLoadFence = false;
    }

    /**
     * Loads from the targets of a batch close together, so that their cache misses overlap; executing one request is
     * too long for the processor to look ahead to the next one's.
     *
     * @return something of what lies there, to be kept, so that the load is not optimised away.
     */
    long touch(final WorkRequest request)
    {
        final long address =
            request.operation == WorkRequest.SEND ? 0 : peer.hint(request.remoteKey, request.remoteAddress);
        return address == 0 ? 0 : RawMemory.touch(address);
    }

    /** @return completion status, {@link #WAIT} or {@link #WAIT_OUTSIDE}. */
    int execute(final WorkRequest request)
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
        final int ready = peerStatus();
        if (ready != WorkCompletionStatus.SUCCESS)
        {
            return request.isLocal() ? windows.execute(request) : ready;
        }
        return switch (request.operation)
        {
            case WorkRequest.READ -> executeRead(request, length);
            case WorkRequest.WRITE -> executeWrite(request, length);
            case WorkRequest.SEND -> consumeReceive(request, true);
            case WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD -> executeAtomic(request);
            default -> windows.execute(request);
        };
    }

    /** Whether the peer receives from this queue pair. */
    private int peerStatus()
    {
        final long word = SharedWords.getLongAcquire(peerEntry + QueuePairEntry.STATE_OFFSET);
        if (word != peerReadyWord && !QueuePairEntry.isReceiving(word, peerNumber))
        {
            return QueuePairEntry.isNotYetReceiving(word, peerNumber) ? WAIT : WorkCompletionStatus.RETRY_EXC_ERR;
        }
        final boolean isConnectedHere =
            SharedWords.getLong(peerEntry + QueuePairEntry.DESTINATION_OFFSET) == interfaceId &&
            SharedWords.getInt(peerEntry + QueuePairEntry.DESTINATION_NUMBER_OFFSET) == queuePair.number();
        return isConnectedHere ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.RETRY_EXC_ERR;
    }

    private int executeRead(final WorkRequest request, final int length)
    {
        if (!isGranted(AccessFlags.REMOTE_READ))
        {
            return refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
        }
        if (length == 0)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        final long address = translate(request.remoteKey, AccessFlags.REMOTE_READ, request.remoteAddress, length);
        if (address == 0)
        {
            return refuse(WorkCompletionStatus.REM_ACCESS_ERR);
        }
        if (needsStoreLoadFence)
        {
            VarHandle.fullFence();
            needsStoreLoadFence = false;
        }
        RawMemory.read(address, request.localAddress, length);
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
                return refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
            }
            if (length != 0)
            {
                final long address =
                    translate(request.remoteKey, AccessFlags.REMOTE_WRITE, request.remoteAddress, length);
                if (address == 0)
                {
                    return refuse(WorkCompletionStatus.REM_ACCESS_ERR);
                }
                VarHandle.releaseFence();
                RawMemory.write(request.localAddress, address, length);
                needsStoreLoadFence = true;
            }
            if (!request.hasImmediate)
            {
                return WorkCompletionStatus.SUCCESS;
            }
        }
        final int status = consumeReceive(request, false);
        isPayloadPlaced = status == WAIT;
        return status;
    }

    private int executeAtomic(final WorkRequest request)
    {
        if ((request.remoteAddress & 7) != 0 || !isGranted(AccessFlags.REMOTE_ATOMIC))
        {
            return refuse(WorkCompletionStatus.REM_INV_REQ_ERR);
        }
        final long address =
            translate(request.remoteKey, AccessFlags.REMOTE_ATOMIC, request.remoteAddress, Long.BYTES);
        if (address == 0)
        {
            return refuse(WorkCompletionStatus.REM_ACCESS_ERR);
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
        return (SharedWords.getInt(peerEntry + QueuePairEntry.ACCESS_FLAGS_OFFSET) & neededFlag) != 0 &&
            (neededFlag == AccessFlags.REMOTE_WRITE ||
                maxReadAtomic != 0 && SharedWords.getInt(peerEntry + QueuePairEntry.MAX_READS_OFFSET) != 0);
    }

    private long translate(final int key, final int neededFlag, final long remoteAddress, final int length)
    {
        final long address = peer.translate(
            key, SharedWords.getInt(peerEntry + QueuePairEntry.DOMAIN_OFFSET), peerNumber, neededFlag, remoteAddress,
            length);
        if (address != 0 && beforeAccess != null)
        {
            beforeAccess.run();
        }
        return address;
    }

    /** The responder refuses: it goes to ERR, as this side will, and its owner is told of the reason. */
    private int refuse(final int status)
    {
        SharedWords.getAndBitwiseOrLong(
            peerEntry + QueuePairEntry.EVENTS_OFFSET, 1L << AccessChecks.responderEvent(status).ordinal());
        return fail(status);
    }

    private int fail(final int status)
    {
        QueuePairEntry.moveToError(peerFile, peerEntry, peerNumber);
        return status;
    }

    private int consumeReceive(final WorkRequest request, final boolean isSend)
    {
        final long ring = peerFile.base() + SharedWords.getLong(peerEntry + QueuePairEntry.RECEIVE_RING_OFFSET);
        if (DirectReceive.isDirect(ring))
        {
            return consumeDirect(request, ring, isSend);
        }
        final long slot =
            ReceiveRing.claim(ring, peer.visitor(), peerNumber & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1);
        if (SharedWords.getInt(ring + ReceiveRing.SHARED_OFFSET) != 0)
        {
            ReceiveRing.checkLimit(ring);
        }
        if (slot == 0)
        {
            return WAIT;
        }
        int receiveStatus = WorkCompletionStatus.SUCCESS;
        if (isSend && (request.lengthBytes != 0 || request.invalidates))
        {
            receiveStatus = fillReceive(request, slot);
        }
        complete(request, slot, slot - ring, receiveStatus,
            isSend ? WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        return sent(receiveStatus);
    }

    private int sent(final int receiveStatus)
    {
        return switch (receiveStatus)
        {
            case WorkCompletionStatus.SUCCESS -> WorkCompletionStatus.SUCCESS;
            default -> fail(AccessChecks.requesterStatus(receiveStatus));
        };
    }

    private int consumeDirect(final WorkRequest request, final long ring, final boolean isSend)
    {
        final long slot = DirectReceive.next(ring);
        if (slot == 0)
        {
            return WAIT;
        }
        int receiveStatus = WorkCompletionStatus.SUCCESS;
        if (isSend && (request.lengthBytes != 0 || request.invalidates))
        {
            receiveStatus = fillReceive(request, slot);
        }
        DirectReceive.complete(
            ring, slot, request, receiveStatus,
            isSend ? WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM, queuePair.number());
        CompletionInbox.raise(
            peerFile,
            peerFile.base() + SharedWords.getLong(peerEntry + QueuePairEntry.RECEIVE_COMPLETIONS_OFFSET),
            (request.flags & SendFlags.SOLICITED) != 0 || receiveStatus != WorkCompletionStatus.SUCCESS);
        touchSink = DirectReceive.touchNext(ring);
        return sent(receiveStatus);
    }

    private int fillReceive(final WorkRequest request, final long slot)
    {
        final int bufferBytes = SharedWords.getInt(slot + ReceiveRing.LENGTH_OFFSET);
        if (request.lengthBytes > bufferBytes)
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        if (request.lengthBytes != 0)
        {
            final long address = translate(
                SharedWords.getInt(slot + ReceiveRing.KEY_OFFSET),
                AccessFlags.LOCAL_WRITE,
                SharedWords.getLong(slot + ReceiveRing.ADDRESS_OFFSET),
                bufferBytes);
            if (address == 0)
            {
                return WorkCompletionStatus.LOC_PROT_ERR;
            }
            VarHandle.releaseFence();
            RawMemory.write(request.localAddress, address, request.lengthBytes);
            needsStoreLoadFence = true;
        }
        return request.invalidates ? invalidate(request.remoteKey) : WorkCompletionStatus.SUCCESS;
    }

    /** Nobody else can be inside through a window of the peer's: this is the one requester of that queue pair. */
    private int invalidate(final int key)
    {
        return peer.invalidate(key, SharedWords.getInt(peerEntry + QueuePairEntry.DOMAIN_OFFSET), peerNumber) ?
            WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_ACCESS_ERR;
    }

    /** Puts the completion of a receive into the responder's queue; only then is the receive used up. */
    private void complete(
        final WorkRequest request, final long receive, final long slotInRing, final int status, final int opcode)
    {
        final long inbox =
            peerFile.base() + SharedWords.getLong(peerEntry + QueuePairEntry.RECEIVE_COMPLETIONS_OFFSET);
        final int index = peerNumber & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
        long slot = CompletionInbox.claim(inbox, inboxLimit, peer.visitor(), index);
        while (slot == -1 && !CompletionInbox.isFull(inbox))
        {
            inboxLimit = CompletionInbox.limitOfBatch(inbox);
            slot = CompletionInbox.claim(inbox, inboxLimit, peer.visitor(), index);
        }
        if (slot <= 0)
        {
            CompletionInbox.overrun(peerFile, inbox);
            QueuePairEntry.moveToError(peerFile, peerEntry, peerNumber);
            return;
        }
        SharedWords.putLong(
            slot + CompletionInbox.WR_ID_OFFSET, SharedWords.getLong(receive + ReceiveRing.WR_ID_OFFSET));
        SharedWords.putInt(slot + CompletionInbox.STATUS_OFFSET, status);
        SharedWords.putInt(slot + CompletionInbox.OPCODE_OFFSET, opcode);
        SharedWords.putInt(slot + CompletionInbox.BYTE_LENGTH_OFFSET, request.lengthBytes);
        SharedWords.putInt(slot + CompletionInbox.IMMEDIATE_OFFSET, CompletionInbox.immediate(request));
        SharedWords.putInt(slot + CompletionInbox.QUEUE_PAIR_OFFSET, peerNumber);
        SharedWords.putInt(slot + CompletionInbox.SOURCE_OFFSET, queuePair.number());
        SharedWords.putInt(slot + CompletionInbox.FLAGS_OFFSET, CompletionInbox.flags(request));
        SharedWords.putLong(slot + CompletionInbox.RECEIVE_OFFSET, slotInRing);
        CompletionInbox.publish(slot);
        CompletionInbox.raise(
            peerFile, inbox, (request.flags & SendFlags.SOLICITED) != 0 || status != WorkCompletionStatus.SUCCESS);
    }
}
