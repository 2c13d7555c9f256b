package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.AccessMark;
import io.verbena.rdma.soft.shared.CompletionInbox;
import io.verbena.rdma.soft.shared.DeviceFile;
import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.DirectReceive;
import io.verbena.rdma.soft.shared.EventWord;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.QueuePairFailure;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.invoke.VarHandle;

/**
 * A queue pair of a peer's device as one requester sees it: whether it is there, its memory, its receives. Used by the
 * requester's owner thread, {@linkplain AccessMark marked inside} that device.
 */
final class RemoteQueuePair
{
    /** Not a completion status: it has no receive. */
    static final int NOT_READY = -1;
    /** Not a completion status: it is not there, or does not receive yet; nothing shows that it never will. */
    static final int UNANSWERED = -2;

    private final DeviceAddress requester;
    private final int requesterNumber;
    private final long interfaceId;
    private final boolean isReliable;
    /** UD: what stands before each payload. */
    private final int headerBytes;
    /** Whether it is a DC target, which any initiator may come to and none can harm. */
    private final boolean isTarget;
    private SoftPeer peer;
    private DeviceFile file;
    private long entry;
    private int number;
    private long readyWord;
    private long inboxLimit;
    private int qkey;
    private long touchSink;
    /**
     * On which threads sleep that are to be woken, 0 for none. A thread that is stopped, or loses the processor, does
     * so at the end of a system call more often than elsewhere: inside it would hold up whoever closes something there.
     */
    private long sleeping;
    /** Test hook: called between the check of a request and its access. */
    Runnable beforeAccess;
    /** Test hook: called before a receiver is woken. */
    Runnable beforeWake;

    /**
     * @param requester       device of the queue pair whose requests come here.
     * @param type            of that queue pair.
     * @param requesterNumber of that queue pair.
     */
    RemoteQueuePair(final DeviceAddress requester, final QueuePairType type, final int requesterNumber)
    {
        this.requester = requester;
        this.requesterNumber = requesterNumber;
        interfaceId = requester.gidLow();
        isReliable = AccessChecks.answersRefusals(type);
        headerBytes = type == QueuePairType.UD ? GlobalRoutingHeader.LENGTH_BYTES : 0;
        isTarget = type == QueuePairType.DC_INITIATOR;
    }

    /**
     * Looks for the queue pair that requests go to from now on; outside.
     *
     * @param target device, in use; null when there is none.
     * @param number of the queue pair there.
     * @param type   its entry must have.
     * @return whether there is an entry for it; without, it does not answer.
     */
    boolean find(final SoftPeer target, final int number, final int type)
    {
        final long found = target == null ? 0 : target.file().findQueuePairEntry(number);
        if (found == 0 || QueuePairEntry.isOfOtherType(found, number, type))
        {
            forget();
            return false;
        }
        peer = target;
        file = target.file();
        this.number = number;
        readyWord = QueuePairEntry.stateWord(number, QueuePairState.RTS);
        inboxLimit = 0;
        entry = found;
        return true;
    }

    /** There is none. */
    void forget()
    {
        peer = null;
        file = null;
        entry = 0;
    }

    boolean isFound()
    {
        return entry != 0;
    }

    /** UD: the key that is shown from now on. */
    void present(final int qkey)
    {
        this.qkey = qkey;
    }

    /** Device of what was found. */
    SoftPeer peer()
    {
        return peer;
    }

    /** Whether it serves the requester: SUCCESS, {@link #UNANSWERED}, or RETRY_EXC_ERR when it never will. */
    int status()
    {
        if (entry == 0)
        {
            return UNANSWERED;
        }
        final long word = SharedWords.getLongAcquire(entry + QueuePairEntry.STATE_OFFSET);
        if (word != readyWord && !QueuePairEntry.isReceiving(word, number))
        {
            return QueuePairEntry.isNotYetReceiving(word, number) ? UNANSWERED : WorkCompletionStatus.RETRY_EXC_ERR;
        }
        if (isTarget)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        if (headerBytes == 0 ? !isConnectedHere() : SharedWords.getInt(entry + QueuePairEntry.QKEY_OFFSET) != qkey)
        {
            return WorkCompletionStatus.RETRY_EXC_ERR;
        }
        if (word != readyWord)
        {
            QueuePairEntry.reportEstablished(entry, word);
        }
        return WorkCompletionStatus.SUCCESS;
    }

