package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;

/**
 * Which operation with which flag may be posted on which type of queue pair: the table of the {@code ibv_post_send}
 * manual page, and for DC the one of {@code mlx5dv_wr_post}, which is that of RC. Pure.
 */
public final class OperationRules
{
    /** Kinds of requests: the operations of {@link WorkRequest}, and two variants with rules of their own. */
    public static final int KINDS = 9;
    /** WRITE with an immediate, as a kind. */
    public static final int WRITE_WITH_IMM = 7;
    /** SEND that takes a key of the peer away, as a kind. */
    public static final int SEND_WITH_INV = 8;
    /** Stands in {@link #forbiddenFlags} for the kind itself. */
    public static final int OPERATION = 1 << 30;

    private static final int DATAGRAM = 1 << WorkRequest.SEND;
    private static final int LOCAL = 1 << WorkRequest.BIND_MW | 1 << WorkRequest.LOCAL_INV;
    private static final int UNRELIABLE =
        DATAGRAM | 1 << WorkRequest.WRITE | 1 << WRITE_WITH_IMM | 1 << SEND_WITH_INV | LOCAL;
    private static final int RELIABLE =
        UNRELIABLE | 1 << WorkRequest.READ | 1 << WorkRequest.COMPARE_SWAP | 1 << WorkRequest.FETCH_ADD;
    private static final String[] NAMES = {
        "SEND", "WRITE", "READ", "CMP_SWAP", "FETCH_ADD", "BIND_MW", "LOCAL_INV", "WRITE_WITH_IMM", "SEND_WITH_INV" };

    private OperationRules()
    {
    }

    /** The name of a kind. */
    public static String name(final int kind)
    {
        return NAMES[kind];
    }

    /**
     * Decides whether a type has a kind of request at all.
     *
     * @param type of the queue pair.
     * @param kind of the request.
     * @return whether it has.
     */
    public static boolean allows(final QueuePairType type, final int kind)
    {
        final int kinds = switch (type)
        {
            case UD -> DATAGRAM;
            case UC -> UNRELIABLE;
            case RC -> RELIABLE;
            // Windows are bound to the one queue pair of the other side, which a target is not.
            case DC_INITIATOR -> RELIABLE & ~LOCAL & ~(1 << SEND_WITH_INV);
        };
        return (kinds & 1 << kind) != 0;
    }

    /**
     * @param kind of the request.
     * @return whether its payload may lie in several places.
     */
    public static boolean takesSegments(final int kind)
    {
        return kind <= WorkRequest.READ || kind == WRITE_WITH_IMM || kind == SEND_WITH_INV;
    }

    /**
     * @param kind that takes none.
     * @return the reason.
     */
    public static String segmentsRefusal(final int kind)
    {
        return "only SEND, WRITE and READ have several segments: operation=" + name(kind);
    }

    /**
     * The flags that a request must not have.
     *
     * @param type of the queue pair.
     * @param kind of the request.
     * @return set of {@link SendFlags}, unknown ones included; with {@link #OPERATION} when there is no such request.
     */
    public static int forbiddenFlags(final QueuePairType type, final int kind)
    {
        final boolean isReliable = type == QueuePairType.RC || type == QueuePairType.DC_INITIATOR;
        final boolean wakes = kind == WorkRequest.SEND || kind == WRITE_WITH_IMM || kind == SEND_WITH_INV;
        final boolean hasPayload = wakes || kind == WorkRequest.WRITE;
        final int allowed = SendFlags.SIGNALED |
            (isReliable ? SendFlags.FENCE : 0) |
            (wakes ? SendFlags.SOLICITED : 0) |
            (hasPayload ? SendFlags.INLINE : 0) |
            (allows(type, kind) ? OPERATION : 0);
        return ~allowed;
    }

    /**
     * Says what is wrong with a request.
     *
     * @param type  of the queue pair.
     * @param kind  of the request.
     * @param flags {@link SendFlags}.
     * @return null when nothing is; else the reason.
     */
    public static String refusal(final QueuePairType type, final int kind, final int flags)
    {
        final int wrong = forbiddenFlags(type, kind) & (flags | OPERATION);
        if ((wrong & OPERATION) != 0)
        {
            return "a queue pair of this type has no such operation";
        }
        if ((wrong & SendFlags.FENCE) != 0)
        {
            return "FENCE is for reliable queue pairs only";
        }
        if ((wrong & SendFlags.SOLICITED) != 0)
        {
            return "SOLICITED is for SEND and WRITE_WITH_IMM only";
        }
        if ((wrong & SendFlags.INLINE) != 0)
        {
            return "INLINE is for SEND and WRITE only";
        }
        return wrong != 0 ? "unknown flags" : null;
    }

    /**
     * The right that the responder must have given, on the queue pair as well as on region or window.
     *
     * @param operation a constant of {@link WorkRequest}.
     * @return one of {@link AccessFlags}; 0 for SEND and local operations.
     */
    public static int neededRight(final int operation)
    {
        return switch (operation)
        {
            case WorkRequest.WRITE -> AccessFlags.REMOTE_WRITE;
            case WorkRequest.READ -> AccessFlags.REMOTE_READ;
            case WorkRequest.COMPARE_SWAP, WorkRequest.FETCH_ADD -> AccessFlags.REMOTE_ATOMIC;
            default -> 0;
        };
    }
}
