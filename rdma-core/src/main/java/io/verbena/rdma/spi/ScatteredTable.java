package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import java.util.Arrays;
import java.util.function.IntSupplier;

/**
 * Objects under random numbers, at most half as many as there are slots, so that a lookup ends soon. A change makes a
 * new array, so lookups need no lock.
 *
 * @param <T> of the objects.
 */
abstract class ScatteredTable<T>
{
    private static final int MIN_SLOTS = 32;

    private final IntSupplier random;
    private final int maxObjects;
    private final String name;
    private volatile Object[] slots = new Object[MIN_SLOTS];
    private int count;

    /**
     * @param random     where numbers come from.
     * @param maxObjects most objects at once.
     * @param name       of the objects, for messages.
     */
    ScatteredTable(final IntSupplier random, final int maxObjects, final String name)
    {
        this.random = random;
        this.maxObjects = maxObjects;
        this.name = name;
    }

    /** The number of an object. */
    abstract int number(T object);

    /** The object with a number, or null. Any thread. */
    @SuppressWarnings("unchecked")
    final T at(final int number)
    {
        final Object[] table = slots;
        final int mask = table.length - 1;
        int slot = number & mask;
        while (table[slot] != null && number((T)table[slot]) != number)
        {
            slot = slot + 1 & mask;
        }
        return (T)table[slot];
    }

    /** A number of so many bits that is neither 0 nor in use. */
    final int freeNumber(final int bits)
    {
        if (count == maxObjects)
        {
            throw new RdmaException("too many " + name + ": open=" + count + ", close some first");
        }
        int number;
        do
        {
            number = random.getAsInt() & (1 << bits) - 1;
        }
        while (number == 0 || at(number) != null);
        return number;
    }

    /** Refuses an object whose number is in use. */
    final void checkUnknown(final T object)
    {
        if (at(number(object)) != null)
        {
            throw new RdmaException("two " + name + " with one key, of tables that do not belong together: " + object);
        }
    }

    final void put(final T object)
    {
        count++;
        final Object[] table = new Object[Math.max(slots.length, Integer.highestOneBit(count) * 4)];
        Arrays.stream(slots).forEach((other) -> insert(table, other));
        insert(table, object);
        slots = table;
    }

    /** Takes an object out; false when it is not there. */
    final boolean take(final T object)
    {
        final boolean isThere = at(number(object)) == object;
        if (isThere)
        {
            count--;
            final Object[] table = new Object[slots.length];
            Arrays.stream(slots).filter((other) -> other != object).forEach((other) -> insert(table, other));
            slots = table;
        }
        return isThere;
    }

    /** All objects, in no order; with holes. */
    final Object[] all()
    {
        return slots;
    }

    @SuppressWarnings("unchecked")
    private void insert(final Object[] table, final Object object)
    {
        if (object != null)
        {
            final int mask = table.length - 1;
            int slot = number((T)object) & mask;
            while (table[slot] != null)
            {
                slot = slot + 1 & mask;
            }
            table[slot] = object;
        }
    }
}
