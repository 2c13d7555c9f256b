package io.verbena.table.expiry;

/** On which condition a record gets another deadline; small integers. A record without one lives for ever. */
public final class ExpiryCondition
{
    /** Always. */
    public static final int ALWAYS = 0;
    /** Only if it has none. */
    public static final int IF_NONE = 1;
    /** Only if it has one. */
    public static final int IF_SOME = 2;
    /** Only if the new one is later. */
    public static final int IF_LATER = 3;
    /** Only if the new one is earlier. */
    public static final int IF_EARLIER = 4;
    /** How many there are. */
    public static final int COUNT = 5;

    private ExpiryCondition()
    {
    }

    /** @return whether a condition holds of a record's deadline and the one it is to get; 0 is none. */
    public static boolean isMet(final int condition, final long beforeMs, final long newMs)
    {
        return switch (condition)
        {
            case IF_NONE -> beforeMs == 0;
            case IF_SOME -> beforeMs != 0;
            case IF_LATER -> end(newMs) > end(beforeMs);
            case IF_EARLIER -> end(newMs) < end(beforeMs);
            default -> true;
        };
    }

    private static long end(final long deadlineMs)
    {
        return deadlineMs == 0 ? Long.MAX_VALUE : deadlineMs;
    }
}
