package io.verbena.meta.membership;

/** A request that the membership rules refuse; the message is for the node that asked. */
public final class MembershipRefusedException extends RuntimeException
{
    private static final long serialVersionUID = 1L;

    /** Why it was refused, for whoever turns it into an answer. */
    public enum Reason
    {
        /** The registration has no lease, or never was. */
        UNKNOWN_NODE,
        /** No room for more nodes. */
        EXHAUSTED,
        /** Not now. */
        TRY_LATER,
        /** The request contradicts what the server knows. */
        IMPOSSIBLE
    }

    private final Reason reason;

    /**
     * @param reason  why.
     * @param message what was asked, why not, what to do.
     */
    public MembershipRefusedException(final Reason reason, final String message)
    {
        super(message, null, false, false);
        this.reason = reason;
    }

    /** @return why it was refused. */
    public Reason reason()
    {
        return reason;
    }
}
