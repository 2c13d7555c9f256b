package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;

import java.util.StringJoiner;

/** What the connection service gives a queue pair on its way from RESET to RTS; the manual page of ibv_modify_qp. */
public final class ConnectionTransitions
{
    /** 4.096 µs × 2^15, 134 ms; seven times until a silent peer is given up, some 0.9 s. */
    private static final int TIMEOUT = 15;
    /** Not 7, which rxe takes for "for ever". */
    private static final int RETRY_COUNT = 6;
    /** Code of the wait that a receiver without a receive asks for: 164 ms; six times, some 1 s in all. */
    public static final int MIN_RNR_TIMER = 28;
    private static final int RNR_RETRY = 6;
    private static final String[] NAMES = {
        "state", "", "", "accessFlags", "pkeyIndex", "port", "qkey", "addressVector", "pathMtu", "timeout",
        "retryCount", "rnrRetry", "rqPsn", "maxReadAtomic", "", "minRnrTimer", "sqPsn", "maxDestinationReadAtomic", "",
        "", "destinationNumber" };

    private ConnectionTransitions()
    {
    }

    /** RESET becomes INIT. */
    public static QueuePairAttributes toInit(final int portNumber, final int accessFlags)
    {
        return new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(portNumber)
            .accessFlags(accessFlags);
    }

    /**
     * INIT becomes RTR.
     *
     * @param type          RC or UC.
     * @param maxReadAtomic of the own queue pair.
     * @param mtu           agreed, {@code enum ibv_mtu}.
     * @param peer          what the peer said.
     * @param accessFlags   rights of the peer.
     */
    public static QueuePairAttributes toRtr(
        final QueuePairType type,
        final int maxReadAtomic,
        final int mtu,
        final ConnectionMessage peer,
        final int accessFlags)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTR)
            .destination(peer.source()).pathMtuBytes(128 << mtu)
            .destinationNumber(peer.queuePairNumber()).rqPsn(peer.psn()).accessFlags(accessFlags);
        return type == QueuePairType.UC ? attributes :
            attributes.maxDestinationReadAtomic(maxReadAtomic).minRnrTimer(MIN_RNR_TIMER);
    }

    /**
     * RTR becomes RTS.
     *
     * @param type          RC or UC.
     * @param maxReadAtomic of the own queue pair.
     * @param peer          what the peer said.
     * @param ownPsn        first packet sequence number.
     */
    public static QueuePairAttributes toRts(
        final QueuePairType type, final int maxReadAtomic, final ConnectionMessage peer, final int ownPsn)
    {
        final QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(ownPsn);
        // No more at once than the peer answers; at least one, so that a peer that answers none refuses it and the
        // request does not wait for ever.
        return type == QueuePairType.UC ? attributes :
            attributes.timeout(TIMEOUT).retryCount(RETRY_COUNT).rnrRetry(RNR_RETRY)
                .maxReadAtomic(Math.max(1, Math.min(maxReadAtomic, peer.maxReadAtomic())));
    }

    /** Names of the attributes that are set, for messages. */
    public static String describe(final QueuePairAttributes attributes)
    {
        final StringJoiner text = new StringJoiner(", ", "{", "}");
        for (int bit = 0; bit < NAMES.length; bit++)
        {
            if (attributes.has(1 << bit))
            {
                text.add(bit == 0 ? "state=" + attributes.state() : NAMES[bit]);
            }
        }
        return text.toString();
    }
}
