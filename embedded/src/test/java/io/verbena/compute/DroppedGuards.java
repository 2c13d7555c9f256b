package io.verbena.compute;

/** Lets tests of a whole cluster leave out steps of reclamation: mutation checks. */
public final class DroppedGuards
{
    public static final int WAITS = ReclaimGuard.WAITS;
    public static final int LET_GO = ReclaimGuard.LET_GO;
    public static final int SLOW_LOOKS = ReclaimGuard.SLOW_LOOKS;
    public static final int LOOK_BEFORE_PASS = ReclaimGuard.LOOK_BEFORE_PASS;
    public static final int KILL_TENTATIVE = ReclaimGuard.KILL_TENTATIVE;
    public static final int FRESH_LOOK = ReclaimGuard.FRESH_LOOK;
    public static final int CLOSE_DROPPED = ReclaimGuard.CLOSE_DROPPED;
    public static final int INDEX_WAIT = ReclaimGuard.INDEX_WAIT;
    public static final int RESTORED = ReclaimGuard.RESTORED;
    public static final int UNDER_WAY = ReclaimGuard.UNDER_WAY;
    public static final int FOLLOW_LINKS = ReclaimGuard.FOLLOW_LINKS;
    public static final int SEEN_LEASE = ReclaimGuard.SEEN_LEASE;
    public static final int SHORT_SUBTABLES = ReclaimGuard.WHOLE_CHUNKS;

    public static final int SLOW_CATALOG = ReclaimGuard.SLOW_CATALOG;

    private DroppedGuards()
    {
    }

    /** Leaves the steps out in a node made with this configuration. */
    public static ComputeNodeConfiguration drop(final ComputeNodeConfiguration configuration, final int guards)
    {
        return configuration.dropGuards(guards);
    }
}
