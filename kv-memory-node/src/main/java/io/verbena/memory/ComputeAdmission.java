package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;

import java.util.HashSet;
import java.util.Set;

/**
 * Who may reach the region of one incarnation of this memory node. The end of a node that ended before this
 * incarnation began is not reported to it any more, so it has to know by itself: a node registered before this
 * incarnation is admitted only if it was a member after this incarnation had registered; a node registered later has
 * a larger incarnation, or one that was a spare when this incarnation registered, and its end will be reported. One
 * thread.
 */
final class ComputeAdmission
{
    private final int incarnation;
    private final Set<PeerIdentity> membersAtStart;

    /**
     * @param incarnation    of this life.
     * @param membersAtStart nodes living at some moment after this life was registered, and the spares of that moment.
     */
    ComputeAdmission(final int incarnation, final Set<PeerIdentity> membersAtStart)
    {
        this.incarnation = incarnation;
        this.membersAtStart = new HashSet<>(membersAtStart);
    }

    /** @return incarnation of this life of the memory node. */
    int incarnation()
    {
        return incarnation;
    }

    /**
     * @param caller who wants in.
     * @return whether it may, unless it was fenced since.
     */
    boolean admits(final PeerIdentity caller)
    {
        return caller.incarnation() > incarnation || membersAtStart.contains(caller);
    }
}
