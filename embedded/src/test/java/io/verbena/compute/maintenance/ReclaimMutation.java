package io.verbena.compute.maintenance;

import static io.verbena.test.Mutation.calling;
import static io.verbena.test.Mutation.doingNothing;
import static io.verbena.test.Mutation.field;
import static io.verbena.test.Mutation.returning;
import static io.verbena.test.Mutation.type;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.memory.MemoryLink;
import io.verbena.compute.session.RequestNumbers;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.allocation.ChunkWatch;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.IndexWalk;
import io.verbena.table.check.OrphanScan;
import io.verbena.test.Mutation;

/**
 * Reclamation without one of its steps. The table in {@code docs/protocol/reclamation-tests.md} names what each step
 * prevents and the test that shows it.
 */
public enum ReclaimMutation
{
    /** After the claim and before the scan, a reaper does not wait until every node has let go of the closed chunks. */
    WAITS(returning(Reclaimer.class, "settledEpoch", ReclaimMutation.PASSED)),
    /** An epoch is passed before a lookup of the chunk headers that began in it is done. */
    LOOK_BEFORE_PASS(returning(MemoryLink.class, "passableEpoch", Long.MAX_VALUE)),
    /** Blocks of the dead are taken over without killing their tentative words. */
    KILL_TENTATIVE(doingNothing(OrphanScan.class, "noteTentative")),
    /** The headers are not read again between two rounds. */
    FRESH_LOOK(returning(Reclaimer.class, "nextEpoch", 0L)),
    /** An epoch is passed before tables dropped before it are closed. */
    CLOSE_DROPPED(returning(CatalogWatch.class, "epoch", Long.MAX_VALUE)),
    /** The index of a dropped table is returned before every node has closed it. */
    INDEX_WAIT(returning(IndexSweep.class, "returnEpoch", ReclaimMutation.PASSED)
        .and(returning(type("io.verbena.compute.NodeSession"), "returnEpoch", ReclaimMutation.PASSED))),
    /** What is held in closed chunks is held on to. */
    LET_GO(doingNothing(ChunkWatch.class, "letGo")),
    /** A node does not register anew when a memory node was restored from a checkpoint. */
    RESTORED(returning(ChunkWatch.class, "isRestoredSince", false)),
    /** A chunk that a request of this node under way has leased is taken for one that nobody uses. */
    UNDER_WAY(returning(RequestNumbers.class, "isUnderWay", false)),
    /** What splits have made is taken for unused, before a descriptor names it. */
    FOLLOW_LINKS(doingNothing(IndexWalk.class, "follow")),
    /** An index is returned by the newest lease of all headers that were read, not by its own. */
    SEEN_LEASE(calling(IndexSweep.class, "leaseOf", ReclaimMutation.class, "newestLease"));

    /** An epoch that all have passed. */
    private static final long PASSED = -EpochTracker.REUSE_DISTANCE;

    private final Mutation mutation;

    ReclaimMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    public Mutation mutation()
    {
        return mutation;
    }

    static long newestLease(final IndexSweep sweep, final int index)
    {
        return field(sweep, "view", ChunkView.class).newestLease();
    }
}
