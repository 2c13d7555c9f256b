package io.verbena.rdma.soft.shared;

/**
 * Layout of a listener's ring of connection requests, in the device file, and how requesters put them in; slots change
 * hands as those of a {@link CompletionInbox}.
 *
 * <pre>
 *  0                64               128
 * +------+---------+------+---------+---------+---
 * | mask | (0)     | tail | (0)     | slots   |
 * +------+---------+------+---------+---------+---
 *
 *  slot:  0            8        16        24       28       32    228  256
 *        +------------+--------+---------+--------+--------+------+-----+
 *        | claim word | source | attempt | number | data   | data | (0) |
 *        |            | device |         |        | length |      |     |
 *        +------------+--------+---------+--------+--------+------+-----+
 * </pre>
 */
public final class ConnectionMailbox
{
    public static final int MASK_OFFSET = 0;
    public static final int TAIL_OFFSET = 64;
    public static final int SLOTS_OFFSET = 128;

    public static final int SOURCE_OFFSET = 8;
    public static final int ATTEMPT_OFFSET = SOURCE_OFFSET + Long.BYTES;
    public static final int NUMBER_OFFSET = ATTEMPT_OFFSET + Long.BYTES;
    public static final int DATA_LENGTH_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    public static final int DATA_OFFSET = DATA_LENGTH_OFFSET + Integer.BYTES;
    public static final int SLOT_BYTES = 256;

    /** Requests not handed out; more are turned away, as a full backlog does. */
    public static final int SLOT_COUNT = 512;
    public static final int LENGTH = SLOTS_OFFSET + SLOT_COUNT * SLOT_BYTES;

    private ConnectionMailbox()
    {
    }

    public static long slot(final long mailbox, final long position)
    {
        return mailbox + SLOTS_OFFSET + (position & SLOT_COUNT - 1) * SLOT_BYTES;
    }

    /** Owner: makes an empty one; the first lap is 1. */
    public static void initialize(final long mailbox)
    {
        for (int i = 0; i < SLOT_COUNT; i++)
        {
            SharedWords.putLong(slot(mailbox, i), ClaimWord.open(SLOT_COUNT + i));
        }
        SharedWords.putInt(mailbox + MASK_OFFSET, SLOT_COUNT - 1);
        SharedWords.putLongRelease(mailbox + TAIL_OFFSET, SLOT_COUNT);
    }

    /** Requester, marked inside: puts a request in; false when the backlog is full. */
    public static boolean offer(
        final long mailbox,
        final int visitor,
        final long source,
        final long attempt,
        final int number,
        final byte[] data)
    {
        while (true)
        {
            final long tail = SharedWords.getLongAcquire(mailbox + TAIL_OFFSET);
            final long slot = slot(mailbox, tail);
            final long word = SharedWords.getLongAcquire(slot);
            final long claimed = ClaimWord.claimed(tail, visitor, 0);
            if (word == ClaimWord.open(tail) && SharedWords.compareAndSetLong(slot, word, claimed))
            {
                SharedWords.compareAndSetLong(mailbox + TAIL_OFFSET, tail, tail + 1);
                SharedWords.putLong(slot + SOURCE_OFFSET, source);
                SharedWords.putLong(slot + ATTEMPT_OFFSET, attempt);
                SharedWords.putInt(slot + NUMBER_OFFSET, number);
                SharedWords.putInt(slot + DATA_LENGTH_OFFSET, data.length);
                SharedWords.putBytes(slot + DATA_OFFSET, data);
                SharedWords.putLongRelease(slot, ClaimWord.done(claimed));
                return true;
            }
            if (ClaimWord.isAt(word, tail) && ClaimWord.state(word) != ClaimWord.OPEN)
            {
                SharedWords.compareAndSetLong(mailbox + TAIL_OFFSET, tail, tail + 1);
            }
            else if (ClaimWord.isBefore(word, tail))
            {
                return false;
            }
        }
    }
}
