package io.verbena.elle.txn;

import java.util.Arrays;

/** A growing list of ints, unboxed. Not safe for use by several threads. */
final class IntList
{
    private int[] values = new int[16];
    private int count;

    void add(final int value)
    {
        if (count == values.length)
        {
            values = Arrays.copyOf(values, 2 * count);
        }
        values[count++] = value;
    }

    int get(final int index)
    {
        return values[index];
    }

    void set(final int index, final int value)
    {
        values[index] = value;
    }

    int last()
    {
        return values[count - 1];
    }

    int removeLast()
    {
        return values[--count];
    }

    int count()
    {
        return count;
    }

    void clear()
    {
        count = 0;
    }

    IntList copy()
    {
        final IntList copy = new IntList();
        copy.values = Arrays.copyOf(values, values.length);
        copy.count = count;
        return copy;
    }

    int[] toArray()
    {
        return Arrays.copyOf(values, count);
    }
}
