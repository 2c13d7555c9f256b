package io.verbena.elle.linear;

import java.util.Arrays;

/**
 * The configurations a search has been to: a hash set of 128-bit fingerprints.
 *
 * <p>Two configurations may share a fingerprint with a probability of about n²/2^129, for ten million of them less
 * than 10^-24; the search would then miss an order and might call a good history bad, but never a bad one good.
 */
final class StateSet
{
    private static final int INITIAL_CAPACITY = 1 << 8;
    private static final int MAX_CAPACITY = 1 << 29;

    private final Budget budget;
    private long[] entries = new long[2 * INITIAL_CAPACITY];
    private int capacity = INITIAL_CAPACITY;
    private long reserved;
    private int count;

    StateSet(final Budget budget)
    {
        this.budget = budget;
    }

    /**
     * Whether another fingerprint fits.
     *
     * @return false if memory is used up; nothing was changed then.
     */
    boolean makeRoom()
    {
        // At most five eighths full, so that probes stay short.
        if (count < capacity / 8 * 5)
        {
            return true;
        }
        if (capacity == MAX_CAPACITY || !budget.reserve(capacity))
        {
            return false;
        }
        reserved += capacity;
        final long[] old = entries;
        capacity *= 2;
        entries = new long[2 * capacity];
        count = 0;
        for (int i = 0; i < old.length; i += 2)
        {
            if ((old[i] | old[i + 1]) != 0)
            {
                add(old[i], old[i + 1]);
            }
        }
        return true;
    }

    /**
     * Adds a fingerprint; {@link #makeRoom()} was called before.
     *
     * @return false if it was there already.
     */
    boolean add(final long high, final long low)
    {
        final long first = (high | low) == 0 ? 1 : high; // two zeros mark an empty entry
        int slot = (int)low & capacity - 1;
        while (true)
        {
            final long a = entries[2 * slot];
            final long b = entries[2 * slot + 1];
            if ((a | b) == 0)
            {
                entries[2 * slot] = first;
                entries[2 * slot + 1] = low;
                count++;
                return true;
            }
            if (a == first && b == low)
            {
                return false;
            }
            slot = slot + 1 & capacity - 1;
        }
    }

    int count()
    {
        return count;
    }

    /** Empties the set and gives its memory back, so that the next search starts small. */
    void clear()
    {
        if (capacity > INITIAL_CAPACITY)
        {
            budget.release(reserved);
            reserved = 0;
            capacity = INITIAL_CAPACITY;
            entries = new long[2 * INITIAL_CAPACITY];
        }
        else if (count > 0)
        {
            Arrays.fill(entries, 0);
        }
        count = 0;
    }
}