    private boolean isConnectedHere()
    {
        return SharedWords.getLong(entry + QueuePairEntry.DESTINATION_OFFSET) == interfaceId &&
            SharedWords.getInt(entry + QueuePairEntry.DESTINATION_NUMBER_OFFSET) == requesterNumber;
    }

    /** Shows a DC target its access key; a wrong one is counted there. */
    boolean takesKey(final long accessKey)
    {
        final boolean isRight = SharedWords.getLong(entry + QueuePairEntry.DC_KEY_OFFSET) == accessKey;
        if (!isRight)
        {
            SharedWords.getAndAddLong(entry + QueuePairEntry.KEY_VIOLATIONS_OFFSET, 1);
        }
        return isRight;
    }

    /** Rights that the queue pair, not its region, gives. */
    int accessFlags()
    {
        return SharedWords.getInt(entry + QueuePairEntry.ACCESS_FLAGS_OFFSET);
    }

    /** READs and atomics that it answers at once. */
    int readAtomicDepth()
    {
        return SharedWords.getInt(entry + QueuePairEntry.MAX_READS_OFFSET);
    }

    /** Code of the time after which a request that met no receive may come again. */
    int rnrTimer()
    {
        return SharedWords.getInt(entry + QueuePairEntry.RNR_TIMER_OFFSET);
    }

    /** As {@link SoftPeer#translate}, in the name of this queue pair; 0 when it is not allowed. */
    long translate(final int key, final int neededFlag, final long remoteAddress, final int length)
    {
        final long address = peer.translate(
            key, SharedWords.getInt(entry + QueuePairEntry.DOMAIN_OFFSET), number, neededFlag, remoteAddress, length);
        if (address != 0 && beforeAccess != null)
        {
            beforeAccess.run();
        }
        return address;
    }

    /** A request is refused: the queue pair goes to ERR, as the requester will, and its owner gets the reason. */
    int refuse(final int status)
    {
        if (isReliable && !isTarget)
        {
            SharedWords.getAndBitwiseOrLong(
                entry + QueuePairEntry.EVENTS_OFFSET, 1L << AccessChecks.responderEvent(status).ordinal());
            moveToError();
        }
        return status;
    }

    /**
     * Consumes a receive.
     *
     * @param request SEND or WRITE_WITH_IMM, checked locally.
     * @return status for the requester, or {@link #NOT_READY}.
     */
    int consumeReceive(final WorkRequest request)
    {
        final long ring = file.base() + SharedWords.getLong(entry + QueuePairEntry.RECEIVE_RING_OFFSET);
        if (DirectReceive.isDirect(ring))
        {
            return consumeDirect(request, ring);
        }
        final long slot = isReliable || request.operation != WorkRequest.SEND ?
            ReceiveRing.claim(ring, peer.visitor(), index()) :
            ReceiveRing.claimFitting(ring, peer.visitor(), index(), headerBytes + request.lengthBytes);
        if (SharedWords.getInt(ring + ReceiveRing.SHARED_OFFSET) != 0)
        {
            ReceiveRing.checkLimit(ring);
        }
        if (slot == 0)
        {
            return NOT_READY;
        }
        final int receiveStatus = fillReceive(request, slot);
        complete(request, slot, slot - ring, receiveStatus);
        return consumed(receiveStatus);
    }

    private int consumeDirect(final WorkRequest request, final long ring)
    {
        final long slot = DirectReceive.next(ring);
        if (slot == 0)
        {
            return NOT_READY;
        }
        final int receiveStatus = fillReceive(request, slot);
        DirectReceive.complete(ring, slot, request, receiveStatus, opcode(request), requesterNumber);
        announce(file.base() + SharedWords.getLong(entry + QueuePairEntry.RECEIVE_COMPLETIONS_OFFSET),
            (request.flags & SendFlags.SOLICITED) != 0 || receiveStatus != WorkCompletionStatus.SUCCESS);
        touchSink = DirectReceive.touchNext(ring);
        return consumed(receiveStatus);
    }

    private int consumed(final int receiveStatus)
    {
        if (receiveStatus != WorkCompletionStatus.SUCCESS && !isTarget)
        {
            // Its own mistake, which its receive's completion reports; so it fails on an unreliable connection too.
            moveToError();
        }
        return AccessChecks.requesterStatus(receiveStatus);
    }

    private static int opcode(final WorkRequest request)
    {
        return request.operation == WorkRequest.SEND ?
            WorkCompletionOpcode.RECV : WorkCompletionOpcode.RECV_RDMA_WITH_IMM;
    }

