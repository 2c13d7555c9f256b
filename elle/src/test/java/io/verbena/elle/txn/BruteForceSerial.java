package io.verbena.elle.txn;

import io.verbena.elle.history.History;
import io.verbena.elle.history.Keyword;
import io.verbena.elle.history.Operation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Tries all orders of the transactions, with and without those of unknown outcome, on a map in memory: slow, short, and
 * by the definition.
 */
final class BruteForceSerial
{
    private final TxnWorkload workload;
    private final boolean isStrict;
    private final List<Operation> certain = new ArrayList<>();
    private final List<Operation> all = new ArrayList<>();

    private BruteForceSerial(final History history, final TxnWorkload workload, final boolean isStrict)
    {
        this.workload = workload;
        this.isStrict = isStrict;
        for (final Operation operation : history.operations())
        {
            if (operation.isOk())
            {
                certain.add(operation);
            }
            if (!operation.isFail())
            {
                all.add(operation);
            }
        }
    }

    static boolean isSerializable(final History history, final TxnWorkload workload)
    {
        return new BruteForceSerial(history, workload, false).search(Map.of(), new ArrayList<>());
    }

    static boolean isStrictSerializable(final History history, final TxnWorkload workload)
    {
        return new BruteForceSerial(history, workload, true).search(Map.of(), new ArrayList<>());
    }

    private boolean search(final Map<Object, Object> state, final List<Operation> done)
    {
        if (done.containsAll(certain))
        {
            return true;
        }
        for (final Operation next : all)
        {
            if (!done.contains(next) && mayBeNext(next, done))
            {
                final Map<Object, Object> after = run(state, next);
                if (after != null)
                {
                    done.add(next);
                    final boolean found = search(after, done);
                    done.removeLast();
                    if (found)
                    {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean mayBeNext(final Operation next, final List<Operation> done)
    {
        return !isStrict || all.stream().noneMatch(other -> !done.contains(other) && other.precedes(next));
    }

    /** The state after the transaction, or null if it cannot have read there what it read. */
    private Map<Object, Object> run(final Map<Object, Object> state, final Operation txn)
    {
        final Map<Object, Object> after = new HashMap<>(state);
        for (final Object part : (List<?>)txn.value())
        {
            final List<?> operation = (List<?>)part;
            final Object key = operation.get(1);
            final Object value = operation.get(2);
            if (!"r".equals(Keyword.nameOf(operation.get(0))))
            {
                after.put(key, workload == TxnWorkload.LIST_APPEND ? appended(after.get(key), value) : value);
            }
            else if (txn.isOk() && !Objects.equals(value, workload == TxnWorkload.LIST_APPEND ?
                after.getOrDefault(key, List.of()) : after.get(key)))
            {
                return null;
            }
        }
        return after;
    }

    private static List<Object> appended(final Object list, final Object value)
    {
        final List<Object> longer = new ArrayList<>(list == null ? List.of() : (List<?>)list);
        longer.add(value);
        return longer;
    }
}
