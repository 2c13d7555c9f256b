package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SimDecision;
import io.verbena.rdma.sim.schedule.SimDecisions;
import io.verbena.rdma.sim.schedule.SimTrace;
import io.verbena.rdma.sim.schedule.StateWords;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A request on its way: a copy of what was posted, because the slot and the local buffer may be used again while this
 * is still travelling, after an error of its queue pair.
 */
public final class SimRequest
{
    /** Not a completion status: no outcome yet. */
    static final int PENDING = -1;

    public final SimQueuePair requester;
    public final long position;
    public final int operation;
    final int flags;
    final long wrId;
    final long localAddress;
    public final int lengthBytes;
    final int localKey;
    public final long remoteAddress;
    final int remoteKey;
    final boolean hasImmediate;
    final int immediate;
    final long operand;
    final long desired;
    final long launchedNs;
    /** Larger than that of whatever happened before. */
    final long sequence;
    /** SEND_WITH_INV. */
    final boolean invalidates;
    /** UD and DC: where to. */
    final DeviceAddress destination;
    final int destinationNumber;
    final long destinationKey;
    /** What its queue pair was connected to. */
    final SimLink link;
    /** READs and atomics of the queue pair that were outstanding when it was launched. */
    final int readsAhead;
    /** Bytes under way: of WRITE and SEND to the responder, of READ back. */
    final byte[] payload;
    /** Result of an atomic on its way back. */
    long found;
    /** Status of the response, or of the requester's own check. */
    public int status = PENDING;
    /** Whether the response, or the failure, has reached the requester. */
    boolean isDone;
    /** DC: the connection it goes through. */
    SimDcSession session;
    /** DC: whether it opens that connection. */
    boolean connects;
    /** Whether the payload of a WRITE_WITH_IMM is in place. */
    boolean isPlaced;
    /** How often its response was lost. */
    int repeats;
    /** How often it met no receive. */
    int rnrMisses;
    /** Until when a SEND waits for a receive; 0 before it has met none. */
    long rnrDeadlineNs;
    /** The responder does not touch it earlier. */
    long notBeforeNs;
    private int[] pieces;
    private int nextPiece;

    SimRequest(
        final SimQueuePair requester,
        final long position,
        final WorkRequest posted,
        final long launchedNs,
        final int readsAhead)
    {
        this.requester = requester;
        this.position = position;
        this.operation = posted.operation;
        this.flags = posted.flags;
        this.wrId = posted.wrId;
        this.localAddress = posted.localAddress;
        this.lengthBytes = posted.lengthBytes;
        this.localKey = posted.localKey;
        this.remoteAddress = posted.remoteAddress;
        this.remoteKey = posted.remoteKey;
        this.hasImmediate = posted.hasImmediate;
        this.immediate = posted.immediate;
        this.operand = posted.operand;
        this.desired = posted.desired;
        this.launchedNs = launchedNs;
        this.sequence = requester.device().fabric().nextSequence();
        this.readsAhead = readsAhead;
        this.link = requester.link();
        this.invalidates = posted.invalidates;
        this.destination = posted.destination == null ? null : posted.destination.target();
        this.destinationNumber = posted.destinationNumber;
        this.destinationKey = posted.destinationKey;
        this.payload = isAtomic() ? new byte[0] : new byte[lengthBytes];
    }

    /** Adds what was asked for and how far it is; not when. */
    public void describe(final StateWords words)
    {
        words.accept((long)requester.device().index() << 32 | requester.number());
        words.accept((long)operation << 32 | flags);
        words.accept(wrId);
        // The payload of INLINE is a copy already, at an address that differs from run to run.
        words.accept((flags & SendFlags.INLINE) != 0 ? 0 : localAddress);
        words.accept((long)localKey << 32 | lengthBytes);
        words.accept(remoteAddress);
        words.accept((long)remoteKey << 32 | (hasImmediate || invalidates ? immediate : 0));
        // What a request does not use was left in its place by one before.
        words.accept(isAtomic() ? operand : 0);
        words.accept(operation == WorkRequest.COMPARE_SWAP ? desired : 0);
        words.accept((hasImmediate ? 1 : 0) | (invalidates ? 2 : 0) | (isPlaced ? 4 : 0) | (isAlive() ? 8 : 0));
        words.accept((long)readsAhead << 32 | progress());
        words.accept((long)rnrMisses << 32 | status);
        words.accept(destination);
        words.accept(destinationNumber);
        words.accept(destinationKey);
        words.accept(payload);
    }

