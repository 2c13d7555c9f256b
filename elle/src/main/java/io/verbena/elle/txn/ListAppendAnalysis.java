package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.graph.IntList;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.Arrays;

/**
 * Dependencies of list-append. The order of a key's elements is that of its longest read; elements that no read saw
 * come after all that were seen, in an order of their own that stays unknown.
 */
final class ListAppendAnalysis implements WorkloadAnalysis
{
    private static final int NONE = Transactions.INITIAL;

    private final Transactions transactions;
    private final ListReads reads;
    private final Readers readers;
    private final IntList[] unseen;

    ListAppendAnalysis(final Transactions transactions, final Findings findings)
    {
        this.transactions = transactions;
        reads = new ListReads(transactions, findings);
        reads.run();
        new ListInternals(transactions, reads, findings).find();
        LostUpdates.find(transactions, Footprint.of(transactions), findings);
        readers = Readers.of(transactions, op -> true);
        unseen = unseenByKey();
    }

    @Override
    public void addTo(final GraphBuilder graph)
    {
        addReads(graph);
        for (int key = 0; key < transactions.keyCount(); key++)
        {
            addWrites(graph, key);
        }
    }

    @Override
    public CycleStep explain(final int from, final int to, final EdgeKind kind)
    {
        for (int op = transactions.firstOp(to); op < transactions.firstOp(to + 1); op++)
        {
            final String why = transactions.isWrite(op) == (kind == EdgeKind.WR) ? null : switch (kind)
            {
                case WW -> explainWrite(from, to, op);
                case WR -> explainRead(from, to, op);
                default -> explainMissed(from, to, op);
            };
            if (why != null)
            {
                return new CycleStep(from, to, kind, transactions.keyName(transactions.key(op)), why);
            }
        }
        throw new IllegalStateException("no reason for " + kind + " from " + from + " to " + to);
    }

    /** Each read follows the write of the last element it saw. */
    private void addReads(final GraphBuilder graph)
    {
        for (int version = 0; version < transactions.versionCount(); version++)
        {
            if (transactions.mayExist(version))
            {
                for (final int reader : readers.ofVersion(version))
                {
                    graph.link(transactions.writer(version), reader, EdgeKind.WR.bit());
                }
            }
        }
    }

    private void addWrites(final GraphBuilder graph, final int key)
    {
        final ListOrder order = reads.order(key);
        final IntList missing = new IntList();
        addAll(missing, readers.ofInitial(key));
        int previous = NONE;
        for (int i = 0; i < order.count(); i++)
        {
            final int version = order.version(i);
            if (transactions.mayExist(version))
            {
                final int writer = transactions.writer(version);
                if (previous != NONE)
                {
                    graph.link(transactions.writer(previous), writer, EdgeKind.WW.bit());
                }
                linkMissing(graph, missing, writer);
                missing.clear();
                previous = version;
            }
            addAll(missing, readers.ofVersion(version));
        }
        addUnseen(graph, key, previous, missing);
    }

    /** Those who read up to here did not see what comes next. */
    private static void linkMissing(final GraphBuilder graph, final IntList missing, final int writer)
    {
        for (int i = 0; i < missing.count(); i++)
        {
            graph.link(missing.get(i), writer, EdgeKind.RW.bit());
        }
    }

    private void addUnseen(final GraphBuilder graph, final int key, final int lastSeen, final IntList missing)
    {
        if (unseen[key] == null)
        {
            return;
        }
        final IntList writers = new IntList();
        for (int i = 0; i < unseen[key].count(); i++)
        {
            final int writer = transactions.writer(unseen[key].get(i));
            writers.add(writer);
            if (lastSeen != NONE)
            {
                graph.link(transactions.writer(lastSeen), writer, EdgeKind.WW.bit());
            }
        }
        graph.linkAll(distinct(missing), distinct(writers), EdgeKind.RW.bit());
    }

    private IntList[] unseenByKey()
    {
        final IntList[] byKey = new IntList[transactions.keyCount()];
        for (int version = 0; version < transactions.versionCount(); version++)
        {
            if (isUnseen(version))
            {
                final int key = transactions.keyOfVersion(version);
                byKey[key] = byKey[key] == null ? new IntList() : byKey[key];
                byKey[key].add(version);
            }
        }
        return byKey;
    }

    private boolean isUnseen(final int version)
    {
        return transactions.mayExist(version) && reads.position(version) < 0 && !reads.isSeenElsewhere(version);
    }

    private String explainWrite(final int from, final int to, final int appendOp)
    {
        final int version = transactions.version(appendOp);
        final int before = seenBefore(version);
        if (before == NONE || transactions.writer(before) != from || from == to)
        {
            return null;
        }
        return Words.txn(to) + " appended " + value(version) + " to key " + key(version) + " after " +
            Words.txn(from) + " appended " + value(before) +
            (isUnseen(version) ? " (no read saw " + value(version) + ", so it follows all that was seen)" : "");
    }

    private String explainRead(final int from, final int to, final int readOp)
    {
        final int version = transactions.version(readOp);
        if (version == Transactions.INITIAL || transactions.writer(version) != from)
        {
            return null;
        }
        return Words.txn(to) + " read key " + key(version) + " as " + Words.value(transactions.list(readOp)) +
            ", whose last element " + value(version) + " is of " + Words.txn(from);
    }

    private String explainMissed(final int from, final int to, final int appendOp)
    {
        final int version = transactions.version(appendOp);
        if (!isUnseen(version) && reads.position(version) < 0)
        {
            return null;
        }
        final int before = seenBefore(version);
        for (int op = transactions.firstOp(from); op < transactions.firstOp(from + 1); op++)
        {
            if (!transactions.isWrite(op) && transactions.key(op) == transactions.key(appendOp) &&
                endsAt(op, before, version))
            {
                return Words.txn(from) + " read key " + key(version) + " as " +
                    Words.value(transactions.list(op)) + " and so did not see the append of " + value(version) +
                    " by " + Words.txn(to);
            }
        }
        return null;
    }

    /** Whether a read saw the version before, or only aborted ones after it. */
    private boolean endsAt(final int readOp, final int before, final int next)
    {
        final int read = transactions.version(readOp);
        if (read == before)
        {
            return true;
        }
        final int from = before == NONE ? 0 : reads.position(before) + 1;
        final int to = isUnseen(next) ? Integer.MAX_VALUE : reads.position(next);
        return read != Transactions.INITIAL && reads.position(read) >= from && reads.position(read) < to;
    }

    /** The last version before this one that was seen and may have been committed. */
    private int seenBefore(final int version)
    {
        if (!isUnseen(version) && reads.position(version) < 0)
        {
            return NONE;
        }
        final ListOrder order = reads.order(transactions.keyOfVersion(version));
        int position = isUnseen(version) ? order.count() - 1 : reads.position(version) - 1;
        while (position >= 0 && !transactions.mayExist(order.version(position)))
        {
            position--;
        }
        return position < 0 ? NONE : order.version(position);
    }

    private String key(final int version)
    {
        return Words.value(transactions.keyName(transactions.keyOfVersion(version)));
    }

    private String value(final int version)
    {
        return Words.value(transactions.valueOfVersion(version));
    }

    private static void addAll(final IntList list, final int[] values)
    {
        for (final int value : values)
        {
            list.add(value);
        }
    }

    private static int[] distinct(final IntList list)
    {
        return Arrays.stream(list.toArray()).sorted().distinct().toArray();
    }
}
