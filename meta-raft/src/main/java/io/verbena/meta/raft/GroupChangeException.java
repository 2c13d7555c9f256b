package io.verbena.meta.raft;

/** The members of a group cannot be asked or changed; the message is one line that says what to do. */
public final class GroupChangeException extends RuntimeException
{
    /** Why. */
    public enum Category
    {
        /** What was asked for makes no sense for this group as it is, or is not safe. */
        REFUSED,
        /** Nothing was changed: there is no leader, or it did not answer at all. */
        UNAVAILABLE,
        /** It was asked for, and whether it is done is not known: list the members. */
        OUTCOME_UNKNOWN
    }

    private static final long serialVersionUID = 1;

    /** Why. */
    private final Category category;

    GroupChangeException(final Category category, final String message, final Throwable cause)
    {
        super(message, cause);
        this.category = category;
    }

    /** @return why. */
    public Category category()
    {
        return category;
    }

    /** First line of what was at the bottom of it. */
    static String reason(final Exception ex)
    {
        Throwable last = ex;
        while (null != last.getCause())
        {
            last = last.getCause();
        }
        return String.valueOf(last.getMessage()).lines().findFirst().orElse(last.toString());
    }
}
