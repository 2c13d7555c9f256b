package io.verbena.rdma.soft.shared;

/**
 * Layout of a ring of posted receives, and how requesters take from it: any number of them, of any process, without
 * locks, in posting order.
 *
 * <pre>
 *  0      4          8        12       16   64      72      76      80        128           192
 * +------+----------+--------+--------+---+-------+-------+-------+---------+-------------+-------------+---
 * | mask | capacity | shared | direct |   | tail  | limit | event | last    | head        | slots       |
 * |      |          |        |        |   |       |       |       | carried |             |             |
 * +------+----------+--------+--------+---+-------+-------+-------+---------+-------------+-------------+---
 *
 *  slot:  0            8      16        24       28    32       36          40       44        48    64
 *        +------------+------+---------+--------+-----+--------+-----------+--------+---------+-----+
 *        | claim word | wrId | address | length | key | length | immediate | source | outcome | (0) |
 *        |            |      |         |        |     | done   | or key    |        |         |     |
 *        +------------+------+---------+--------+-----+--------+-----------+--------+---------+-----+
 * </pre>
 *
 * <p>The owner fills a slot and opens it (release). A requester claims the oldest open one and advances the head; who
 * finds the head behind, because its claimer was stopped or died there, advances it for him. The slot is given back by
 * the owner when it hands out the completion, or by flushing; so a receive whose claimer dies is never lost. A ring
 * with one requester can be {@linkplain DirectReceive direct}: then nobody claims.
 */
public final class ReceiveRing
{
    public static final int MASK_OFFSET = 0;
    public static final int CAPACITY_OFFSET = MASK_OFFSET + Integer.BYTES;
    /** 1 for a shared receive queue. */
    public static final int SHARED_OFFSET = CAPACITY_OFFSET + Integer.BYTES;
    /** 1 while completions are left in the slots themselves, see {@link DirectReceive}. */
    public static final int DIRECT_OFFSET = SHARED_OFFSET + Integer.BYTES;
    /** Written by the owner at each post, and on a line of its own for that reason. */
    public static final int TAIL_OFFSET = 64;
    /** Shared receive queue: armed limit; set to 0 by who finds fewer. */
    public static final int LIMIT_OFFSET = TAIL_OFFSET + Long.BYTES;
    /** Shared receive queue: 1 when the limit was reached and not reported yet. */
    public static final int EVENT_OFFSET = LIMIT_OFFSET + Integer.BYTES;
    /** Shared receive queue: the latest position whose slot was carried over, still claimed, from an earlier lap. */
    public static final int LAST_CARRIED_OFFSET = EVENT_OFFSET + Integer.BYTES;
    public static final int HEAD_OFFSET = 128;
    public static final int SLOTS_OFFSET = 192;

    public static final int CLAIM_OFFSET = 0;
    public static final int WR_ID_OFFSET = CLAIM_OFFSET + Long.BYTES;
    public static final int ADDRESS_OFFSET = WR_ID_OFFSET + Long.BYTES;
    public static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    public static final int KEY_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    public static final int BYTE_LENGTH_OFFSET = KEY_OFFSET + Integer.BYTES;
    public static final int IMMEDIATE_OFFSET = BYTE_LENGTH_OFFSET + Integer.BYTES;
    public static final int SOURCE_OFFSET = IMMEDIATE_OFFSET + Integer.BYTES;
    public static final int OUTCOME_OFFSET = SOURCE_OFFSET + Integer.BYTES;
    public static final int SLOT_BYTES = 64;

    private ReceiveRing()
    {
    }

    public static long lengthBytes(final int slotCount)
    {
        return SLOTS_OFFSET + (long)slotCount * SLOT_BYTES;
    }

    public static long slot(final long ring, final long position)
    {
        return ring + SLOTS_OFFSET + (position & SharedWords.getInt(ring + MASK_OFFSET)) * SLOT_BYTES;
    }

