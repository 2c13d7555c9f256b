package io.verbena.protocol.message;

/** How a control call ended. The codes are part of the message format. */
public enum ControlStatus
{
    /** Done. */
    OK(0),
    /** The node is not registered, or its lease ran out: stop using the store, and register anew. */
    UNKNOWN_NODE(1),
    /** No table has this name. */
    NO_SUCH_TABLE(2),
    /** A table has this name already. */
    TABLE_EXISTS(3),
    /** No free chunks, node numbers or writer numbers. */
    EXHAUSTED(4),
    /** The request makes no sense; the text says what. */
    INVALID_REQUEST(5),
    /** The service cannot answer now; try again later. */
    UNAVAILABLE(6),
    /** The connection does not act for the node that the request names, or for one that may do this. Counted. */
    FORBIDDEN(7),
    /** The user for whom it would be done has as many as it may. */
    OVER_QUOTA(8),
    /** The server does not know this message or its version; never sent, this side's view of a refusal. */
    REFUSED(100),
    /** No answer in time; whether it was done is unknown. Never sent. */
    TIMED_OUT(101),
    /** The connection failed; whether it was done is unknown. Never sent. */
    PEER_FAILED(102),
    /** The answer cannot be read by this version. Never sent. */
    MALFORMED_REPLY(103);

    private static final int LAST_SENT_CODE = 8;
    private static final ControlStatus[] VALUES = values();

    private final int code;

    ControlStatus(final int code)
    {
        this.code = code;
    }

    /** @return number in messages. */
    public int code()
    {
        return code;
    }

    /** @return whether the call may have been carried out, and no answer says so. */
    public boolean isUnknown()
    {
        return this == TIMED_OUT || this == PEER_FAILED || this == MALFORMED_REPLY;
    }

    /**
     * @param code number in a message.
     * @return the status, or {@link #MALFORMED_REPLY} when no status that is sent has this number.
     */
    public static ControlStatus ofCode(final int code)
    {
        return code >= 0 && code <= LAST_SENT_CODE ? VALUES[code] : MALFORMED_REPLY;
    }
}
