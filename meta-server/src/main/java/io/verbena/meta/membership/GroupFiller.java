package io.verbena.meta.membership;

import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Has memory nodes come into groups that have fewer members than their tables have copies, some time after that began:
 * one memory node into one group at a time, and none while a group is changing. A memory node that did not come in is
 * tried again when all others were. Nothing of it is on disk: another meta server counts the time anew. One thread.
 */
public final class GroupFiller
{
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A group that has fewer members than its tables have copies. */
    private static final class Lack
    {
        private final long sinceNs;
        private final Set<PeerIdentity> tried = new HashSet<>();
        /** When the last one was tried, or that began. */
        private long triedAtNs;

        private Lack(final long nowNs)
        {
            sinceNs = nowNs;
            triedAtNs = nowNs;
        }
    }

    private final ViewConductor views;
    private final MembershipTable members;
    private final long delayNs;
    private final Map<Integer, Lack> lacks = new HashMap<>();
    private long dueAtNs = Long.MIN_VALUE / 2;

    /**
     * @param views   of all groups.
     * @param members who has a lease.
     * @param delayNs after which a member is replaced; 0: never.
     */
    public GroupFiller(final ViewConductor views, final MembershipTable members, final long delayNs)
    {
        this.views = views;
        this.members = members;
        this.delayNs = delayNs;
    }

    /**
     * Does what is due.
     *
     * @param nowNs the clock now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (0 == delayNs || dueAtNs - nowNs > 0)
        {
            return 0;
        }
        dueAtNs = nowNs + LOOK_NS;
        final List<View> all = views.views();
        boolean isChanging = false;
        lacks.keySet().removeIf((group) -> null == views.view(group));
        for (final View view : all)
        {
            isChanging |= ViewState.ACTIVE != view.state() || view.isFilling();
            if (view.lacksMember())
            {
                lacks.putIfAbsent(view.group(), new Lack(nowNs));
                lacks.get(view.group()).triedAtNs = view.isFilling() ? nowNs : lacks.get(view.group()).triedAtNs;
            }
            else if (ViewState.ACTIVE == view.state())
            {
                lacks.remove(view.group());
            }
        }
        return isChanging ? 0 : enter(all, nowNs);
    }

    private int enter(final List<View> all, final long nowNs)
    {
        for (final View view : all)
        {
            if (lacks.get(view.group()) instanceof final Lack lack && nowNs - lack.triedAtNs >= delayNs &&
                candidate(view, lack, all) instanceof final PeerIdentity candidate)
            {
                lack.triedAtNs = nowNs;
                lack.tried.add(candidate);
                return enter(view, candidate);
            }
        }
        return 0;
    }

    private int enter(final View view, final PeerIdentity candidate)
    {
        try
        {
            views.enter(view.group(), candidate.nodeId());
            return 1;
        }
        catch (final MembershipRefusedException ex)
        {
            // There is no compute node, or what changed since: after the delay it is looked at again.
            return 0;
        }
    }

    /** @return in a failure domain of its own where there is one, then in the fewest groups; null: there is none. */
    private PeerIdentity candidate(final View view, final Lack lack, final List<View> all)
    {
        final List<Member> candidates = members.members().stream().filter((member) -> mayEnter(member, view, lack))
            .toList();
        if (candidates.stream().allMatch((member) -> lack.tried.contains(member.node().identity())))
        {
            lack.tried.clear();
        }
        return candidates.stream().filter((member) -> !lack.tried.contains(member.node().identity()))
            .min(Comparator.comparing((final Member member) -> sharesDomain(member, view))
                .thenComparing((member) -> groups(member, all)))
            .map((member) -> member.node().identity()).orElse(null);
    }

    /** The member that was lost may have a lease still: not one that was not heard of since. */
    private boolean mayEnter(final Member member, final View view, final Lack lack)
    {
        return !member.isCompute() && member.isLive() && member.isConfirmed() &&
            member.leaseEndsNs() - members.leaseEndNs(lack.sinceNs) >= 0 &&
            view.members().stream().noneMatch((each) -> each.nodeId() == member.nodeId());
    }

    private boolean sharesDomain(final Member candidate, final View view)
    {
        final String domain = candidate.node().failureDomain();
        return !FailureDomain.NONE.equals(domain) && view.members().stream()
            .map((each) -> members.member(each.nodeId()))
            .anyMatch((member) -> null != member && domain.equals(member.node().failureDomain()));
    }

    private static long groups(final Member candidate, final List<View> all)
    {
        return all.stream().flatMap((view) -> view.members().stream())
            .filter((member) -> member.nodeId() == candidate.nodeId()).count();
    }
}
