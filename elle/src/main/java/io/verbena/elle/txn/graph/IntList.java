package io.verbena.elle.txn.graph;

import java.util.Arrays;

/** A growing list of ints, unboxed. Not safe for use by several threads. */
public final class IntList
{
    private int[] values = new int[16];
    private int count;

    public void add(final int value)
    {
        if (count == values.length)
        {
            values = Arrays.copyOf(values, 2 * count);
        }
        values[count++] = value;
    }

    public int get(final int index)
    {
        return values[index];
    }

    public void set(final int index, final int value)
    {
        values[index] = value;
    }

    public int last()
    {
        return values[count - 1];
    }

    public int removeLast()
    {
        return values[--count];
    }

    public int count()
    {
        return count;
    }

    public void clear()
    {
        count = 0;
    }

    public IntList copy()
    {
        final IntList copy = new IntList();
        copy.values = Arrays.copyOf(values, values.length);
        copy.count = count;
        return copy;
    }

    public int[] toArray()
    {
        return Arrays.copyOf(values, count);
    }
}
