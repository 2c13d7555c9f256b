package io.verbena.table;

/** Steps of the {@link Combiner} that mutation checks may leave out, one bit each; production never sets any. */
final class CombinerGuard
{
    /** Members of a batch are told with the outcome of its compare-and-swap, not when that is posted. */
    static final int MEMBERS_TOLD_LAST = 1;
    /** A batch holds operations of one kind. */
    static final int ONE_KIND = 1 << 1;
    /** A member that is told "unknown" is remembered, also before its batch was posted. */
    static final int MEMBER_NOTED = 1 << 2;
    /** A batch that is done again goes without those of its members that were told "unknown". */
    static final int AGAIN_WITHOUT_TOLD = 1 << 3;

    private CombinerGuard()
    {
    }
}
