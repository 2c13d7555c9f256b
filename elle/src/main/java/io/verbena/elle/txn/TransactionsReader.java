package io.verbena.elle.txn;

import io.verbena.elle.history.EdnValue;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.Keyword;
import io.verbena.elle.history.Operation;

import java.util.List;

/**
 * Takes the transactions of a history apart, and refuses what no transaction of the workload looks like.
 */
final class TransactionsReader
{
    /** Function, key and value. */
    private static final int PARTS = 3;

    private final History history;
    private final TxnWorkload workload;
    private final String writeName;
    private final Transactions transactions;

    private TransactionsReader(final History history, final TxnWorkload workload)
    {
        this.history = history;
        this.workload = workload;
        writeName = workload == TxnWorkload.LIST_APPEND ? "append" : "w";
        transactions = new Transactions(history);
    }

    static Transactions read(final History history, final TxnWorkload workload)
    {
        return new TransactionsReader(history, workload).read();
    }

    private Transactions read()
    {
        for (final Operation operation : history.operations())
        {
            final Object value = operation.value();
            if (value instanceof List<?> parts)
            {
                for (final Object part : parts)
                {
                    add(operation, part);
                }
            }
            else if (value != null)
            {
                throw broken(operation, "the value of a transaction must be a list of operations, not " +
                    EdnValue.toText(value));
            }
            transactions.endTransaction();
        }
        return transactions;
    }

    private void add(final Operation operation, final Object part)
    {
        if (!(part instanceof List<?> list) || list.size() != PARTS)
        {
            throw broken(operation, "an operation of a transaction must be [f key value], not " +
                EdnValue.toText(part));
        }
        final String f = Keyword.nameOf(list.get(0));
        final int key = transactions.numberOfKey(list.get(1));
        final Object value = list.get(2);
        if (writeName.equals(f))
        {
            checkWrite(operation, key, value);
            transactions.addWrite(key, value);
        }
        else if (!"r".equals(f))
        {
            throw broken(operation, "the operations of " + workload + " are :r and :" + writeName + ", not " +
                EdnValue.toText(list.get(0)));
        }
        else if (workload == TxnWorkload.LIST_APPEND && value != null && !(value instanceof List<?>))
        {
            throw broken(operation, "a read of list-append must give a list, not " + EdnValue.toText(value));
        }
        else
        {
            transactions.addRead(key, value);
        }
    }

    private void checkWrite(final Operation operation, final int key, final Object value)
    {
        final String name = EdnValue.toText(transactions.keyName(key));
        if (value == null)
        {
            throw broken(operation, "nil was written to key " + name + ": nil stands for a key without a value");
        }
        final int version = transactions.findVersion(key, value);
        if (version != VersionIndex.ABSENT)
        {
            final Operation other = history.operations().get(transactions.writer(version));
            throw broken(operation, EdnValue.toText(value) + " was written to key " + name + " before, by operation " +
                other.id() + (other.callLine() > 0 ? " (line " + other.callLine() + ")" : "") +
                ": each value may be written once only, or a read does not show which write it saw");
        }
    }

    private HistoryException broken(final Operation operation, final String what)
    {
        final int line = operation.isOk() && operation.endLine() > 0 ? operation.endLine() : operation.callLine();
        return new HistoryException(history.source(), line, what);
    }
}
