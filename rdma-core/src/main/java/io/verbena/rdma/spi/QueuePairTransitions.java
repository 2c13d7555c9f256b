package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import java.util.Arrays;

import static io.verbena.rdma.verbs.QueuePairAttributes.ACCESS_FLAGS;
import static io.verbena.rdma.verbs.QueuePairAttributes.ADDRESS_VECTOR;
import static io.verbena.rdma.verbs.QueuePairAttributes.DESTINATION_NUMBER;
import static io.verbena.rdma.verbs.QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC;
import static io.verbena.rdma.verbs.QueuePairAttributes.MAX_READ_ATOMIC;
import static io.verbena.rdma.verbs.QueuePairAttributes.MIN_RNR_TIMER;
import static io.verbena.rdma.verbs.QueuePairAttributes.PATH_MTU;
import static io.verbena.rdma.verbs.QueuePairAttributes.PKEY_INDEX;
import static io.verbena.rdma.verbs.QueuePairAttributes.PORT;
import static io.verbena.rdma.verbs.QueuePairAttributes.QKEY;
import static io.verbena.rdma.verbs.QueuePairAttributes.RETRY_COUNT;
import static io.verbena.rdma.verbs.QueuePairAttributes.RNR_RETRY;
import static io.verbena.rdma.verbs.QueuePairAttributes.RQ_PSN;
import static io.verbena.rdma.verbs.QueuePairAttributes.SQ_PSN;
import static io.verbena.rdma.verbs.QueuePairAttributes.STATE;
import static io.verbena.rdma.verbs.QueuePairAttributes.TIMEOUT;

/**
 * The table behind {@code ibv_modify_qp}: for each type and pair of states the attributes that must and may be given,
 * as the manual page lists them for the way up and as the specification (table 91, QP state transition properties) has
 * them for the rest. Pure.
 */
public final class QueuePairTransitions
{
    /** Value of {@link #allowed} and {@link #required} for what is no transition at all. */
    public static final int IMPOSSIBLE = -1;

    private static final int STATES = QueuePairState.values().length;
    private static final int[][] REQUIRED = new int[QueuePairType.values().length][STATES * STATES];
    private static final int[][] ALLOWED = new int[QueuePairType.values().length][STATES * STATES];

    static
    {
        for (final QueuePairType type : QueuePairType.values())
        {
            Arrays.fill(REQUIRED[type.ordinal()], IMPOSSIBLE);
            Arrays.fill(ALLOWED[type.ordinal()], IMPOSSIBLE);
            for (final QueuePairState from : QueuePairState.values())
            {
                put(type, from, QueuePairState.RESET, 0, 0);
                if (from != QueuePairState.RESET)
                {
                    put(type, from, QueuePairState.ERR, 0, 0);
                }
            }
        }
        connected(QueuePairType.RC, MAX_DESTINATION_READ_ATOMIC | MIN_RNR_TIMER,
            MAX_READ_ATOMIC | RETRY_COUNT | RNR_RETRY | TIMEOUT, MIN_RNR_TIMER);
        connected(QueuePairType.UC, 0, 0, 0);
        put(QueuePairType.RC, QueuePairState.SQD, QueuePairState.SQD, 0,
            PORT | ADDRESS_VECTOR | TIMEOUT | RETRY_COUNT | RNR_RETRY | MAX_READ_ATOMIC |
            MAX_DESTINATION_READ_ATOMIC | ACCESS_FLAGS | PKEY_INDEX | MIN_RNR_TIMER);
        put(QueuePairType.UC, QueuePairState.SQD, QueuePairState.SQD, 0, ADDRESS_VECTOR | ACCESS_FLAGS | PKEY_INDEX);
        put(QueuePairType.UC, QueuePairState.SQE, QueuePairState.RTS, 0, ACCESS_FLAGS);
        datagram();
        dynamicallyConnected();
    }

    private QueuePairTransitions()
    {
    }

    /**
     * The attributes that a transition needs.
     *
     * @param type of the queue pair.
     * @param from present state.
     * @param to   wanted state.
     * @return set of {@link QueuePairAttributes} constants without STATE; {@link #IMPOSSIBLE} when there is no such
     *     transition.
     */
    public static int required(final QueuePairType type, final QueuePairState from, final QueuePairState to)
    {
        return REQUIRED[type.ordinal()][index(from, to)];
    }

    /** The attributes that a transition takes, needed ones included; otherwise as {@link #required}. */
    public static int allowed(final QueuePairType type, final QueuePairState from, final QueuePairState to)
    {
        return ALLOWED[type.ordinal()][index(from, to)];
    }

    /**
     * The state that a change leads to.
     *
     * @param current    state.
     * @param attributes of the change.
     * @return the state it names, or the current one when it names none.
     */
    public static QueuePairState target(final QueuePairState current, final QueuePairAttributes attributes)
    {
        return attributes.has(STATE) ? attributes.state() : current;
    }

