package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.IntList;

import java.util.List;
import java.util.Objects;

/** The order of the elements of one key, as the longest trustworthy read of it shows. */
final class ListOrder
{
    private static final int NOBODY_YET = -1;

    private final IntList versions = new IntList();
    private List<?> list = List.of();
    private int reader = NOBODY_YET;
    private int firstAborted = Integer.MAX_VALUE;

    int count()
    {
        return versions.count();
    }

    int version(final int position)
    {
        return versions.get(position);
    }

    List<?> list()
    {
        return list;
    }

    /** The transaction that read the list. */
    int reader()
    {
        return reader;
    }

    /** Position of the first element whose transaction failed, or beyond all positions. */
    int firstAborted()
    {
        return firstAborted;
    }

    /** How many elements the list shares with this order before the two differ or one ends. */
    int commonPrefix(final List<?> other)
    {
        if (other == list)
        {
            return list.size();
        }
        final int end = Math.min(list.size(), other.size());
        int i = 0;
        while (i < end && Objects.equals(other.get(i), list.get(i)))
        {
            i++;
        }
        return i;
    }

    /** Goes on with further elements of a longer list. */
    void extend(final IntList further, final List<?> longer, final int txn, final Transactions transactions)
    {
        for (int i = 0; i < further.count(); i++)
        {
            if (firstAborted == Integer.MAX_VALUE && transactions.isAborted(further.get(i)))
            {
                firstAborted = versions.count();
            }
            versions.add(further.get(i));
        }
        list = longer;
        reader = txn;
    }

    void clear()
    {
        versions.clear();
        list = List.of();
        reader = NOBODY_YET;
        firstAborted = Integer.MAX_VALUE;
    }
}
