package io.verbena.load.demo;

import io.verbena.client.KvEntry;
import io.verbena.client.KvException;
import io.verbena.client.KvTable;
import io.verbena.load.ycsb.RecordCodec;
import io.verbena.load.ycsb.RecordFormatException;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads every record that was ever written and asks the {@link WriteLedger} whether it may hold what it holds. Run
 * once, when all writers have ended.
 */
final class FinalAudit
{
    private static final long TIMEOUT_NS = TimeUnit.MINUTES.toNanos(10);

    private final KvTable table;
    private final WriteLedger ledger;
    private final Iterator<String> keys;
    private final LongAdder records = new LongAdder();
    private final LongAdder violations = new LongAdder();
    private final AtomicReference<String> firstViolation = new AtomicReference<>();

    FinalAudit(final KvTable table, final WriteLedger ledger)
    {
        this.table = table;
        this.ledger = ledger;
        keys = ledger.keys().iterator();
    }

    /**
     * Reads with so many threads.
     */
    Verdict run(final int threads) throws InterruptedException
    {
        final WorkerThreads workers = new WorkerThreads();
        for (int i = 0; i < threads; i++)
        {
            workers.start("audit-" + (i + 1), () ->
            {
                for (String key = next(); key != null && !workers.hasFailed(); key = next())
                {
                    audit(key);
                }
            });
        }
        workers.finish(TIMEOUT_NS);
        return new Verdict(records.sum(), violations.sum(), firstViolation.get());
    }

    private String next()
    {
        synchronized (keys)
        {
            return keys.hasNext() ? keys.next() : null;
        }
    }

    private void audit(final String key)
    {
        records.increment();
        final String violation = violation(key);
        if (violation != null)
        {
            violations.increment();
            firstViolation.compareAndSet(null, "record " + key + " " + violation);
        }
    }

    private String violation(final String key)
    {
        try
        {
            final Optional<KvEntry> entry = table.get(key.getBytes(StandardCharsets.UTF_8));
            if (entry.isEmpty())
            {
                return ledger.mustExist(key) ? "is gone" : null;
            }
            final byte[] record = entry.get().value();
            return ledger.violation(key, RecordCodec.writer(record), RecordCodec.sequence(record));
        }
        catch (final KvException | RecordFormatException ex)
        {
            return "cannot be read: " + ex.getMessage();
        }
    }

    /**
     * @param records        read.
     * @param violations     records that hold what they must not.
     * @param firstViolation text of one of them, or null.
     */
    record Verdict(long records, long violations, String firstViolation)
    {
    }
}