    /** Adds what came of it. */
    public void describeResult(final StateWords words)
    {
        words.accept((long)status << 1 | (isDone ? 1 : 0));
        if (status == WorkCompletionStatus.SUCCESS && isAtomic())
        {
            words.accept(found);
        }
        else if (status == WorkCompletionStatus.SUCCESS && isReadOrAtomic())
        {
            words.accept(payload);
        }
    }

    /** The device that it goes to, as far as it is there; null otherwise. */
    SimDevice target()
    {
        if (destination != null)
        {
            return requester.device().fabric().find(destination);
        }
        return link.peer() == null ? null : link.peer().device();
    }

    /** Forgets that it was executed. */
    void beginAgain()
    {
        status = PENDING;
        isPlaced = false;
        pieces = null;
        nextPiece = 0;
    }

    /** Whether its queue pair still waits for it, over a connection that passes messages. */
    private boolean isAlive()
    {
        return link == requester.link() && !link.isCut() && (session == null || !session.isCut());
    }

    /** Grows with each thing that is done for it at its target. */
    int progress()
    {
        return nextPiece + (isPlaced ? 1 : 0);
    }

    @Override
    public String toString()
    {
        final String what = switch (operation)
        {
            case WorkRequest.SEND -> "SEND " + lengthBytes + " bytes";
            case WorkRequest.WRITE -> "WRITE " + lengthBytes + " bytes at 0x" + Long.toHexString(remoteAddress);
            case WorkRequest.READ -> "READ " + lengthBytes + " bytes at 0x" + Long.toHexString(remoteAddress);
            case WorkRequest.COMPARE_SWAP -> "CMP_SWAP 0x" + Long.toHexString(remoteAddress) + " 0x" +
                Long.toHexString(operand) + " -> 0x" + Long.toHexString(desired);
            case WorkRequest.FETCH_ADD -> "FETCH_ADD 0x" + Long.toHexString(remoteAddress) + " " + operand;
            default -> "operation " + operation;
        };
        return nextPiece > 0 ? what + " (line " + nextPiece + ")" : what;
    }

    boolean isReadOrAtomic()
    {
        return operation >= WorkRequest.READ && operation <= WorkRequest.FETCH_ADD;
    }

    public boolean isAtomic()
    {
        return operation == WorkRequest.COMPARE_SWAP || operation == WorkRequest.FETCH_ADD;
    }

    boolean isSend()
    {
        return operation == WorkRequest.SEND;
    }

    boolean consumesReceive()
    {
        return isSend() || hasImmediate;
    }

    /** Decides the steps in which a READ or WRITE touches the target: by lines in random order, or all at once. */
    void cut(final boolean isTorn, final SimDecisions decisions)
    {
        if (pieces != null)
        {
            return;
        }
        final int first = (int)(remoteAddress & (RawMemory.LINE_BYTES - 1));
        final int count = isTorn && lengthBytes > 0 ?
            (first + lengthBytes + RawMemory.LINE_BYTES - 1) / RawMemory.LINE_BYTES : 1;
        pieces = new int[count];
        for (int i = 0; i < count; i++)
        {
            final int j = i - (int)decisions.next(SimDecision.TEAR, requester.lane(SimQueuePair.REQUEST), i + 1);
            pieces[i] = pieces[j];
            pieces[j] = i;
        }
    }

    /**
     * Moves the next piece between payload and target.
     *
     * @param target the memory named by the remote address, as long as the request.
     * @param trace  told what was moved.
     * @return whether it was the last piece.
     */
    boolean moveNextPiece(final MemorySegment target, final SimTrace trace)
    {
        int start = 0;
        int end = lengthBytes;
        if (pieces.length > 1)
        {
            final int first = (int)(remoteAddress & (RawMemory.LINE_BYTES - 1));
            start = Math.max(0, pieces[nextPiece] * RawMemory.LINE_BYTES - first);
            end = Math.min(lengthBytes, (pieces[nextPiece] + 1) * RawMemory.LINE_BYTES - first);
        }
        if (operation == WorkRequest.READ)
        {
            MemorySegment.copy(target, ValueLayout.JAVA_BYTE, start, payload, start, end - start);
        }
        else
        {
            MemorySegment.copy(payload, start, target, ValueLayout.JAVA_BYTE, start, end - start);
        }
        trace.mix(payload, start, end - start);
        nextPiece++;
        return nextPiece >= pieces.length;
    }
}
