package io.verbena.elle.history;

import java.util.AbstractList;
import java.util.RandomAccess;

/**
 * An unmodifiable list that may hold nulls, in one object and one array: a history of transactions has millions of
 * them. Its hash is computed once, because models and checkers look lists up often.
 */
final class ValueList extends AbstractList<Object> implements RandomAccess
{
    private final Object[] values;
    private int hash;

    ValueList(final Object[] values)
    {
        this.values = values;
    }

    @Override
    public Object get(final int index)
    {
        return values[index];
    }

    @Override
    public int size()
    {
        return values.length;
    }

    @Override
    public int hashCode()
    {
        // A race between threads computes the same number twice; the list never changes.
        int h = hash;
        if (h == 0)
        {
            h = super.hashCode();
            hash = h;
        }
        return h;
    }

    @Override
    public boolean equals(final Object other)
    {
        if (other == this)
        {
            return true;
        }
        if (other instanceof ValueList list && list.hashCode() != hashCode())
        {
            return false;
        }
        return super.equals(other);
    }
}