    /** As the check below, of a device with one port. */
    public static void check(
        final QueuePairType type,
        final QueuePairState current,
        final QueuePairAttributes attributes,
        final int maxReadAtomic)
    {
        check(type, current, attributes, maxReadAtomic, 1);
    }

    /**
     * Checks a change wholly, before anything of it is done.
     *
     * @param type       of the queue pair.
     * @param current    state.
     * @param attributes of the change.
     * @param maxReadAtomic the device's limit of READs and atomics.
     * @param portNumber of the port in use, 1 for the first.
     * @throws RdmaException naming the attribute, its value and the transition.
     */
    public static void check(
        final QueuePairType type,
        final QueuePairState current,
        final QueuePairAttributes attributes,
        final int maxReadAtomic,
        final int portNumber)
    {
        final QueuePairState target = target(current, attributes);
        final String transition = type + " queue pair from " + current + " to " + target;
        final int required = required(type, current, target);
        if (required == IMPOSSIBLE)
        {
            throw new RdmaException("no such transition: " + transition + "; the only way out of ERR is RESET");
        }
        final int given = attributes.mask() & ~STATE;
        final int missing = required & ~given;
        final int surplus = given & ~allowed(type, current, target);
        if (missing != 0 || surplus != 0)
        {
            throw new RdmaException(
                "wrong attributes for " + transition + ": missing=" + AttributeRanges.names(missing) +
                ", not allowed=" + AttributeRanges.names(surplus));
        }
        AttributeRanges.check(attributes, maxReadAtomic, portNumber, transition);
    }

    private static void connected(
        final QueuePairType type, final int receiveExtra, final int sendExtra, final int sendOptional)
    {
        final int initial = PKEY_INDEX | PORT | ACCESS_FLAGS;
        put(type, QueuePairState.RESET, QueuePairState.INIT, initial, 0);
        put(type, QueuePairState.INIT, QueuePairState.INIT, 0, initial);
        put(type, QueuePairState.INIT, QueuePairState.RTR,
            ADDRESS_VECTOR | PATH_MTU | DESTINATION_NUMBER | RQ_PSN | receiveExtra, ACCESS_FLAGS | PKEY_INDEX);
        put(type, QueuePairState.RTR, QueuePairState.RTS, SQ_PSN | sendExtra, ACCESS_FLAGS | sendOptional);
        put(type, QueuePairState.RTS, QueuePairState.RTS, 0, ACCESS_FLAGS | sendOptional);
        put(type, QueuePairState.RTS, QueuePairState.SQD, 0, 0);
        put(type, QueuePairState.SQD, QueuePairState.RTS, 0, ACCESS_FLAGS | sendOptional);
    }

    private static void datagram()
    {
        final QueuePairType type = QueuePairType.UD;
        final int initial = PKEY_INDEX | PORT | QKEY;
        put(type, QueuePairState.RESET, QueuePairState.INIT, initial, 0);
        put(type, QueuePairState.INIT, QueuePairState.INIT, 0, initial);
        put(type, QueuePairState.INIT, QueuePairState.RTR, 0, PKEY_INDEX | QKEY);
        put(type, QueuePairState.RTR, QueuePairState.RTS, SQ_PSN, QKEY);
        put(type, QueuePairState.RTS, QueuePairState.RTS, 0, QKEY);
        put(type, QueuePairState.RTS, QueuePairState.SQD, 0, 0);
        put(type, QueuePairState.SQD, QueuePairState.RTS, 0, QKEY);
        put(type, QueuePairState.SQD, QueuePairState.SQD, 0, PKEY_INDEX | QKEY);
        put(type, QueuePairState.SQE, QueuePairState.RTS, 0, QKEY);
    }

    /** An initiator has no peer of its own, no rights to give, and no SQD. */
    private static void dynamicallyConnected()
    {
        final QueuePairType type = QueuePairType.DC_INITIATOR;
        put(type, QueuePairState.RESET, QueuePairState.INIT, PKEY_INDEX | PORT, 0);
        put(type, QueuePairState.INIT, QueuePairState.INIT, 0, PKEY_INDEX | PORT);
        put(type, QueuePairState.INIT, QueuePairState.RTR, PATH_MTU, PKEY_INDEX | ADDRESS_VECTOR);
        put(type, QueuePairState.RTR, QueuePairState.RTS,
            TIMEOUT | RETRY_COUNT | RNR_RETRY | MAX_READ_ATOMIC | SQ_PSN, MIN_RNR_TIMER);
        put(type, QueuePairState.RTS, QueuePairState.RTS, 0, MIN_RNR_TIMER);
    }

    private static void put(
        final QueuePairType type,
        final QueuePairState from,
        final QueuePairState to,
        final int required,
        final int optional)
    {
        REQUIRED[type.ordinal()][index(from, to)] = required;
        ALLOWED[type.ordinal()][index(from, to)] = required | optional;
    }

    private static int index(final QueuePairState from, final QueuePairState to)
    {
        return from.ordinal() * STATES + to.ordinal();
    }
}
