package io.verbena.elle.txn.generate;

import io.verbena.elle.txn.graph.IntList;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;

/**
 * A store of lists and registers in memory that remembers how long each list was after each transaction, so that old
 * states can be read. A register is the last element of its list. Not safe for use by several threads.
 */
final class SimulatedTxnStore
{
    private final List<List<Object>> lists = new ArrayList<>();
    private final List<IntList> writtenAt = new ArrayList<>();
    private int now;

    /** Another store in the same state. */
    SimulatedTxnStore copy()
    {
        final SimulatedTxnStore copy = new SimulatedTxnStore();
        copy.now = now;
        for (int key = 0; key < lists.size(); key++)
        {
            copy.lists.add(new ArrayList<>(lists.get(key)));
            copy.writtenAt.add(writtenAt.get(key).copy());
        }
        return copy;
    }

    /** Ends a transaction: what is written from now on is not of the states up to the returned one. */
    int tick()
    {
        return now++;
    }

    void write(final int key, final Object value)
    {
        while (lists.size() <= key)
        {
            lists.add(new ArrayList<>());
            writtenAt.add(new IntList());
        }
        lists.get(key).add(value);
        writtenAt.get(key).add(now);
    }

    /** How many elements the key has. */
    int length(final int key)
    {
        return key < lists.size() ? lists.get(key).size() : 0;
    }

    /** How many elements the key had once the transaction that ended with the given tick was over. */
    int lengthAt(final int key, final int tick)
    {
        int length = length(key);
        while (length > 0 && writtenAt.get(key).get(length - 1) > tick)
        {
            length--;
        }
        return length;
    }

    /** The first elements of a key; stays as it is whatever is written later, but for what {@link #forget} does. */
    List<Object> list(final int key, final int length)
    {
        return length == 0 ? List.of() : new Prefix(lists.get(key), length);
    }

    /** The register of a key after so many writes. */
    Object register(final int key, final int length)
    {
        return length == 0 ? null : lists.get(key).get(length - 1);
    }

    /** Drops the last write to a key; lists read before keep it. */
    void forget(final int key)
    {
        final List<Object> list = lists.get(key);
        lists.set(key, new ArrayList<>(list.subList(0, list.size() - 1)));
        writtenAt.get(key).removeLast();
    }

    /** A beginning of a list that only grows. */
    private static final class Prefix extends AbstractList<Object> implements RandomAccess
    {
        private final List<Object> list;
        private final int length;

        private Prefix(final List<Object> list, final int length)
        {
            this.list = list;
            this.length = length;
        }

        @Override
        public Object get(final int index)
        {
            if (index >= length)
            {
                throw new IndexOutOfBoundsException(index);
            }
            return list.get(index);
        }

        @Override
        public int size()
        {
            return length;
        }

        @Override
        public Object[] toArray()
        {
            return Arrays.copyOf(list.toArray(), length);
        }
    }
}
