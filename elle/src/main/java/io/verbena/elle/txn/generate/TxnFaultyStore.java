package io.verbena.elle.txn.generate;

import io.verbena.elle.txn.TxnWorkload;

import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * Runs transactions on a store, each at once and alone, which is right; or wrongly in one of the ways of
 * {@link TxnFault}. A fault is counted only where it certainly shows.
 */
final class TxnFaultyStore
{
    private static final int REMEMBERED = 50;
    private static final int SPLIT_LENGTH = 10;
    private static final int NO_KEY = -1;

    private final SimulatedTxnStore store = new SimulatedTxnStore();
    private final SplittableRandom random;
    private final ArrayDeque<TxnPlan> recent = new ArrayDeque<>();
    private SimulatedTxnStore splitOff;
    private TxnFault fault = TxnFault.NONE;
    private int faults;

    TxnFaultyStore(final SplittableRandom random)
    {
        this.random = random;
    }

    void fault(final TxnFault newFault)
    {
        fault = newFault;
    }

    int faults()
    {
        return faults;
    }

    /** Takes note that the client of a transaction saw its success. */
    void completed(final TxnPlan plan)
    {
        if (plan.writesAnything() && !plan.isFaulty())
        {
            recent.add(plan);
            if (recent.size() > REMEMBERED)
            {
                recent.poll();
            }
        }
    }

    /** A transaction, perhaps with a partner, that gives the fault an occasion; null if there is none now. */
    TxnPlan plan(final TxnWorkload workload, final int key, final int otherKey, final LongSupplier values)
    {
        final TxnPlan plan = new TxnPlan(workload);
        final TxnPlan partner = new TxnPlan(workload);
        return switch (fault)
        {
            case NONE -> null;
            case STALE_READ -> recent.isEmpty() ? null :
                plan.read(firstWritten(recent.getLast(), NO_KEY)).faultyAbout(recent.getLast());
            case FRACTURED_READ -> fractured(plan);
            case WRITE_SKEW -> key == otherKey ? null :
                plan.read(key).read(otherKey).write(key, values.getAsLong()).faultyWith(
                    partner.read(key).read(otherKey).write(otherKey, values.getAsLong()));
            case LOST_UPDATE, DIRTY_READ -> plan.read(key).write(key, values.getAsLong()).faultyWith(
                partner.read(key).write(key, values.getAsLong()));
            case INTERMEDIATE_READ ->
                plan.read(key).write(key, values.getAsLong()).write(key, values.getAsLong()).faultyWith(
                    partner.read(key));
            case DUPLICATED_APPEND -> workload == TxnWorkload.RW_REGISTER ? null :
                plan.write(key, values.getAsLong()).faulty();
            case LOST_WRITE, SPLIT_BRAIN -> plan.read(key).write(key, values.getAsLong()).faulty();
        };
    }

    /** Runs a transaction, and its partner with it, if it was not run together with its partner before. */
    void execute(final TxnPlan plan)
    {
        final TxnPlan leader = plan.leader();
        if (!leader.isFaulty())
        {
            executeRight(leader);
        }
        else if (!leader.isExecuted())
        {
            faults++;
            executeWrong(leader);
        }
    }

    void executeRight(final TxnPlan plan)
    {
        readAll(plan, store);
        plan.apply(store);
    }

    private void executeWrong(final TxnPlan plan)
    {
        switch (fault)
        {
            case STALE_READ, FRACTURED_READ -> readOld(plan);
            case WRITE_SKEW, LOST_UPDATE ->
            {
                readAll(plan, store);
                readAll(plan.partner(), store);
                plan.apply(store);
                plan.partner().apply(store);
            }
            case LOST_WRITE ->
            {
                executeRight(plan);
                store.forget(plan.key(0));
            }
            case DUPLICATED_APPEND ->
            {
                executeRight(plan);
                plan.applyOne(0, store);
            }
            case DIRTY_READ ->
            {
                executeRight(plan);
                executeRight(plan.partner());
                plan.callFailed();
            }
            case INTERMEDIATE_READ ->
            {
                readAll(plan, store);
                plan.applyOne(1, store);
                executeRight(plan.partner());
                plan.applyOne(2, store);
                plan.finish(store.tick());
            }
            case SPLIT_BRAIN ->
            {
                splitOff = splitOff == null || random.nextInt(SPLIT_LENGTH) == 0 ? store.copy() : splitOff;
                readAll(plan, splitOff);
                plan.apply(splitOff);
            }
            case NONE -> throw new IllegalStateException("a plan for a fault of a store without faults");
        }
    }

    private static void readAll(final TxnPlan plan, final SimulatedTxnStore from)
    {
        for (int i = 0; i < plan.count(); i++)
        {
            plan.execute(i, from, from.length(plan.key(i)));
        }
    }

    /** Reads the last key as of before the witness, and any others as of now. */
    private void readOld(final TxnPlan plan)
    {
        for (int i = 0; i < plan.count(); i++)
        {
            final int key = plan.key(i);
            plan.execute(i, store,
                i == plan.count() - 1 ? store.lengthAt(key, plan.witness().tick() - 1) : store.length(key));
        }
        plan.finish(store.tick());
    }

    private TxnPlan fractured(final TxnPlan plan)
    {
        for (final TxnPlan writer : recent)
        {
            final int first = firstWritten(writer, NO_KEY);
            final int second = firstWritten(writer, first);
            if (second != NO_KEY)
            {
                return plan.read(first).read(second).faultyAbout(writer);
            }
        }
        return null;
    }

    private static int firstWritten(final TxnPlan plan, final int butNot)
    {
        for (int i = 0; i < plan.count(); i++)
        {
            if (plan.isWrite(i) && plan.key(i) != butNot)
            {
                return plan.key(i);
            }
        }
        return NO_KEY;
    }
}
