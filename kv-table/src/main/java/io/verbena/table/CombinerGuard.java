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
    /** A leader answers those only that waited before it had read anything. */
    static final int ANSWERED_IN_TIME = 1 << 4;
    /** Only a leader of which it is certain what became of it answers. */
    static final int ANSWERED_BY_CERTAINTY = 1 << 5;
    /** Who expects the version that a leader left or found is not answered. */
    static final int ANSWERED_BY_VERSION = 1 << 6;
    /** Who does not need what a leader waits for, memory or a split, does not wait behind it. */
    static final int GOES_PAST = 1 << 7;

    private CombinerGuard()
    {
    }
}
