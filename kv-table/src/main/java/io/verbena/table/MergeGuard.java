package io.verbena.table;

/** Protocol steps of merges that mutation checks may leave out, one bit each; production never sets any. */
final class MergeGuard
{
    /** As many slots as will be missing are reserved before the merge is decided. */
    static final int ROOM_FIRST = 1;
    /** The link of the sibling stands before the first slot is frozen. */
    static final int SIBLING_DECIDES = 1 << 1;
    /** No slot is initialised before all slots of both groups are frozen. */
    static final int UNIT_FROZEN = 1 << 2;
    /** A reader takes old words only where no slot of the group was initialised. */
    static final int UNIT_AT_ONCE = 1 << 3;
    /** A word that cannot keep its slot stays in its bucket, or goes to the overflow bucket. */
    static final int OWN_BUCKETS = 1 << 4;
    /** A word's window begins where the lesser depth needs it. */
    static final int WINDOW_BACK = 1 << 5;
    /** Subtables with slots that are not initialised are not merged. */
    static final int WHOLE_BEFORE_MERGE = 1 << 6;
    /** A scan that finds its subtable merged walks that again for what it had not come to. */
    static final int WALK_AGAIN = 1 << 7;
    /** A scan meets the records of a group in an order that no move changes. */
    static final int HASH_ORDER = 1 << 8;
    /** No guard: positions of scans keep few bits of that order, so that tests have records with equal ones. */
    static final int SHORT_ORDER = 1 << 9;
    /** A proposal is taken back only when all have passed the epoch in which it was made. */
    static final int STALE_ONLY = 1 << 10;

    private MergeGuard()
    {
    }
}
