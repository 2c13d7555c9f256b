package io.verbena.resp.session;

import io.verbena.resp.session.SlowOperations.SlowOperation;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The slow operations of the node as one port shows them. Thread-safe. */
public final class SlowLog
{
    private final SlowOperations operations;
    /** Operations below this number are no latencies any more. */
    private final AtomicLong firstLatency = new AtomicLong();

    /** @param operations of the node. */
    public SlowLog(final SlowOperations operations)
    {
        this.operations = operations;
    }

    /** @return those of the node. */
    public SlowOperations operations()
    {
        return operations;
    }

    /** @return those since the latencies were reset, the latest first. */
    public List<SlowOperation> latencies()
    {
        final long first = firstLatency.get();
        return operations.latestFirst().stream().filter((operation) -> operation.number() >= first).toList();
    }

    /**
     * Begins the latencies again; the slow operations stay.
     *
     * @return whether there were any.
     */
    public boolean resetLatencies()
    {
        final List<SlowOperation> latencies = latencies();
        if (latencies.isEmpty())
        {
            return false;
        }
        firstLatency.accumulateAndGet(latencies.getFirst().number() + 1, Math::max);
        return true;
    }
}
