package io.verbena.rdma.soft.shared;

import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.invoke.VarHandle;

/**
 * Layout of the shared part of a completion queue, and how producers of any process put completions in: many producers,
 * one consumer, without locks, and no producer that stops or dies halfway delays the others.
 *
 * <pre>
 *  0      4          8         64      128     136     140         144       148       192
 * +------+----------+---------+-------+-------+-------+-----------+---------+---------+---------+---
 * | mask | capacity | channel | tail  | limit | armed | attention | overrun | event   | slots   |
 * +------+----------+---------+-------+-------+-------+-----------+---------+---------+---------+---
 *
 *  slot:  0            8      16       20       24       28          32      36          40       44   48         64
 *        +------------+------+--------+--------+--------+-----------+-------+-----------+--------+---+----------+
 *        | claim word | wrId | status | opcode | length | immediate | queue | source    | flags  | 0 | receive  |
 *        |            |      |        |        |        | or key    | pair  | queue pair|        |   | position |
 *        +------------+------+--------+--------+--------+-----------+-------+-----------+--------+---+----------+
 * </pre>
 *
 * <p>A producer claims the slot at the tail, fills it and makes it DONE (release); the tail is advanced by the claimer
 * or by whoever finds it behind. The consumer opens a slot for its next lap when it has taken it, or carries it over to
 * that lap, still claimed, when its claimer is slow and others have filled theirs: see {@code InboxReader}.
 */
public final class CompletionInbox
{
    public static final int MASK_OFFSET = 0;
    public static final int CAPACITY_OFFSET = MASK_OFFSET + Integer.BYTES;
    /** Offset of the {@link EventWord} of its channel, or 0. */
    public static final int CHANNEL_OFFSET = CAPACITY_OFFSET + Integer.BYTES;
    public static final int TAIL_OFFSET = 64;
    /** Owner: the tail may not go beyond. Space that the owner's own completions take is taken off. */
    public static final int LIMIT_OFFSET = 128;
    public static final int ARMED_OFFSET = LIMIT_OFFSET + Long.BYTES;
    public static final int ATTENTION_OFFSET = ARMED_OFFSET + Integer.BYTES;
    public static final int OVERRUN_OFFSET = ATTENTION_OFFSET + Integer.BYTES;
    public static final int EVENT_OFFSET = OVERRUN_OFFSET + Integer.BYTES;
    public static final int SLOTS_OFFSET = 192;

    public static final int WR_ID_OFFSET = 8;
    public static final int STATUS_OFFSET = WR_ID_OFFSET + Long.BYTES;
    public static final int OPCODE_OFFSET = STATUS_OFFSET + Integer.BYTES;
    public static final int BYTE_LENGTH_OFFSET = OPCODE_OFFSET + Integer.BYTES;
    public static final int IMMEDIATE_OFFSET = BYTE_LENGTH_OFFSET + Integer.BYTES;
    public static final int QUEUE_PAIR_OFFSET = IMMEDIATE_OFFSET + Integer.BYTES;
    public static final int SOURCE_OFFSET = QUEUE_PAIR_OFFSET + Integer.BYTES;
    public static final int FLAGS_OFFSET = SOURCE_OFFSET + Integer.BYTES;
    public static final int RECEIVE_OFFSET = FLAGS_OFFSET + 2 * Integer.BYTES;
    public static final int SLOT_BYTES = 64;

    /** Value of the overrun word when the owner's asynchronous event was raised; 1 before. */
    public static final int OVERRUN_REPORTED = 2;
    public static final int ARMED_ANY = 1;
    public static final int ARMED_SOLICITED = 2;

    private CompletionInbox()
    {
    }

    public static long lengthBytes(final int slotCount)
    {
        return SLOTS_OFFSET + (long)slotCount * SLOT_BYTES;
    }

    public static long slot(final long inbox, final long position)
    {
        return inbox + SLOTS_OFFSET + (position & SharedWords.getInt(inbox + MASK_OFFSET)) * SLOT_BYTES;
    }

    /**
     * Claims the next slot.
     *
     * @param inbox          address.
     * @param limit          what {@link #limit} returned lately.
     * @param visitor        the claimer.
     * @param queuePairIndex the queue pair it completes for.
     * @return address of the slot; 0 when the queue overruns; -1 when the limit has to be read again.
     */
    public static long claim(final long inbox, final long limit, final int visitor, final int queuePairIndex)
    {
        while (true)
        {
            final long tail = SharedWords.getLongAcquire(inbox + TAIL_OFFSET);
            if (tail - limit >= 0)
            {
                return -1;
            }
            final long slot = slot(inbox, tail);
            final long word = SharedWords.getLongAcquire(slot);
            if (word == ClaimWord.open(tail))
            {
                final long claimed = ClaimWord.claimed(tail, visitor, queuePairIndex);
                if (SharedWords.compareAndSetLong(slot, word, claimed))
                {
                    SharedWords.compareAndSetLong(inbox + TAIL_OFFSET, tail, tail + 1);
                    return slot;
                }
            }
            else if (ClaimWord.isAt(word, tail))
            {
                SharedWords.compareAndSetLong(inbox + TAIL_OFFSET, tail, tail + 1);
            }
            else if (ClaimWord.isBefore(word, tail))
            {
                // The limit keeps producers off slots that are not taken; only a claim passed by can be in the way.
                return 0;
            }
        }
    }

