package io.verbena.meta.membership;

import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Which members of groups have ended, before their leases run out: each is asked whether it is there, again and again,
 * and one to which the connection has failed twice in a row is lost, where another member of the view has answered
 * lately. One that is silent may stand still, and its lease decides. Where no member can be reached it is this server
 * that cannot reach anybody. One thread.
 */
final class MemberProbes
{
    private static final int PROBES_PER_LEASE = 25;
    private static final int FAILED_PROBES = 2;
    /** An answer is of now for so many pauses. */
    private static final int PAUSES_OF_AN_ANSWER = 3;

    private final long pauseNs;
    private final Map<PeerIdentity, Integer> failures = new HashMap<>();
    private final Map<PeerIdentity, Long> answeredAtNs = new HashMap<>();
    private long dueAtNs = Long.MIN_VALUE / 2;

    /** @param leaseNs of memory nodes. */
    MemberProbes(final long leaseNs)
    {
        pauseNs = Math.max(1, leaseNs / PROBES_PER_LEASE);
    }

    /** Asks the survivors of all views that have several. @return work done. */
    int poll(final Collection<View> views, final long nowNs, final Consumer<PeerIdentity> probe)
    {
        if (views.isEmpty() || dueAtNs - nowNs > 0)
        {
            return 0;
        }

        dueAtNs = nowNs + pauseNs;
        final Set<PeerIdentity> asked = new HashSet<>();
        views.stream().map(View::survivors).filter((survivors) -> survivors.size() > 1).forEach(asked::addAll);
        asked.forEach(probe);
        return asked.isEmpty() ? 0 : 1;
    }

    /** Takes an answer, or the failure of the connection. */
    void onProbed(final PeerIdentity memoryNode, final boolean isThere, final long nowNs)
    {
        if (isThere)
        {
            failures.remove(memoryNode);
            answeredAtNs.put(memoryNode, nowNs);
        }
        else
        {
            failures.merge(memoryNode, 1, Integer::sum);
        }
    }

    /** Members of a view that have ended: bit i is that of member i. */
    int lostOf(final View view, final long nowNs)
    {
        if (failures.isEmpty() || view.survivors().stream().noneMatch((member) -> hasAnswered(member, nowNs)))
        {
            return 0;
        }

        int lost = 0;

        for (int member = 0; member < view.members().size(); member++)
        {
            lost |= failures.getOrDefault(view.members().get(member), 0) >= FAILED_PROBES ? 1 << member : 0;
        }

        return lost;
    }

    private boolean hasAnswered(final PeerIdentity member, final long nowNs)
    {
        final Long answered = answeredAtNs.get(member);
        return null != answered && !failures.containsKey(member) &&
            nowNs - answered <= PAUSES_OF_AN_ANSWER * pauseNs;
    }

    /** Forgets those that have no lease. */
    void retain(final Predicate<PeerIdentity> isLive)
    {
        failures.keySet().removeIf(isLive.negate());
        answeredAtNs.keySet().removeIf(isLive.negate());
    }
}
