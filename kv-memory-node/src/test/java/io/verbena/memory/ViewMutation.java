package io.verbena.memory;

import io.verbena.meta.membership.ViewConductor;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.test.Mutation;

import java.util.List;

import static io.verbena.test.Mutation.calling;
import static io.verbena.test.Mutation.doingNothing;
import static io.verbena.test.Mutation.returning;
import static io.verbena.test.Mutation.type;

/**
 * Changes of views without one of their checks. The table in {@code docs/protocol/views-tests.md} names what each
 * prevents and the test that shows it.
 */
public enum ViewMutation
{
    /** Survivors are made equal before they have closed. */
    HAVE_CLOSED(returning(ViewConductor.class, "haveClosed", true)),
    /** Survivors are made equal before compute nodes have left. */
    HAVE_LEFT(returning(ViewConductor.class, "haveLeft", true)),
    /** A view goes on with members that have no lease. */
    MEMBER_LOST(calling(ViewConductor.class, "lostOf", ViewMutation.class, "lostBefore")),
    /** Who is named may have ended. */
    RECONCILER_LIVES(returning(ViewConductor.class, "lacksReconciler", false)),
    /** What was confirmed for an earlier attempt counts for this one. */
    CONFIRM_AGAIN(doingNothing(ViewConductor.class, "forgetConfirmed")),
    /** A member is taken back that has lost what it had. */
    MEMORY_KEPT(returning(type("io.verbena.meta.membership.ReturningMembers"), "hasAll", true)),
    /** A member is taken back that has its memory since the incarnation that it has now. */
    SINCE_THE_VIEW(calling(
        type("io.verbena.meta.membership.ReturningMembers"), "hasAll", ViewMutation.class, "hasSaidSo")),
    /** No member is taken back. */
    TAKEN_BACK(returning(type("io.verbena.meta.membership.ReturningMembers"), "mayReturn", false)),
    /** A memory node takes smaller numbers, too. */
    LARGER_COUNTS(returning(MemoryViews.class, "isBehind", false)),
    /** A memory node lets in whoever names an earlier view, or none. */
    NAMED_VIEW(returning(MemoryViews.class, "mayHaveKey", true)),
    /** A view is closed without closing its keys. */
    CLOSE_KEYS(returning(MemoryViews.class, "endsView", false)),
    /** An attempt is over without closing its key. */
    CLOSE_ATTEMPT(returning(MemoryViews.class, "endsAttempt", false)),
    /** Who comes in is not asked to close the view, and gets no copies. */
    ENTERING_COPIED(calling(View.class, "closers", ViewMutation.class, "survivorsOnly")),
    /** Who comes in may have ended. */
    ENTERING_LIVES(returning(ViewConductor.class, "hasLostEntering", false)),
    /** A node names a view that it has not left. */
    LEFT_FIRST(calling(View.class, "left", ViewMutation.class, "leftEarly"));

    private final Mutation mutation;

    ViewMutation(final Mutation mutation)
    {
        this.mutation = mutation;
    }

    Mutation.Opened open()
    {
        return mutation.open();
    }

    public static int lostBefore(final ViewConductor self, final View view)
    {
        return view.lost();
    }

    public static boolean hasSaidSo(final PeerIdentity before, final int since)
    {
        return since < Integer.MAX_VALUE;
    }

    public static List<PeerIdentity> survivorsOnly(final View self)
    {
        return self.survivors();
    }

    public static long leftEarly(final View self)
    {
        return self.number();
    }
}