    /**
     * Whether a receive is posted; also brings the head up to date.
     *
     * @param ring address.
     * @return position of the oldest open slot, or -1.
     */
    public static long oldest(final long ring)
    {
        while (true)
        {
            final long head = SharedWords.getLongAcquire(ring + HEAD_OFFSET);
            final long word = SharedWords.getLongAcquire(slot(ring, head));
            if (word == ClaimWord.open(head))
            {
                return head;
            }
            if (ClaimWord.isBefore(word, head))
            {
                return -1;
            }
            // It was taken, and may have gone on to a later lap meanwhile.
            SharedWords.compareAndSetLong(ring + HEAD_OFFSET, head, head + 1);
        }
    }

    /**
     * Claims the oldest posted receive.
     *
     * @param ring           address.
     * @param visitor        the claimer.
     * @param queuePairIndex the responder.
     * @return address of the slot, or 0 when there is none.
     */
    public static long claim(final long ring, final int visitor, final int queuePairIndex)
    {
        while (true)
        {
            final long position = oldest(ring);
            if (position < 0)
            {
                return 0;
            }
            final long slot = slot(ring, position);
            if (claimAt(ring, slot, position, visitor, queuePairIndex))
            {
                return slot;
            }
        }
    }

    /**
     * Claims the oldest posted receive if a message fits into it; an unreliable one that does not is dropped.
     *
     * @param neededBytes of the message.
     * @return address of the slot, or 0 when there is none that is long enough.
     */
    public static long claimFitting(final long ring, final int visitor, final int queuePairIndex, final int neededBytes)
    {
        while (true)
        {
            final long position = oldest(ring);
            if (position < 0)
            {
                return 0;
            }
            final long slot = slot(ring, position);
            final int lengthBytes = SharedWords.getIntAcquire(slot + LENGTH_OFFSET);
            // The length is that of this position if the slot is still open for it.
            if (SharedWords.getLongAcquire(slot) == ClaimWord.open(position))
            {
                if (lengthBytes < neededBytes)
                {
                    return 0;
                }
                if (claimAt(ring, slot, position, visitor, queuePairIndex))
                {
                    return slot;
                }
            }
        }
    }

    private static boolean claimAt(
        final long ring, final long slot, final long position, final int visitor, final int queuePairIndex)
    {
        final boolean isClaimed = SharedWords.compareAndSetLong(
            slot, ClaimWord.open(position), ClaimWord.claimed(position, visitor, queuePairIndex));
        if (isClaimed && SharedWords.getLong(ring + HEAD_OFFSET) == position)
        {
            SharedWords.compareAndSetLong(ring + HEAD_OFFSET, position, position + 1);
        }
        return isClaimed;
    }

    /**
     * Shared receive queue: when fewer receives than the armed limit are left, disarms it and leaves the event for the
     * owner. Called after each claim, and by whoever finds none.
     */
    public static void checkLimit(final long ring)
    {
        // Volatile: against the owner that arms and then counts, one of the two sees the other.
        final int limit = SharedWords.getIntVolatile(ring + LIMIT_OFFSET);
        if (limit != 0 && leftCount(ring) < limit &&
            SharedWords.compareAndSetInt(ring + LIMIT_OFFSET, limit, 0))
        {
            SharedWords.putIntVolatile(ring + EVENT_OFFSET, 1);
        }
    }

    private static long leftCount(final long ring)
    {
        final long first = oldest(ring);
        if (first < 0)
        {
            return 0;
        }
        final long tail = SharedWords.getLongVolatile(ring + TAIL_OFFSET);
        if (SharedWords.getLongVolatile(ring + LAST_CARRIED_OFFSET) < first)
        {
            return tail - first;
        }
        long count = 0;
        for (long position = first; position < tail; position++)
        {
            count += SharedWords.getLongAcquire(slot(ring, position)) == ClaimWord.open(position) ? 1 : 0;
        }
        return count;
    }
}
