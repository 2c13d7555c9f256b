package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.IntList;
import io.verbena.elle.txn.isolation.AnomalyType;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Goes through the reads of lists: works out the order of each key's elements, notes which version each read saw, and
 * finds what a single read gives away (garbage, duplicates, aborted and intermediate reads, disagreeing orders).
 *
 * <p>Almost all reads are a prefix of the longest one before them or continue it, so an element is looked up once for
 * each key and not once for each read.
 */
final class ListReads
{
    private static final int NOWHERE = -1;

    private final Transactions transactions;
    private final Findings findings;
    private final ListOrder[] orders;
    private final int[] positions;
    private final BitSet seenElsewhere = new BitSet();
    private final BitSet inThisRead = new BitSet();
    private final IntList found = new IntList();

    ListReads(final Transactions transactions, final Findings findings)
    {
        this.transactions = transactions;
        this.findings = findings;
        orders = new ListOrder[transactions.keyCount()];
        Arrays.setAll(orders, ignored -> new ListOrder());
        positions = new int[transactions.versionCount()];
        Arrays.fill(positions, NOWHERE);
    }

    void run()
    {
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            for (int op = transactions.firstOp(txn);
                op < transactions.firstOp(txn + 1) && transactions.isOk(txn); op++)
            {
                if (!transactions.isWrite(op))
                {
                    observe(txn, op);
                }
            }
        }
    }

    ListOrder order(final int key)
    {
        return orders[key];
    }

    /** Position of an element in the order of its key, or -1. */
    int position(final int version)
    {
        return version < positions.length ? positions[version] : NOWHERE;
    }

    /** Whether some read saw the element though the order of its key does not have it. */
    boolean isSeenElsewhere(final int version)
    {
        return seenElsewhere.get(version);
    }

    /** Whether the list read has the element, once all reads are known. */
    boolean holds(final int readOp, final int version)
    {
        final List<?> list = transactions.list(readOp);
        final Object value = transactions.valueOfVersion(version);
        final int position = position(version);
        if (position != NOWHERE && position < list.size() && value.equals(list.get(position)))
        {
            return true;
        }
        return seenElsewhere.get(version) && list.contains(value);
    }

    private void observe(final int txn, final int op)
    {
        final ListOrder order = orders[transactions.key(op)];
        final List<?> list = transactions.list(op);
        final int common = order.commonPrefix(list);
        boolean isInOrder = true;
        if (common == list.size())
        {
            transactions.noteRead(op, common == 0 ? Transactions.INITIAL : order.version(common - 1));
        }
        else
        {
            final boolean continues = common == order.count();
            final int from = continues ? common : 0;
            resolve(list, from, op);
            isInOrder = !hasFlaw(txn, op, from) &&
                (continues ? extend(order, txn, list) : disagree(order, txn, op));
            if (!isInOrder)
            {
                markSeenElsewhere();
            }
        }
        findDirtyReads(txn, op, isInOrder ? order.firstAborted() : firstAborted(op));
    }

    /** Numbers the elements from a position on into {@link #found}, and notes the last of them as what was read. */
    private void resolve(final List<?> list, final int from, final int op)
    {
        found.clear();
        for (int i = from; i < list.size(); i++)
        {
            found.add(transactions.versionRead(transactions.key(op), list.get(i)));
        }
        transactions.noteRead(op, found.last());
    }

    private boolean hasFlaw(final int txn, final int op, final int from)
    {
        boolean hasFlaw = false;
        inThisRead.clear();
        for (int i = 0; i < found.count(); i++)
        {
            final int version = found.get(i);
            final boolean inPrefix = position(version) != NOWHERE && position(version) < from;
            if (transactions.writer(version) == Transactions.NOBODY)
            {
                findings.add(AnomalyType.GARBAGE_READ, () -> oneReader(AnomalyType.GARBAGE_READ, txn, op,
                    "has the element " + value(version) + ", which no transaction appended"));
                hasFlaw = true;
            }
            if (inPrefix || inThisRead.get(version))
            {
                findings.add(AnomalyType.DUPLICATE_ELEMENTS, () -> oneReader(AnomalyType.DUPLICATE_ELEMENTS, txn, op,
                    "has the element " + value(version) + " more than once"));
                hasFlaw = true;
            }
            inThisRead.set(version);
        }
        return hasFlaw;
    }

    private boolean extend(final ListOrder order, final int txn, final List<?> list)
    {
        for (int i = 0; i < found.count(); i++)
        {
            positions[found.get(i)] = order.count() + i;
        }
        order.extend(found, list, txn, transactions);
        return true;
    }

    /** Whether the list, being longer, becomes the order of its key. */
    private boolean disagree(final ListOrder order, final int txn, final int op)
    {
        final int other = order.reader();
        final List<?> otherList = order.list();
        final List<?> list = transactions.list(op);
        findings.add(AnomalyType.INCOMPATIBLE_ORDER, () -> Anomaly.of(
            AnomalyType.INCOMPATIBLE_ORDER, List.of(other, txn),
            Words.txn(other) + " read key " + key(op) + " as " + Words.value(otherList) + " but " + Words.txn(txn) +
                " read it as " + Words.value(list) + ": neither begins with the other"));
        if (list.size() <= otherList.size())
        {
            return false;
        }
        for (int i = 0; i < order.count(); i++)
        {
            positions[order.version(i)] = NOWHERE;
            seenElsewhere.set(order.version(i));
        }
        order.clear();
        return extend(order, txn, list);
    }

    private void markSeenElsewhere()
    {
        for (int i = 0; i < found.count(); i++)
        {
            seenElsewhere.set(found.get(i));
        }
    }

    private void findDirtyReads(final int txn, final int op, final int abortedPosition)
    {
        final List<?> list = transactions.list(op);
        if (abortedPosition < list.size())
        {
            final int aborted = transactions.versionRead(transactions.key(op), list.get(abortedPosition));
            final int writer = transactions.writer(aborted);
            findings.add(AnomalyType.G1A, () -> twoTransactions(AnomalyType.G1A, writer, txn, op,
                "has the element " + value(aborted) + " of " + Words.txn(writer) + ", which failed"));
        }
        final int last = transactions.version(op);
        if (last != Transactions.INITIAL && transactions.isReplaced(last) && transactions.writer(last) != txn)
        {
            final int writer = transactions.writer(last);
            findings.add(AnomalyType.G1B, () -> twoTransactions(AnomalyType.G1B, writer, txn, op,
                "ends with " + value(last) + ", after which " + Words.txn(writer) + " appended more"));
        }
    }

    private int firstAborted(final int op)
    {
        final List<?> list = transactions.list(op);
        for (int i = 0; i < list.size(); i++)
        {
            if (transactions.isAborted(transactions.versionRead(transactions.key(op), list.get(i))))
            {
                return i;
            }
        }
        return list.size();
    }

    private Anomaly oneReader(final AnomalyType type, final int txn, final int op, final String what)
    {
        return Anomaly.of(type, List.of(txn), words(txn, op, what));
    }

    private Anomaly twoTransactions(
        final AnomalyType type, final int writer, final int txn, final int op, final String what)
    {
        return Anomaly.of(type, List.of(writer, txn), words(txn, op, what));
    }

    private String words(final int txn, final int op, final String what)
    {
        return Words.txn(txn) + " read key " + key(op) + " as " + Words.value(transactions.list(op)) + ", which " +
            what;
    }

    private String key(final int op)
    {
        return Words.value(transactions.keyName(transactions.key(op)));
    }

    private String value(final int version)
    {
        return Words.value(transactions.valueOfVersion(version));
    }
}