    /** How far the tail may go. */
    public static long limit(final long inbox)
    {
        return SharedWords.getLongAcquire(inbox + LIMIT_OFFSET);
    }

    /** How far it may go, at most this batch: what the owner itself produces meanwhile is noticed in time. */
    public static long limitOfBatch(final long inbox)
    {
        final long limit = limit(inbox);
        final long batchEnd = SharedWords.getLongAcquire(inbox + TAIL_OFFSET) + 1 +
            (SharedWords.getInt(inbox + CAPACITY_OFFSET) >> 4);
        return Math.min(limit, batchEnd);
    }

    /** Whether nothing more fits. */
    public static boolean isFull(final long inbox)
    {
        return SharedWords.getLongAcquire(inbox + TAIL_OFFSET) - limit(inbox) >= 0;
    }

    /** What the completion of a receive carries besides: immediate, or the key taken away. */
    public static int immediate(final WorkRequest request)
    {
        final int immediate = request.hasImmediate ? request.immediate : 0;
        return request.invalidates ? request.remoteKey : immediate;
    }

    /** Flags of the completion of a receive, see {@link WorkCompletions}. */
    public static int flags(final WorkRequest request, final boolean isDatagram)
    {
        return (isDatagram ? WorkCompletions.WITH_GRH : 0) |
            (request.hasImmediate ? WorkCompletions.WITH_IMMEDIATE : 0) |
            (request.invalidates ? WorkCompletions.WITH_INVALIDATION : 0);
    }

    /**
     * The slot's claimer has filled it; the consumer sees the fields and, before them, the data received. Atomic: the
     * consumer may be carrying the slot over to its next lap.
     */
    public static void publish(final long slot)
    {
        SharedWords.getAndBitwiseOrLong(slot, ClaimWord.DONE);
    }

    /**
     * Raises the notification that the queue is armed for, if it is; after {@link #publish}.
     *
     * @param device      whose queue it is.
     * @param inbox       address.
     * @param isSolicited whether the completion is a solicited one or an error.
     */
    public static void raise(final DeviceFile device, final long inbox, final boolean isSolicited)
    {
        EventWord.wake(announce(device, inbox, isSolicited));
    }

    /**
     * As {@link #raise}, and leaves it to the caller to wake who sleeps.
     *
     * @return for {@link EventWord#wake}.
     */
    public static long announce(final DeviceFile device, final long inbox, final boolean isSolicited)
    {
        final long channel = SharedWords.getLong(inbox + CHANNEL_OFFSET);
        if (channel == 0)
        {
            return 0;
        }
        // Against the owner that arms and then looks for completions: one of the two sees the other.
        VarHandle.fullFence();
        return disarm(inbox, isSolicited) ? EventWord.announce(device.base() + channel) : 0;
    }

    /**
     * As {@link #raise}, of the owner's own completions: who arms the queue has them before it. Wakes nobody, since the
     * owner is awake.
     *
     * @param channel its word, not 0.
     * @return whether there is an event now, of which a thread that sleeps there does not know.
     */
    public static boolean raiseOwn(
        final DeviceFile device, final long inbox, final long channel, final boolean isSolicited)
    {
        final boolean isRaised = disarm(inbox, isSolicited);
        if (isRaised)
        {
            EventWord.count(device.base() + channel);
        }
        return isRaised;
    }

    /** Whether the queue was armed for such a completion: then there is an event now, to be announced. */
    private static boolean disarm(final long inbox, final boolean isSolicited)
    {
        final int armed = SharedWords.getIntAcquire(inbox + ARMED_OFFSET);
        if ((armed == ARMED_ANY || armed == ARMED_SOLICITED && isSolicited) &&
            SharedWords.compareAndSetInt(inbox + ARMED_OFFSET, armed, 0))
        {
            SharedWords.putIntVolatile(inbox + EVENT_OFFSET, 1);
            return true;
        }
        return false;
    }

    /** Asks the polling thread to look at the queue pairs that complete here: some may have to be flushed. */
    public static void requestAttention(final DeviceFile device, final long inbox)
    {
        SharedWords.putIntVolatile(inbox + ATTENTION_OFFSET, 1);
        raise(device, inbox, true);
    }

    /** The queue overran: its owner finds out at the next poll. */
    public static void overrun(final DeviceFile device, final long inbox)
    {
        SharedWords.compareAndSetInt(inbox + OVERRUN_OFFSET, 0, 1);
        requestAttention(device, inbox);
    }
}
