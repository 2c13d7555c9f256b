package io.verbena.compute.session;

import org.agrona.collections.LongHashSet;

/**
 * Numbers of requests that may be made again, unique in one registration of a node; and which of those for indexes are
 * under way: what they lease is known to this node alone. Owned by the node's thread.
 */
public final class RequestNumbers
{
    private final LongHashSet underWay = new LongHashSet();
    private long last;

    /** @return 1, 2, 3 and so on. */
    public long next()
    {
        return ++last;
    }

    /** @return the next one, under way until {@link #end}. */
    public long begin()
    {
        underWay.add(++last);
        return last;
    }

    /** Says that what a request leased is made known, goes back by its lease, or can be found by links. */
    public void end(final long number)
    {
        underWay.remove(number);
    }

    public boolean isUnderWay(final long number)
    {
        return underWay.contains(number);
    }
}
