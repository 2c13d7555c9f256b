package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.IntList;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Numbers the pairs of a key and a value from 0, by open addressing, without an object per pair.
 */
final class VersionIndex
{
    static final int ABSENT = -1;

    private int[] table = new int[64];
    private final IntList keys = new IntList();
    private final List<Object> values = new ArrayList<>();

    VersionIndex()
    {
        Arrays.fill(table, ABSENT);
    }

    int count()
    {
        return keys.count();
    }

    int keyOf(final int version)
    {
        return keys.get(version);
    }

    Object valueOf(final int version)
    {
        return values.get(version);
    }

    /** The number of the pair, or {@link #ABSENT}. */
    int find(final int key, final Object value)
    {
        return table[slot(key, value)];
    }

    /** Gives the pair, which must be absent, the next number. */
    int add(final int key, final Object value)
    {
        if (3 * (count() + 1) > 2 * table.length)
        {
            grow();
        }
        final int version = count();
        table[slot(key, value)] = version;
        keys.add(key);
        values.add(value);
        return version;
    }

    private int slot(final int key, final Object value)
    {
        final int mask = table.length - 1;
        int slot = mix(key, value) & mask;
        while (table[slot] != ABSENT && !(keyOf(table[slot]) == key && Objects.equals(valueOf(table[slot]), value)))
        {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow()
    {
        table = new int[2 * table.length];
        Arrays.fill(table, ABSENT);
        for (int version = 0; version < count(); version++)
        {
            table[slot(keyOf(version), valueOf(version))] = version;
        }
    }

    private static int mix(final int key, final Object value)
    {
        final int hash = (key * 0x9E3779B9 + Objects.hashCode(value)) * 0x85EBCA6B;
        return hash ^ hash >>> 15;
    }
}
