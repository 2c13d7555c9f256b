package io.verbena.load.demo;

import io.verbena.client.KvException;
import io.verbena.load.LoadException;
import io.verbena.load.ycsb.VerbenaDb;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.NanoClock;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.function.Predicate;

/**
 * Stands between YCSB's workload and the binding of one worker: times each operation and counts what failed. The first
 * operation of a transaction is timed from when it was meant to start, so that a late start counts as latency; the
 * caller decides what that is. Not thread-safe; its figures may be read when its worker has ended.
 */
final class MeasuredDb extends DB
{
    private static final int SIGNIFICANT_DIGITS = 3;

    private final VerbenaDb db;
    private final NanoClock clock;
    private final RunCounters counters;
    private final boolean isLoading;
    private final Predicate<String> mustExist;
    private final Map<YcsbOperation, Histogram> latencies = new EnumMap<>(YcsbOperation.class);
    private long transactionStartNs;
    private long operationStartNs;
    private boolean hasRead;
    private long conflictsCounted;

    /**
     * @param isLoading end at the first operation that fails, by an exception; YCSB would print a line and go on.
     * @param mustExist whether a write of the record with this key was acknowledged.
     */
    MeasuredDb(final VerbenaDb db, final NanoClock clock, final RunCounters counters, final boolean isLoading,
        final Predicate<String> mustExist)
    {
        this.isLoading = isLoading;
        this.mustExist = mustExist;
        this.db = db;
        this.clock = clock;
        this.counters = counters;
        for (final YcsbOperation operation : YcsbOperation.values())
        {
            latencies.put(operation, new Histogram(SIGNIFICANT_DIGITS));
        }
    }

    /**
     * A transaction of the workload begins.
     *
     * @param startNs when it begins or, at a given rate, was meant to begin.
     */
    void beginTransaction(final long startNs)
    {
        transactionStartNs = startNs;
        operationStartNs = startNs;
        hasRead = false;
    }

    Histogram latencies(final YcsbOperation operation)
    {
        return latencies.get(operation);
    }

    @Override
    public Status read(
        final String table, final String key, final Set<String> fields, final Map<String, ByteIterator> result)
    {
        final Status status = ended(YcsbOperation.READ, key, db.read(table, key, fields, result));
        hasRead = true;
        return status;
    }

    @Override
    public Status update(final String table, final String key, final Map<String, ByteIterator> values)
    {
        final Status status = ended(YcsbOperation.UPDATE, key, db.update(table, key, values));
        counters.updateConflicts.add(db.updateConflicts() - conflictsCounted);
        conflictsCounted = db.updateConflicts();
        if (hasRead && status.isOk())
        {
            latencies.get(YcsbOperation.READ_MODIFY_WRITE).recordValue(operationStartNs - transactionStartNs);
        }
        return status;
    }

    @Override
    public Status insert(final String table, final String key, final Map<String, ByteIterator> values)
    {
        counters.insertsLeft.decrementAndGet();
        return ended(YcsbOperation.INSERT, key, db.insert(table, key, values));
    }

    @Override
    public Status delete(final String table, final String key)
    {
        return db.delete(table, key);
    }

    @Override
    public Status scan(
        final String table,
        final String startKey,
        final int recordCount,
        final Set<String> fields,
        final Vector<HashMap<String, ByteIterator>> result)
    {
        return db.scan(table, startKey, recordCount, fields, result);
    }

    private Status ended(final YcsbOperation operation, final String key, final Status status)
    {
        final long endNs = clock.nanoTime();
        if (status.isOk())
        {
            latencies.get(operation).recordValue(Math.max(0, endNs - operationStartNs));
        }
        else if (Status.NOT_FOUND.equals(status))
        {
            // A record whose insert was not acknowledged may be absent, after a node was killed.
            if (!counters.mayBeUnknown() || mustExist.test(key))
            {
                counters.notFound.increment();
            }
        }
        else
        {
            final RuntimeException failure = db.lastFailure();
            final String what = operation.figureName() + " of " + key + ": " +
                (failure == null ? status.getName() : failure.getMessage());
            counters.onFailure(failure, what);
            if (isLoading)
            {
                throw loadingFailed(what, failure);
            }
        }
        operationStartNs = endNs;
        return status;
    }

    private static LoadException loadingFailed(final String what, final RuntimeException failure)
    {
        final boolean isFull =
            failure instanceof final KvException ex && ex.category() == KvException.Category.NO_SPACE;
        return new LoadException(
            isFull ? LoadException.Reason.CANNOT_CREATE : LoadException.Reason.FAILED,
            "loading failed: " + what + (isFull ? " (give more with --memory)" : ""),
            failure);
    }
}
