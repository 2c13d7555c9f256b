package io.verbena.elle.txn;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Which operations of committed transactions say something about others: the first on a key if it is a read (external
 * reads), and those of them whose transaction then wrote the key (updates).
 */
final class Footprint
{
    private static final int NONE = -1;

    private final BitSet externalReads = new BitSet();
    private final BitSet updates = new BitSet();

    static Footprint of(final Transactions transactions)
    {
        final Footprint footprint = new Footprint();
        final int[] firstOpOnKey = new int[transactions.keyCount()];
        Arrays.fill(firstOpOnKey, NONE);
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            if (transactions.isOk(txn))
            {
                footprint.add(transactions, txn, firstOpOnKey);
            }
        }
        return footprint;
    }

    boolean isExternalRead(final int op)
    {
        return externalReads.get(op);
    }

    boolean isUpdate(final int readOp)
    {
        return updates.get(readOp);
    }

    private void add(final Transactions transactions, final int txn, final int[] firstOpOnKey)
    {
        for (int op = transactions.firstOp(txn); op < transactions.firstOp(txn + 1); op++)
        {
            final int key = transactions.key(op);
            final boolean isFirst = firstOpOnKey[key] < transactions.firstOp(txn);
            if (isFirst)
            {
                firstOpOnKey[key] = op;
                externalReads.set(op, !transactions.isWrite(op));
            }
            else if (transactions.isWrite(op) && externalReads.get(firstOpOnKey[key]))
            {
                updates.set(firstOpOnKey[key]);
            }
        }
    }
}
