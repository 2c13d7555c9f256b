package io.verbena.rdma.sim;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongArrayList;

/** States and what follows them, to tell how many different schedules an exploration has covered. */
final class StateGraph
{
    private static final long UNKNOWN = -1;
    private static final long ON_PATH = -2;

    private final Long2ObjectHashMap<LongArrayList> followers = new Long2ObjectHashMap<>();
    private final Long2LongHashMap counts = new Long2LongHashMap(UNKNOWN);

    void add(final long from, final long to)
    {
        followers.computeIfAbsent(from, state -> new LongArrayList()).addLong(to);
    }

    /** Paths from a state to where nothing follows; {@link Long#MAX_VALUE} when there are more, or endless ones. */
    long paths(final long from)
    {
        final LongArrayList next = followers.get(from);
        if (next == null)
        {
            return 1;
        }
        final long known = counts.get(from);
        if (known == ON_PATH)
        {
            return Long.MAX_VALUE;
        }
        if (known != UNKNOWN)
        {
            return known;
        }
        counts.put(from, ON_PATH);
        long sum = 0;
        for (int i = 0; i < next.size(); i++)
        {
            final long more = paths(next.getLong(i));
            sum = sum > Long.MAX_VALUE - more ? Long.MAX_VALUE : sum + more;
        }
        counts.put(from, sum);
        return sum;
    }
}
