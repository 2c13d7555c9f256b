package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.RdmaException;

/**
 * Where a queue pair takes its receives from, a queue of its own or a shared one, and how they are flushed once it is
 * in ERR. Owner thread, unless said otherwise.
 */
final class SoftReceiveSide
{
    private final SoftQueuePair queuePair;
    private final SoftDevice device;
    private final SoftConnection connection;
    private final SoftCompletionQueue completions;
    /** Null when it takes receives from a shared queue. */
    private final SoftReceiveQueue own;
    /** Null when it has receives of its own. */
    private final SoftSharedReceiveQueue shared;
    private final int index;
    /** Whether the event that it consumes no shared receive any more was raised; guarded by the collector of events. */
    private boolean hasToldLastReceive;

    /**
     * @param queuePair   whose receives these are.
     * @param connection  of the same.
     * @param completions where they complete.
     * @param shared      the queue it takes them from, or null.
     * @param capacity    of its own queue, without a shared one.
     */
    SoftReceiveSide(
        final SoftQueuePair queuePair,
        final SoftConnection connection,
        final SoftCompletionQueue completions,
        final SoftSharedReceiveQueue shared,
        final int capacity)
    {
        this.queuePair = queuePair;
        this.connection = connection;
        this.completions = completions;
        this.shared = shared;
        device = queuePair.device();
        own = shared != null ? null : new SoftReceiveQueue(device.file(), device.rings(), capacity);
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
        return own != null && own.hasClaimOf(visitor);
    }

    /** Any thread: the event that it consumes no shared receive any more, as a set of one ordinal; once. */
    long takeEvents()
    {
        if (shared == null)
        {
            return 0;
        }
        // In ERR, with the peer outside.
        final boolean isInError = queuePair.isInError();
        final boolean isTold = hasToldLastReceive && isInError;
        hasToldLastReceive = isTold || isInError && !connection.isPeerInside();
        return hasToldLastReceive && !isTold ? 1L << AsyncEventType.QP_LAST_WQE_REACHED.ordinal() : 0;
    }

    /** Throws when it has no receives of its own. */
    void checkOwn()
    {
        if (own == null)
        {
            throw new RdmaException(
                "queue pair has no receive queue of its own: post to its shared one, " + queuePair);
        }
    }

    /** Adds a receive of its own; false when full. */
    boolean offer(final long wrId, final long address, final int lengthBytes, final int key)
    {
        return own.offer(wrId, address, lengthBytes, key);
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
            shared.release(slotInRing, index);
        }
    }

    /** Forgets its own receives and gives shared ones back; with no requester about and no completions to be polled. */
    void reset()
    {
        if (own != null)
        {
            own.reset();
        }
        else
        {
            shared.releaseAll(index);
        }
    }

    void close()
    {
        if (own != null)
        {
            own.close();
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
        return shared != null && connection.peer() != null && !connection.isPeerAlive() &&
            shared.hasDeadClaim(index, device::isDeadVisitor);
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
        if (own == null)
        {
            return;
        }
        for (long slot = own.claimForFlush(index); slot != 0; slot = own.claimForFlush(index))
        {
            flush(slot, own.ring());
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
            shared.flushClaimed(index, device::isDeadVisitor, slot -> flush(slot, shared.ring()));
        }
        return true;
    }
}
