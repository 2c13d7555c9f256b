package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.IntList;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What one {@link VersionSource} says of the order of versions: pairs of a version and one that comes after it.
 */
final class VersionEdges
{
    private static final int NO_VERSION = -2;

    private final Transactions transactions;
    private final Footprint footprint;
    private final IntList before = new IntList();
    private final IntList after = new IntList();

    private VersionEdges(final Transactions transactions, final Footprint footprint)
    {
        this.transactions = transactions;
        this.footprint = footprint;
    }

    static VersionEdges of(
        final VersionSource source, final Transactions transactions, final Footprint footprint)
    {
        return new VersionEdges(transactions, footprint).collect(source);
    }

    /** The number of a key's initial state, which counts as a version behind all others. */
    static int initialOf(final Transactions transactions, final int key)
    {
        return transactions.versionCount() + key;
    }

    int count()
    {
        return before.count();
    }

    int before(final int index)
    {
        return before.get(index);
    }

    int after(final int index)
    {
        return after.get(index);
    }

    private VersionEdges collect(final VersionSource source)
    {
        switch (source)
        {
            case INITIAL_STATE -> collectInitial();
            case WRITES_FOLLOW_READS -> collectUpdates();
            case SEQUENTIAL_KEYS -> collectProcesses();
            case LINEARIZABLE_KEYS -> collectRealTime();
        }
        return this;
    }

    private void collectInitial()
    {
        for (int version = 0; version < transactions.versionCount(); version++)
        {
            if (transactions.mayExist(version))
            {
                add(initialOf(transactions, transactions.keyOfVersion(version)), version);
            }
        }
    }

    private void collectUpdates()
    {
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            for (int op = transactions.firstOp(txn); op < transactions.firstOp(txn + 1); op++)
            {
                if (footprint.isUpdate(op))
                {
                    add(read(op), lastWrite(txn, transactions.key(op)));
                }
            }
        }
    }

    private void collectProcesses()
    {
        // For each key, the version with which each process last left it.
        final Map<Long, Integer> last = new HashMap<>();
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            final long process = transactions.operation(txn).process();
            for (final int key : keysOf(txn))
            {
                final Long place = process << Integer.SIZE | key;
                add(last.getOrDefault(place, NO_VERSION), firstMet(txn, key));
                if (transactions.isOk(txn))
                {
                    last.put(place, lastMet(txn, key));
                }
            }
        }
    }

    /**
     * For each key, every transaction called comes after the latest of those over before. They are kept as a frontier:
     * whoever was over before a member of it was called has left it, so it is no longer than the number of transactions
     * that ran at once.
     */
    private void collectRealTime()
    {
        final IntList[] frontiers = new IntList[transactions.keyCount()];
        Arrays.setAll(frontiers, ignored -> new IntList());
        final int[] events = OrderEdges.eventsByPosition(transactions.history().operations());
        for (final int event : events)
        {
            if (event >= 0)
            {
                final int txn = event >>> 1;
                for (final int key : keysOf(txn))
                {
                    if ((event & 1) == 0)
                    {
                        addAfterAll(frontiers[key], txn, key);
                    }
                    else
                    {
                        complete(frontiers[key], txn);
                    }
                }
            }
        }
    }

    private void addAfterAll(final IntList frontier, final int txn, final int key)
    {
        final int first = firstMet(txn, key);
        for (int i = 0; i < frontier.count(); i++)
        {
            add(lastMet(frontier.get(i), key), first);
        }
    }

    private void complete(final IntList frontier, final int txn)
    {
        final int called = transactions.operation(txn).callPosition();
        final int[] members = frontier.toArray();
        frontier.clear();
        for (final int member : members)
        {
            if (transactions.operation(member).endPosition() > called)
            {
                frontier.add(member);
            }
        }
        frontier.add(txn);
    }

    private void add(final int from, final int to)
    {
        if (from != to && from != NO_VERSION && to != NO_VERSION)
        {
            before.add(from);
            after.add(to);
        }
    }

    /** The keys of a transaction that may have happened; of one of unknown outcome only those it wrote. */
    private int[] keysOf(final int txn)
    {
        final IntList keys = new IntList();
        for (int op = transactions.firstOp(txn); op < transactions.firstOp(txn + 1); op++)
        {
            if (transactions.isOk(txn) || transactions.isWrite(op) && !transactions.isFail(txn))
            {
                keys.add(transactions.key(op));
            }
        }
        return Arrays.stream(keys.toArray()).distinct().toArray();
    }

    /** The version of the key that a transaction met from outside: the first it read, else the last it wrote. */
    private int firstMet(final int txn, final int key)
    {
        for (int op = transactions.firstOp(txn); op < transactions.firstOp(txn + 1); op++)
        {
            if (transactions.key(op) == key && footprint.isExternalRead(op))
            {
                return read(op);
            }
        }
        return lastWrite(txn, key);
    }

    /** The version of the key with which a committed transaction left it. */
    private int lastMet(final int txn, final int key)
    {
        final int written = lastWrite(txn, key);
        return written == NO_VERSION ? firstMet(txn, key) : written;
    }

    private int lastWrite(final int txn, final int key)
    {
        for (int op = transactions.firstOp(txn + 1) - 1; op >= transactions.firstOp(txn); op--)
        {
            if (transactions.isWrite(op) && transactions.key(op) == key)
            {
                return transactions.version(op);
            }
        }
        return NO_VERSION;
    }

    /** What a read saw; nothing to go by if that was never written or was aborted. */
    private int read(final int op)
    {
        final int version = transactions.version(op);
        if (version == Transactions.INITIAL)
        {
            return initialOf(transactions, transactions.key(op));
        }
        return transactions.mayExist(version) ? version : NO_VERSION;
    }
}
