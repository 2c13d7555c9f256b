package io.verbena.memory;

import io.verbena.protocol.message.ChunkRun;
import io.verbena.raas.identity.PeerIdentity;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What was answered to which lease, for requests that come again because their answer was lost. One thread. */
final class LeaseAnswers
{
    /** Answers kept for each node; it has fewer requests under way. */
    private static final int MAX_ANSWERS = 64;

    private final Map<PeerIdentity, Map<Long, List<ChunkRun>>> byOwner = new HashMap<>();

    /** @return the answer, or null when there was none. */
    List<ChunkRun> get(final PeerIdentity owner, final long requestId)
    {
        final Map<Long, List<ChunkRun>> answered = byOwner.get(owner);
        return null == answered ? null : answered.get(requestId);
    }

    /** Keeps an answer, in place of the oldest one; not when the request will not come again, as its id 0 says. */
    void put(final PeerIdentity owner, final long requestId, final List<ChunkRun> runs)
    {
        if (0 != requestId)
        {
            final Map<Long, List<ChunkRun>> answered =
                byOwner.computeIfAbsent(owner, (key) -> new LinkedHashMap<>());
            answered.put(requestId, runs);

            if (answered.size() > MAX_ANSWERS)
            {
                answered.remove(answered.keySet().iterator().next());
            }
        }
    }

    /** Forgets those of nodes that ended. */
    void forget(final Predicate<PeerIdentity> hasEnded)
    {
        byOwner.keySet().removeIf(hasEnded);
    }

    /** @return who has answers here; a view. */
    Set<PeerIdentity> owners()
    {
        return byOwner.keySet();
    }
}
