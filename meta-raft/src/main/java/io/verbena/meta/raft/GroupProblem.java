package io.verbena.meta.raft;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Why a group of meta servers is not healthy, as one of its members sees it: each reason has a metric and a text. */
public enum GroupProblem
{
    /** Nobody leads, for so long that it is not on its way to a leader. */
    NO_LEADER,
    /** This member is elected, and for so long without a lease that it is not on its way to one: nobody may answer. */
    NO_LEASE,
    /** The leader does not reach a member. */
    UNREACHABLE,
    /** A member answers the leader, and its log is far behind. */
    BEHIND,
    /** This member cannot write its log, or cannot apply it: its process ends. */
    LOG_FAILED,
    /** The group has removed this member. */
    REMOVED;

    /** Entries of the log: by so many a member may be behind, as one is that was just started again. */
    static final long MOST_BEHIND = 1_000;
    /** A group that has no leader, or no lease, for so long is not on its way to one. */
    private static final long NO_LEADER_NS = TimeUnit.SECONDS.toNanos(5);

    /**
     * @param stat         of this member.
     * @param leaderlessNs for how long it has known no leader; 0 while it knows one.
     * @param leaselessNs  for how long it has been elected without a lease; 0 while it has one, or follows.
     * @param logFailure   why it takes part no more; empty while its log can be written.
     * @param isRemoved    whether the group has removed it.
     * @return what is wrong, each with one line that says what to do; empty when all is well. A new map.
     */
    public static Map<GroupProblem, String> of(
        final GroupStat stat, final long leaderlessNs, final long leaselessNs, final String logFailure,
        final boolean isRemoved)
    {
        final Map<GroupProblem, String> problems = new EnumMap<>(GroupProblem.class);
        // Until it is added it is well as long as nobody counts on it.
        if (leaderlessNs >= NO_LEADER_NS && stat.members() > 0)
        {
            problems.put(NO_LEADER, "no leader for " + TimeUnit.NANOSECONDS.toSeconds(leaderlessNs) +
                " s: fewer than " + (stat.members() / 2 + 1) + " of " + stat.members() +
                " meta servers reach each other; start the others");
        }
        if (leaselessNs >= NO_LEADER_NS)
        {
            problems.put(NO_LEASE, "a leader that may not answer for " + TimeUnit.NANOSECONDS.toSeconds(leaselessNs) +
                " s: no majority of " + stat.members() + " meta servers confirms its leadership; see whether their " +
                "disks are slow, and of a new group start member 1");
        }
        if (!stat.unreachable().isEmpty())
        {
            problems.put(UNREACHABLE, String.join(", ", stat.unreachable()));
        }
        if (!stat.behind().isEmpty())
        {
            problems.put(BEHIND, String.join(", ", stat.behind()));
        }
        if (!logFailure.isEmpty())
        {
            problems.put(LOG_FAILED, logFailure);
        }
        if (isRemoved)
        {
            problems.put(REMOVED, "this member was removed from its group");
        }
        return problems;
    }
}
