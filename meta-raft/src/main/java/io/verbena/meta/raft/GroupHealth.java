package io.verbena.meta.raft;

import java.util.Map;

/** Since when a member has known no leader, or has been elected without a lease, and what is wrong then. One thread. */
public final class GroupHealth
{
    private final String member;
    private long leaderSeenNs;
    private long leaseSeenNs;

    /**
     * @param member name of this one.
     * @param nowNs  time now; until then all was well.
     */
    public GroupHealth(final String member, final long nowNs)
    {
        this.member = member;
        leaderSeenNs = nowNs;
        leaseSeenNs = nowNs;
    }

    /**
     * Takes what is so now.
     *
     * @param nowNs       time now.
     * @param stat        of this member.
     * @param leaseLeftNs for how long it may answer as the leader; 0 where it may not.
     * @param logFailure  why it takes part no more; empty while its log can be written.
     * @param isRemoved   whether the group has removed it.
     * @return what is wrong, see {@link GroupProblem#of}. A new map.
     */
    public Map<GroupProblem, String> problems(
        final long nowNs, final GroupStat stat, final long leaseLeftNs, final String logFailure,
        final boolean isRemoved)
    {
        leaderSeenNs = stat.leader().isEmpty() ? leaderSeenNs : nowNs;
        leaseSeenNs = member.equals(stat.leader()) && 0 == leaseLeftNs ? leaseSeenNs : nowNs;
        return GroupProblem.of(stat, nowNs - leaderSeenNs, nowNs - leaseSeenNs, logFailure, isRemoved);
    }
}
