package io.verbena.elle.txn;

import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Finds what a transaction on lists gives away by itself: reads that do not fit its own earlier reads and appends
 * (Cerone's axiom INT), reads of what it appended only later, and orders that turn its appends around or put a
 * committed element after an aborted one.
 */
final class ListInternals
{
    private final Transactions transactions;
    private final ListReads reads;
    private final Findings findings;

    ListInternals(final Transactions transactions, final ListReads reads, final Findings findings)
    {
        this.transactions = transactions;
        this.reads = reads;
        this.findings = findings;
    }

    void find()
    {
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            for (int op = transactions.firstOp(txn) + 1; op < transactions.firstOp(txn + 1); op++)
            {
                if (transactions.isWrite(op) && !transactions.isFail(txn))
                {
                    findTurnedAround(txn, op);
                }
                if (transactions.isWrite(op) && transactions.isOk(txn))
                {
                    findReadOfFuture(txn, op);
                }
                else if (transactions.isOk(txn))
                {
                    findContradiction(txn, op);
                }
            }
        }
        for (int key = 0; key < transactions.keyCount(); key++)
        {
            findDirtyUpdates(key);
        }
    }

    /** What a transaction appended first must stand first; if it is not seen where the later element is, it is lost. */
    private void findTurnedAround(final int txn, final int appendOp)
    {
        int op = appendOp - 1;
        while (op >= transactions.firstOp(txn) &&
            (transactions.key(op) != transactions.key(appendOp) || !transactions.isWrite(op)))
        {
            op--;
        }
        if (op < transactions.firstOp(txn))
        {
            return;
        }
        final int first = transactions.version(op);
        final int second = transactions.version(appendOp);
        final int position = reads.position(second);
        if (position >= 0 && (reads.position(first) < 0 || reads.position(first) > position))
        {
            final ListOrder order = reads.order(transactions.key(op));
            findings.add(AnomalyType.INCOMPATIBLE_ORDER, () -> Anomaly.of(
                AnomalyType.INCOMPATIBLE_ORDER, List.of(txn, order.reader()),
                Words.txn(txn) + " appended " + Words.value(transactions.valueOfVersion(first)) + " and then " +
                    Words.value(transactions.valueOfVersion(second)) + " to key " + key(appendOp) + ", but " +
                    Words.txn(order.reader()) + " read " + Words.value(order.list())));
        }
    }

    private void findReadOfFuture(final int txn, final int appendOp)
    {
        for (int op = transactions.firstOp(txn); op < appendOp; op++)
        {
            if (!transactions.isWrite(op) && transactions.key(op) == transactions.key(appendOp) &&
                reads.holds(op, transactions.version(appendOp)))
            {
                final int readOp = op;
                findings.add(AnomalyType.FUTURE_READ, () -> Anomaly.of(AnomalyType.FUTURE_READ, List.of(txn),
                    Words.txn(txn) + " read key " + key(readOp) + " as " + Words.value(transactions.list(readOp)) +
                        " and appended " + Words.value(transactions.value(appendOp)) + " to it only afterwards"));
                return;
            }
        }
    }

    /** Compares a read with the last one before it in the same transaction, and what was appended in between. */
    private void findContradiction(final int txn, final int readOp)
    {
        final List<Object> appended = new ArrayList<>();
        int op = readOp - 1;
        while (op >= transactions.firstOp(txn) &&
            (transactions.key(op) != transactions.key(readOp) || transactions.isWrite(op)))
        {
            if (transactions.key(op) == transactions.key(readOp))
            {
                appended.add(transactions.value(op));
            }
            op--;
        }
        Collections.reverse(appended);
        final List<?> list = transactions.list(readOp);
        final boolean knowsAll = op >= transactions.firstOp(txn);
        final List<?> before = knowsAll ? transactions.list(op) : List.of();
        final int tailFrom = list.size() - appended.size();
        final boolean fits = knowsAll ?
            tailFrom == before.size() && list.subList(0, tailFrom).equals(before) : tailFrom >= 0;
        if (!fits || !list.subList(tailFrom, list.size()).equals(appended))
        {
            findings.add(AnomalyType.INTERNAL, () -> Anomaly.of(AnomalyType.INTERNAL, List.of(txn),
                Words.txn(txn) + " read key " + key(readOp) + " as " + Words.value(list) + " after it had itself " +
                    (knowsAll ? "read " + Words.value(before) : "") +
                    (knowsAll && !appended.isEmpty() ? " and " : "") +
                    (appended.isEmpty() ? "" : "appended " + Words.value(appended))));
        }
    }

    private void findDirtyUpdates(final int key)
    {
        final ListOrder order = reads.order(key);
        if (order.firstAborted() >= order.count())
        {
            return;
        }
        for (int i = order.firstAborted() + 1; i < order.count(); i++)
        {
            final int before = order.version(i - 1);
            final int after = order.version(i);
            if (transactions.isAborted(before) && transactions.isOk(transactions.writer(after)))
            {
                findings.add(AnomalyType.DIRTY_UPDATE, () -> Anomaly.of(AnomalyType.DIRTY_UPDATE,
                    List.of(transactions.writer(before), transactions.writer(after)),
                    Words.txn(transactions.writer(after)) + ", which committed, appended " +
                        Words.value(transactions.valueOfVersion(after)) + " to key " +
                        Words.value(transactions.keyName(key)) + " right after " +
                        Words.value(transactions.valueOfVersion(before)) + " of " +
                        Words.txn(transactions.writer(before)) + ", which failed"));
            }
        }
    }

    private String key(final int op)
    {
        return Words.value(transactions.keyName(transactions.key(op)));
    }
}
