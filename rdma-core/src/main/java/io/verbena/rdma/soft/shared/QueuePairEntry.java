package io.verbena.rdma.soft.shared;

import io.verbena.rdma.verbs.AsyncEventType;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

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
public final class QueuePairEntry
{
    public static final int STATE_OFFSET = 0;
    public static final int TYPE_OFFSET = STATE_OFFSET + Long.BYTES;
    public static final int ACCESS_FLAGS_OFFSET = TYPE_OFFSET + Integer.BYTES;
    public static final int DESTINATION_OFFSET = ACCESS_FLAGS_OFFSET + Integer.BYTES;
    public static final int DESTINATION_NUMBER_OFFSET = DESTINATION_OFFSET + Long.BYTES;
    public static final int DOMAIN_OFFSET = DESTINATION_NUMBER_OFFSET + Integer.BYTES;
    public static final int RECEIVE_RING_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    public static final int RECEIVE_COMPLETIONS_OFFSET = RECEIVE_RING_OFFSET + Long.BYTES;
    public static final int MAX_READS_OFFSET = RECEIVE_COMPLETIONS_OFFSET + Long.BYTES;
    public static final int QKEY_OFFSET = MAX_READS_OFFSET + Integer.BYTES;
    public static final int DC_KEY_OFFSET = QKEY_OFFSET + Integer.BYTES;
    public static final int MARK_OFFSET = 64;
    /** Low half of the GID of the device in whose memory the requester is; meaningful while the mark is odd. */
    public static final int MARK_TARGET_OFFSET = MARK_OFFSET + Long.BYTES;
    public static final int EVENTS_OFFSET = 128;
    public static final int SEND_COMPLETIONS_OFFSET = EVENTS_OFFSET + Long.BYTES;
    public static final int RNR_TIMER_OFFSET = SEND_COMPLETIONS_OFFSET + Long.BYTES;
    public static final int KEY_VIOLATIONS_OFFSET = RNR_TIMER_OFFSET + Long.BYTES;
    public static final int CONNECT_OFFSET = 192;
    public static final int DATA_LENGTH_OFFSET = CONNECT_OFFSET + 2 * Long.BYTES;
    public static final int DATA_OFFSET = DATA_LENGTH_OFFSET + Integer.BYTES;
    public static final int LENGTH = 512;

    /** In the events: that communication began was reported. The rest are ordinals of AsyncEventType, as a set. */
    public static final long ESTABLISHED = 1L << 32;

    /** Type of a DC target; the others are ordinals of QueuePairType. */
    public static final int DC_TARGET = 0x100;

    /** State of a queue pair whose process died. */
    public static final int GONE = 0xFF;

    private static final int STATE_BITS = 8;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final QueuePairState[] STATES = QueuePairState.values();
    private static final int RESET = QueuePairState.RESET.ordinal();
    private static final int ERR = QueuePairState.ERR.ordinal();
    private static final int RTR = QueuePairState.RTR.ordinal();
    private static final int SQE = QueuePairState.SQE.ordinal();

    private QueuePairEntry()
    {
    }

    public static long stateWord(final int number, final QueuePairState state)
    {
        return (long)number << STATE_BITS | state.ordinal();
    }

    public static QueuePairState state(final long stateWord)
    {
        final int ordinal = (int)stateWord & STATE_MASK;
        return ordinal < STATES.length ? STATES[ordinal] : QueuePairState.ERR;
    }

    static int number(final long stateWord)
    {
        return (int)(stateWord >>> STATE_BITS);
    }

    /** Whether it makes no sense to move a queue pair to ERR: it is there, in RESET, gone, or another one by now. */
    static boolean isPastErrors(final long stateWord, final int number)
    {
        final int state = (int)stateWord & STATE_MASK;
        return stateWord >>> STATE_BITS != number || state == ERR || state == RESET || state == GONE;
    }

    /** Whether inbound requests for this number are processed: RTR, RTS, SQD or SQE. */
    public static boolean isReceiving(final long stateWord, final int number)
    {
        final int state = (int)stateWord & STATE_MASK;
        return stateWord >>> STATE_BITS == number && state >= RTR && state <= SQE;
    }

    /** Whether it is of this number and may receive later: RESET or INIT. */
    public static boolean isNotYetReceiving(final long stateWord, final int number)
    {
        return stateWord >>> STATE_BITS == number && ((int)stateWord & STATE_MASK) < RTR;
    }

    /** Peer: whether the entry is of this number, and of another type than expected. */
    public static boolean isOfOtherType(final long entry, final int number, final int type)
    {
        return number(SharedWords.getLongAcquire(entry + STATE_OFFSET)) == number &&
            SharedWords.getInt(entry + TYPE_OFFSET) != type;
    }

    /** Type of the entries that serve a requester of some type. */
    public static int peerType(final QueuePairType requester)
    {
        return requester == QueuePairType.DC_INITIATOR ? DC_TARGET : requester.ordinal();
    }

    /** Requester, about to be served: in RTR the owner gets one event, that communication began. */
    public static void reportEstablished(final long entry, final long stateWord)
    {
        if (((int)stateWord & STATE_MASK) != RTR)
        {
            return;
        }
        final long raised = ESTABLISHED | 1L << AsyncEventType.COMM_EST.ordinal();
        long events = SharedWords.getLongAcquire(entry + EVENTS_OFFSET);
        while ((events & ESTABLISHED) == 0 &&
            !SharedWords.compareAndSetLong(entry + EVENTS_OFFSET, events, events | raised))
        {
            events = SharedWords.getLongAcquire(entry + EVENTS_OFFSET);
        }
    }

    /** Connection service, either side: writes the destination into an entry in INIT and opens it. */
    public static void open(final long entry, final int number, final long destination, final int destinationNumber)
    {
        SharedWords.putLong(entry + DESTINATION_OFFSET, destination);
        SharedWords.putInt(entry + DESTINATION_NUMBER_OFFSET, destinationNumber);
        SharedWords.compareAndSetLong(
            entry + STATE_OFFSET, stateWord(number, QueuePairState.INIT), stateWord(number, QueuePairState.RTS));
    }

    /** Owner: takes the events that peers left, as a set of ordinals of AsyncEventType. */
    public static long takeEvents(final long entry)
    {
        return (SharedWords.getLongAcquire(entry + EVENTS_OFFSET) & ~ESTABLISHED) == 0 ?
            0 : SharedWords.getAndBitwiseAndLong(entry + EVENTS_OFFSET, ESTABLISHED) & ~ESTABLISHED;
    }
}
