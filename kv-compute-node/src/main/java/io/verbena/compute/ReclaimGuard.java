package io.verbena.compute;

/**
 * Steps of reclamation that mutation checks may leave out, one bit each; production never sets any. What each is for
 * stands in {@code docs/protocol/reclamation.md}.
 */
final class ReclaimGuard
{
    /** Waiting, after the claim and before the scan, until every node has let go of the closed chunks. */
    static final int WAITS = 1;
    /** Passing an epoch only when a look at the chunk headers that began in it is done. */
    static final int LOOK_BEFORE_PASS = 1 << 1;
    /** Killing tentative words of the dead before their blocks are taken over. */
    static final int KILL_TENTATIVE = 1 << 2;
    /** Looking at the headers again between two rounds. */
    static final int FRESH_LOOK = 1 << 3;
    /** Passing an epoch only when tables dropped before it are closed. */
    static final int CLOSE_DROPPED = 1 << 4;
    /** Returning the index of a dropped table only when every node has closed it. */
    static final int INDEX_WAIT = 1 << 5;

    /** Letting go of what is held in closed chunks. */
    static final int LET_GO = 1 << 6;
    /** No guard but a fault: looks at chunk headers are made 20 ms late, 400 ms if epochs do not wait for them. */
    static final int SLOW_LOOKS = 1 << 7;
    /** Registering anew when a memory node was restored from a checkpoint. */
    static final int RESTORED = 1 << 8;

    /** What a request of this node that is under way has leased is no chunk that nobody uses. */
    static final int UNDER_WAY = 1 << 11;
    /** What splits have made is in use, before a descriptor names it. */
    static final int FOLLOW_LINKS = 1 << 12;
    /** An index is returned by the lease that its own header said. */
    static final int SEEN_LEASE = 1 << 13;

    /** No guard: subtables of tables that grow are as long as a chunk. Without it few records make many splits. */
    static final int WHOLE_CHUNKS = 1 << 9;

    /** No guard but a fault: what became of tables is asked for 100 ms late, and the answer taken 100 ms later. */
    static final int SLOW_CATALOG = 1 << 10;

    private ReclaimGuard()
    {
    }
}
