package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.IntList;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Which committed transactions read which version, over int arrays. The initial states of the keys count as versions
 * behind all others.
 */
final class Readers
{
    private final int versionCount;
    private final int[] offsets;
    private final int[] txns;

    private Readers(final int versionCount, final int[] offsets, final int[] txns)
    {
        this.versionCount = versionCount;
        this.offsets = offsets;
        this.txns = txns;
    }

    /** Takes those reads of committed transactions that the predicate on operations accepts. */
    static Readers of(final Transactions transactions, final IntPredicate wanted)
    {
        final int versionCount = transactions.versionCount();
        final int[] starts = new int[versionCount + transactions.keyCount() + 1];
        final int[] readOps = readOps(transactions, wanted);
        for (final int op : readOps)
        {
            starts[place(transactions, versionCount, op) + 1]++;
        }
        for (int i = 1; i < starts.length; i++)
        {
            starts[i] += starts[i - 1];
        }
        final int[] filled = Arrays.copyOf(starts, starts.length);
        final int[] txns = new int[readOps.length];
        int txn = 0;
        for (final int op : readOps)
        {
            while (transactions.firstOp(txn + 1) <= op)
            {
                txn++;
            }
            txns[filled[place(transactions, versionCount, op)]++] = txn;
        }
        return new Readers(versionCount, starts, txns);
    }

    /** The readers of a version, ascending, each once. */
    int[] ofVersion(final int version)
    {
        return distinct(version);
    }

    /** The readers of the initial state of a key, ascending, each once. */
    int[] ofInitial(final int key)
    {
        return distinct(versionCount + key);
    }

    private int[] distinct(final int place)
    {
        final IntList found = new IntList();
        for (int i = offsets[place]; i < offsets[place + 1]; i++)
        {
            if (found.count() == 0 || found.last() != txns[i])
            {
                found.add(txns[i]);
            }
        }
        return found.toArray();
    }

    private static int[] readOps(final Transactions transactions, final IntPredicate wanted)
    {
        final IntList ops = new IntList();
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            for (int op = transactions.firstOp(txn);
                op < transactions.firstOp(txn + 1) && transactions.isOk(txn); op++)
            {
                if (!transactions.isWrite(op) && wanted.test(op))
                {
                    ops.add(op);
                }
            }
        }
        return ops.toArray();
    }

    private static int place(final Transactions transactions, final int versionCount, final int op)
    {
        final int version = transactions.version(op);
        return version == Transactions.INITIAL ? versionCount + transactions.key(op) : version;
    }
}
