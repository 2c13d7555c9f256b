package io.verbena.protocol.request;

/** How a node answers an {@link OperationRequest}. The codes are part of the message format. */
public enum OperationAnswer
{
    /** The record was there; read kinds carry its value and version. */
    FOUND(1),
    /** There was no record. */
    NOT_FOUND(2),
    /** Written; the version is the new one. */
    STORED(3),
    /** Not written, because there was a record; the version is its version. */
    EXISTS(4),
    /** Deleted. */
    DELETED(5),
    /** Not changed, because the record has another version, which is the one carried. */
    VERSION_MISMATCH(6),
    /** Not written: no free slot for this key. */
    TABLE_FULL(7),
    /** Not written: no memory for the value. */
    NO_MEMORY(8),
    /** Not applied before the deadline, and never will be. */
    TIMED_OUT(9),
    /** A write that was applied, or not, or is about to be. */
    OUTCOME_UNKNOWN(10),
    /** The table is not there any more; not applied. */
    NO_SUCH_TABLE(11),
    /** A memory node or the meta server could not be reached; not applied. */
    UNREACHABLE(12),
    /** The record's bytes fail their checksum; not applied. */
    CORRUPT(13),
    /** This node does not serve now (it joins, leaves, or lost its lease); not begun, another node may take it. */
    NOT_SERVING(14),
    /** Not changed, because the value is no counter. */
    NOT_A_COUNTER(15),
    /** Not changed, because the sum does not fit 64 bits. */
    COUNTER_OVERFLOW(16),
    /** Not changed, because the value would become too long. */
    VALUE_TOO_LONG(17),
    /** Not changed, because the condition on the record's deadline does not hold. */
    CONDITION_NOT_MET(18),
    /** The caller has no right to that; not begun. */
    PERMISSION_DENIED(19),
    /** The caller has used up what it may ask for; not begun. The version is when to try again, ns from now. */
    QUOTA_EXCEEDED(20);

    private static final OperationAnswer[] BY_CODE = new OperationAnswer[values().length + 1];

    static
    {
        for (final OperationAnswer answer : values())
        {
            BY_CODE[answer.code] = answer;
        }
    }

    private final int code;

    OperationAnswer(final int code)
    {
        this.code = code;
    }

    /** @return number in messages. */
    public int code()
    {
        return code;
    }

    /**
     * @param code number in a message.
     * @return the answer, or null when there is none with this number.
     */
    public static OperationAnswer ofCode(final int code)
    {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
