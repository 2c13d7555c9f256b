package io.verbena.protocol.remote;

import org.agrona.collections.Long2LongHashMap;

/** Scans and counts under way, by connection: one client's do not wait ahead of all others'. One thread. */
final class ScanShares
{
    private final int most;
    /** None where there is none. */
    private final Long2LongHashMap underWay = new Long2LongHashMap(0);

    /** @param most of one connection at once. */
    ScanShares(final int most)
    {
        this.most = most;
    }

    /** Takes one; false when the connection has as many as it may. */
    boolean take(final long connection)
    {
        final long count = underWay.get(connection);
        if (count >= most)
        {
            return false;
        }
        underWay.put(connection, count + 1);
        return true;
    }

    /** Gives back one that was taken. */
    void giveBack(final long connection)
    {
        final long count = underWay.get(connection);
        if (1 == count)
        {
            underWay.remove(connection);
        }
        else
        {
            underWay.put(connection, count - 1);
        }
    }
}
