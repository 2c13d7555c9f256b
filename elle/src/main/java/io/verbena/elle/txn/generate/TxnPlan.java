package io.verbena.elle.txn.generate;

import io.verbena.elle.history.Keyword;
import io.verbena.elle.txn.TxnWorkload;
import io.verbena.elle.txn.graph.IntList;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One transaction of {@link TxnHistoryGenerator}: what it will do, and what came of it. */
final class TxnPlan
{
    private static final Keyword READ = new Keyword("r");
    private static final Keyword APPEND = new Keyword("append");
    private static final Keyword WRITE = new Keyword("w");

    private final TxnWorkload workload;
    private final List<Object> call = new ArrayList<>();
    private final List<Object> result = new ArrayList<>();
    private final IntList keys = new IntList();
    private final List<Object> values = new ArrayList<>();
    private TxnPlan partner;
    private TxnPlan leader;
    private TxnPlan witness;
    private boolean isFaulty;
    private boolean isCalledFailed;
    private boolean isExecuted;
    private int tick = -1;

    TxnPlan(final TxnWorkload workload)
    {
        this.workload = workload;
    }

    TxnPlan read(final int key)
    {
        return add(key, null, operation(READ, key, null));
    }

    TxnPlan write(final int key, final long value)
    {
        return add(key, value, operation(workload == TxnWorkload.LIST_APPEND ? APPEND : WRITE, key, value));
    }

    /** Makes the transaction one that its store will get wrong. */
    TxnPlan faulty()
    {
        isFaulty = true;
        return this;
    }

    /** The same with a second transaction, which runs at the same time. */
    TxnPlan faultyWith(final TxnPlan other)
    {
        partner = other.faulty();
        partner.leader = this;
        return faulty();
    }

    /** The same, going wrong about an earlier transaction. */
    TxnPlan faultyAbout(final TxnPlan earlier)
    {
        witness = earlier;
        return faulty();
    }

    boolean isFaulty()
    {
        return isFaulty;
    }

    TxnPlan partner()
    {
        return partner;
    }

    /** The one of the two that decides when both run; this one if it has no partner. */
    TxnPlan leader()
    {
        return leader == null ? this : leader;
    }

    TxnPlan witness()
    {
        return witness;
    }

    void callFailed()
    {
        isCalledFailed = true;
    }

    boolean isCalledFailed()
    {
        return isCalledFailed;
    }

    int count()
    {
        return keys.count();
    }

    int key(final int index)
    {
        return keys.get(index);
    }

    boolean isWrite(final int index)
    {
        return values.get(index) != null;
    }

    boolean touches(final int key)
    {
        for (int i = 0; i < count(); i++)
        {
            if (key(i) == key)
            {
                return true;
            }
        }
        return false;
    }

    boolean writesAnything()
    {
        return values.stream().anyMatch(value -> value != null);
    }

    /** Runs one operation: reads so many elements of its key, and what the transaction itself wrote before. */
    void execute(final int index, final SimulatedTxnStore store, final int visibleLength)
    {
        final int key = key(index);
        if (isWrite(index))
        {
            result.add(call.get(index));
            return;
        }
        final List<Object> own = new ArrayList<>();
        for (int i = 0; i < index; i++)
        {
            if (key(i) == key && isWrite(i))
            {
                own.add(values.get(i));
            }
        }
        result.add(operation(READ, key, read(store, visibleLength, own)));
    }

    /** Makes the writes visible. */
    void apply(final SimulatedTxnStore store)
    {
        for (int i = 0; i < count(); i++)
        {
            applyOne(i, store);
        }
        finish(store.tick());
    }

    void applyOne(final int index, final SimulatedTxnStore store)
    {
        if (isWrite(index))
        {
            store.write(key(index), values.get(index));
        }
    }

    void finish(final int atTick)
    {
        tick = atTick;
        isExecuted = true;
    }

    boolean isExecuted()
    {
        return isExecuted;
    }

    /** The moment of the store at which the transaction took effect. */
    int tick()
    {
        return tick;
    }

    List<Object> call()
    {
        return List.copyOf(call);
    }

    List<Object> result()
    {
        return List.copyOf(result);
    }

    private Object read(final SimulatedTxnStore store, final int visibleLength, final List<Object> own)
    {
        if (workload == TxnWorkload.RW_REGISTER)
        {
            return own.isEmpty() ? store.register(key(result.size()), visibleLength) : own.getLast();
        }
        final List<Object> list = store.list(key(result.size()), visibleLength);
        if (own.isEmpty())
        {
            return list;
        }
        final List<Object> all = new ArrayList<>(list);
        all.addAll(own);
        return all;
    }

    private TxnPlan add(final int key, final Object value, final List<Object> operation)
    {
        keys.add(key);
        values.add(value);
        call.add(operation);
        return this;
    }

    private static List<Object> operation(final Keyword f, final int key, final Object value)
    {
        return Arrays.asList(f, (Object)(long)key, value);
    }
}
