package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.ReceiveRing;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

/**
 * Where a queue pair takes its receives from, a queue of its own or a shared one, and how they are flushed once it is
 * in ERR. A datagram queue pair's own queue is of the shared kind, for many senders take from it, each at its own pace.
 * Owner thread, unless said otherwise.
 */
final class SoftReceiveSide
{
    private final SoftSender queuePair;
    private final SoftHost device;
    private final SoftConnection connection;
    private final SoftCompletionQueue completions;
    /** For one requester; null otherwise. */
    private final SoftReceiveQueue own;
    /** For many requesters; null otherwise. */
    private final SoftSharedReceiveQueue shared;
    private final int index;
    private final boolean isDatagram;
    /** Whether the receives are its own. */
    private final boolean isOwner;
    /** Whether the event that it consumes no shared receive any more was raised; guarded by the collector of events. */
    private boolean hasReportedLastReceive;

    /**
     * @param queuePair   whose receives these are.
     * @param connection  of the same.
     * @param completions where they complete.
     * @param shared      the queue it takes them from, or null.
     * @param capacity    of its own queue, without a shared one.
     */
    SoftReceiveSide(
        final SoftSender queuePair,
        final SoftConnection connection,
        final SoftCompletionQueue completions,
        final SoftSharedReceiveQueue shared,
        final int capacity)
    {
        this.queuePair = queuePair;
        this.connection = connection;
        this.completions = completions;
        device = queuePair.host();
        isDatagram = queuePair.type() == QueuePairType.UD;
        isOwner = shared == null;
        own = isOwner && !isDatagram ? new SoftReceiveQueue(device.file(), device.rings(), capacity) : null;
        this.shared = isOwner && isDatagram ?
            new SoftSharedReceiveQueue(device, null, capacity, closed ->
            {
            }) : shared;
        index = queuePair.number() & DeviceFileDescriptor.MAX_QUEUE_PAIRS - 1;
    }

    /** Its own queue; null when it takes receives from a shared one. */
    SoftReceiveQueue own()
    {
        return own;
    }

    /** Offset of the ring in the device file. */
    long offset()
    {
        return shared == null ? own.offset() : shared.offset();
    }

    int capacity()
    {
        return shared == null ? own.capacity() : shared.capacity();
    }

    /** Any thread: whether a claim of this visitor is open in a queue of its own. */
    boolean hasClaimOf(final int visitor)
    {
        return own != null ? own.hasClaimOf(visitor) : isOwner && shared.hasClaimOf(visitor);
    }

    /** Any thread: the event that it consumes no shared receive any more, as a set of one ordinal; once. */
    long takeEvents()
    {
        if (isOwner)
        {
            return 0;
        }
        // In ERR, with the peer outside.
        final boolean isInError = queuePair.isInError();
        final boolean wasReported = hasReportedLastReceive && isInError;
        hasReportedLastReceive = wasReported || isInError && !isAnyoneInside();
        return hasReportedLastReceive && !wasReported ? 1L << AsyncEventType.QP_LAST_WQE_REACHED.ordinal() : 0;
    }

    private boolean isAnyoneInside()
    {
        return isDatagram ? device.isAnyoneInside() : connection.isPeerInside();
    }

    /** Throws when it has no receives of its own. */
    void checkOwn()
    {
        if (!isOwner || queuePair.type() == QueuePairType.DC_INITIATOR)
        {
            throw new RdmaException(
                "queue pair has no receive queue of its own: " +
                (!isOwner ? "post to its shared one, " : "an initiator only sends, ") + queuePair);
        }
    }

    /** Adds a receive of its own; false when full. */
    boolean offer(final long wrId, final long address, final int lengthBytes, final int key)
    {
        return own != null ? own.offer(wrId, address, lengthBytes, key) :
            shared.postReceive(wrId, address, lengthBytes, key) == PostStatus.OK;
    }

    /** Polling thread: a completion was handed out. */
    void release(final long slotInRing)
    {
        if (own != null)
        {
            own.release(slotInRing);
        }
        else
        {
            shared.releaseSlot(slotInRing, index);
        }
    }

    /** Forgets its own receives and gives shared ones back; with no requester about and no completions to be polled. */
    void reset()
    {
        if (own != null)
        {
            own.reset();
            return;
        }
        for (long slot = claim(); slot != 0; slot = claim())
        {
            shared.releaseSlot(slot - shared.ring(), index);
        }
        shared.releaseAll(index);
    }

    void close()
    {
        if (own != null)
        {
            own.close();
        }
        else if (isOwner)
        {
            shared.free();
        }
        else
        {
            shared.releaseAll(index);
            shared.detach();
        }
    }

    /** Whether a peer died over a shared receive, which nobody else would ever tell of. */
    boolean hasLostReceive()
    {
        return !isOwner && connection.peer() != null && !connection.isPeerAlive() &&
            shared.hasDeadClaim(index, device::isDeadVisitor);
    }

    /** Polling thread: UD: receives whose senders died over them come back as flushed; all else goes on. */
    void flushLost()
    {
        if (isDatagram && shared.hasDeadClaim(index, device::isDeadVisitor))
        {
            shared.flushClaimed(
                index, device::isDeadVisitor, slotInRing -> completions.hasReceived(queuePair, slotInRing),
                slot -> flush(slot, shared.ring()));
        }
    }

    /** The oldest open one of its own receives, claimed for the owner; 0 when there is none. */
    private long claim()
    {
        if (own != null)
        {
            return own.claimForFlush(index);
        }
        return isOwner ? ReceiveRing.claim(shared.ring(), 0, index) : 0;
    }

    /** Polling thread, in ERR: completes its own receives with WR_FLUSH_ERR, and those that a dead peer was filling. */
    void flush()
    {
        // The peer may be consuming a receive right now: look again at the next poll.
        if (connection.isPeerInside() ||
            connection.peer() != null && !connection.isPeerAlive() && !flushDeadClaims())
        {
            completions.requestAttention();
            return;
        }
        for (long slot = claim(); slot != 0; slot = claim())
        {
            flush(slot, own != null ? own.ring() : shared.ring());
        }
    }

    private void flush(final long slot, final long ring)
    {
        completions.pushFlushedReceive(
            queuePair, SharedWords.getLong(slot + ReceiveRing.WR_ID_OFFSET), slot - ring);
    }

    /** Receives that a dead peer was filling come first, once what it had finished has been handed out. */
    private boolean flushDeadClaims()
    {
        if (completions.hasReceived(queuePair))
        {
            return false;
        }
        if (own != null)
        {
            own.flushClaimed(slot -> flush(slot, own.ring()));
        }
        else
        {
            shared.flushClaimed(index, device::isDeadVisitor, finished -> false, slot -> flush(slot, shared.ring()));
        }
        return true;
    }
}
