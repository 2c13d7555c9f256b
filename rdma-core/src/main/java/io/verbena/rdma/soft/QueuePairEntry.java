package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.QueuePairState;

/**
 * Layout of an entry of the queue pair table, and the few steps on it that peers take as well as the owner. Entry
 * {@code i} belongs to the queue pair whose number is {@code i} modulo the table's length.
 *
 * <pre>
 *   0        8      12       16            24           28       32       40          48      52     56
 * +--------+------+--------+-------------+------------+--------+--------+-----------+-------+------+--------+
 * | state  | type | access | destination | destination| domain | receive| receive   | max   | qkey | DC key |
 * | word   |      | flags  | device      | number     |        | ring   | completion| reads |      |        |
 * +--------+------+--------+-------------+------------+--------+--------+-----------+-------+------+--------+
 *  64       72       80         128       136          144        152         192       200      208      212
 * +--------+--------+----------+---------+------------+----------+-----------+---------+--------+--------+-------+
 * | access | inside | (0)      | events  | send       | RNR      | key       | connect | (0)    | data   | data  |
 * | mark   | device |          |         | completion | timer    | violations| word    |        | length |       |
 * +--------+--------+----------+---------+------------+----------+-----------+---------+--------+--------+-------+
 * </pre>
 *
 * <p>State word: number (upper 56 bits) and state (lower 8), so that a requester checks both at once. The first line is
 * written by the owner, and by the peer that accepts its connection, before the state that makes it visible. The second
 * line is the {@link AccessMark} of this queue pair as a requester. Connect word: attempt (upper 56 bits) and outcome.
 */
final class QueuePairEntry
{
    static final int STATE_OFFSET = 0;
    static final int TYPE_OFFSET = STATE_OFFSET + Long.BYTES;
    static final int ACCESS_FLAGS_OFFSET = TYPE_OFFSET + Integer.BYTES;
    static final int DESTINATION_OFFSET = ACCESS_FLAGS_OFFSET + Integer.BYTES;
    static final int DESTINATION_NUMBER_OFFSET = DESTINATION_OFFSET + Long.BYTES;
    static final int DOMAIN_OFFSET = DESTINATION_NUMBER_OFFSET + Integer.BYTES;
    static final int RECEIVE_RING_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    static final int RECEIVE_COMPLETIONS_OFFSET = RECEIVE_RING_OFFSET + Long.BYTES;
    static final int MAX_READS_OFFSET = RECEIVE_COMPLETIONS_OFFSET + Long.BYTES;
    static final int QKEY_OFFSET = MAX_READS_OFFSET + Integer.BYTES;
    static final int DC_KEY_OFFSET = QKEY_OFFSET + Integer.BYTES;
    static final int MARK_OFFSET = 64;
    /** Low half of the GID of the device in whose memory the requester is; meaningful while the mark is odd. */
    static final int MARK_TARGET_OFFSET = MARK_OFFSET + Long.BYTES;
    static final int EVENTS_OFFSET = 128;
    static final int SEND_COMPLETIONS_OFFSET = EVENTS_OFFSET + Long.BYTES;
    static final int RNR_TIMER_OFFSET = SEND_COMPLETIONS_OFFSET + Long.BYTES;
    static final int KEY_VIOLATIONS_OFFSET = RNR_TIMER_OFFSET + Long.BYTES;
    static final int CONNECT_OFFSET = 192;
    static final int DATA_LENGTH_OFFSET = CONNECT_OFFSET + 2 * Long.BYTES;
    static final int DATA_OFFSET = DATA_LENGTH_OFFSET + Integer.BYTES;
    static final int LENGTH = 512;

    /** State of a queue pair whose process died. */
    static final int GONE = 0xFF;

    private static final int STATE_BITS = 8;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final QueuePairState[] STATES = QueuePairState.values();
    private static final int RTR = QueuePairState.RTR.ordinal();
    private static final int SQE = QueuePairState.SQE.ordinal();

    private QueuePairEntry()
    {
    }

    static long stateWord(final int number, final QueuePairState state)
    {
        return (long)number << STATE_BITS | state.ordinal();
    }

    static QueuePairState state(final long stateWord)
    {
        final int ordinal = (int)stateWord & STATE_MASK;
        return ordinal < STATES.length ? STATES[ordinal] : QueuePairState.ERR;
    }

    static int number(final long stateWord)
    {
        return (int)(stateWord >>> STATE_BITS);
    }

    /** Whether inbound requests for this number are processed: RTR, RTS, SQD or SQE. */
    static boolean isReceiving(final long stateWord, final int number)
    {
        final int state = (int)stateWord & STATE_MASK;
        return stateWord >>> STATE_BITS == number && state >= RTR && state <= SQE;
    }

    /** Whether it is of this number and may receive later: RESET or INIT. */
    static boolean isNotYetReceiving(final long stateWord, final int number)
    {
        return stateWord >>> STATE_BITS == number && ((int)stateWord & STATE_MASK) < RTR;
    }

    /**
     * Moves a queue pair to ERR unless it is there, in RESET, or another one by now; any process may.
     *
     * @param device whose queue pair it is.
     * @param entry  address of its entry.
     * @param number of the queue pair.
     * @return whether it was moved now.
     */
    static boolean moveToError(final DeviceFile device, final long entry, final int number)
    {
        final long error = stateWord(number, QueuePairState.ERR);
        long word;
        do
        {
            word = SharedWords.getLongVolatile(entry + STATE_OFFSET);
            if (number(word) != number || word == error || ((int)word & STATE_MASK) == GONE ||
                word == stateWord(number, QueuePairState.RESET))
            {
                return false;
            }
        }
        while (!SharedWords.compareAndSetLong(entry + STATE_OFFSET, word, error));
        CompletionInbox.requestAttention(device, device.base() + SharedWords.getLong(entry + SEND_COMPLETIONS_OFFSET));
        CompletionInbox.requestAttention(
            device, device.base() + SharedWords.getLong(entry + RECEIVE_COMPLETIONS_OFFSET));
        return true;
    }
}