    private int index()
    {
        return number & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
    }

    private void moveToError()
    {
        QueuePairFailure.moveToError(file, entry, number);
    }

    /** Brings a SEND into a receive; returns the status of the receive. */
    private int fillReceive(final WorkRequest request, final long slot)
    {
        if (request.operation != WorkRequest.SEND || headerBytes + request.lengthBytes == 0 && !request.invalidates)
        {
            return WorkCompletionStatus.SUCCESS;
        }
        final int bufferBytes = SharedWords.getInt(slot + ReceiveRing.LENGTH_OFFSET);
        if (headerBytes + request.lengthBytes > bufferBytes)
        {
            return WorkCompletionStatus.LOC_LEN_ERR;
        }
        if (headerBytes + request.lengthBytes != 0)
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
            if (headerBytes != 0)
            {
                SharedWords.putRoutingHeader(
                    address, requester, peer.address(), request.lengthBytes);
            }
            copyOut(request, address + headerBytes);
        }
        return request.invalidates ? invalidate(request.remoteKey) : WorkCompletionStatus.SUCCESS;
    }

    /** Moves the payload of a SEND or WRITE, checked at both ends. */
    static void copyOut(final WorkRequest request, final long address)
    {
        if (request.isGathered())
        {
            request.segments.gather(address);
        }
        else
        {
            RawMemory.write(request.localAddress, address, request.lengthBytes);
        }
    }

    /** Nobody else can be inside through a window of the peer's: this is the one requester of that queue pair. */
    private int invalidate(final int key)
    {
        return peer.invalidate(key, SharedWords.getInt(entry + QueuePairEntry.DOMAIN_OFFSET), number) ?
            WorkCompletionStatus.SUCCESS : WorkCompletionStatus.LOC_ACCESS_ERR;
    }

    /** Puts the completion of a receive into the responder's queue; only then is the receive used up. */
    private void complete(final WorkRequest request, final long receive, final long slotInRing, final int status)
    {
        final long inbox = file.base() + SharedWords.getLong(entry + QueuePairEntry.RECEIVE_COMPLETIONS_OFFSET);
        long slot = CompletionInbox.claim(inbox, inboxLimit, peer.visitor(), index());
        while (slot == -1 && !CompletionInbox.isFull(inbox))
        {
            inboxLimit = CompletionInbox.limitOfBatch(inbox);
            slot = CompletionInbox.claim(inbox, inboxLimit, peer.visitor(), index());
        }
        if (slot <= 0)
        {
            CompletionInbox.overrun(file, inbox);
            moveToError();
            return;
        }
        SharedWords.putLong(
            slot + CompletionInbox.WR_ID_OFFSET, SharedWords.getLong(receive + ReceiveRing.WR_ID_OFFSET));
        SharedWords.putInt(slot + CompletionInbox.STATUS_OFFSET, status);
        SharedWords.putInt(slot + CompletionInbox.OPCODE_OFFSET, opcode(request));
        SharedWords.putInt(slot + CompletionInbox.BYTE_LENGTH_OFFSET, headerBytes + request.lengthBytes);
        SharedWords.putInt(slot + CompletionInbox.IMMEDIATE_OFFSET, CompletionInbox.immediate(request));
        SharedWords.putInt(slot + CompletionInbox.QUEUE_PAIR_OFFSET, number);
        SharedWords.putInt(slot + CompletionInbox.SOURCE_OFFSET, requesterNumber);
        SharedWords.putInt(slot + CompletionInbox.FLAGS_OFFSET, CompletionInbox.flags(request, headerBytes != 0));
        SharedWords.putLong(slot + CompletionInbox.RECEIVE_OFFSET, slotInRing);
        CompletionInbox.publish(slot);
        announce(inbox, (request.flags & SendFlags.SOLICITED) != 0 || status != WorkCompletionStatus.SUCCESS);
    }

    private void announce(final long inbox, final boolean isSolicited)
    {
        final long sleepers = CompletionInbox.announce(file, inbox, isSolicited);
        if (sleepers != 0 && sleepers != sleeping)
        {
            wakeSleepers();
            sleeping = sleepers;
        }
    }

    /** Wakes who waits for what was received; outside, see {@link #sleeping}. */
    void wakeSleepers()
    {
        final long word = sleeping;
        sleeping = 0;
        if (word != 0 && beforeWake != null)
        {
            beforeWake.run();
        }
        EventWord.wake(word);
    }
}
