package io.verbena.server;

import io.verbena.compute.figures.OperationTraces;
import io.verbena.compute.figures.TracedOperation;
import io.verbena.resp.session.SlowOperations;

import java.util.List;
import java.util.Locale;

/** The slow operations of a compute node as its port for Redis' protocol shows them. Any thread. */
final class SlowlogOfPort implements SlowOperations
{
    private final OperationTraces traces;

    SlowlogOfPort(final OperationTraces traces)
    {
        this.traces = traces;
    }

    @Override
    public long thresholdNs()
    {
        return OperationTraces.NEVER == traces.thresholdNs() ? NEVER : traces.thresholdNs();
    }

    @Override
    public int capacity()
    {
        return OperationTraces.CAPACITY;
    }

    @Override
    public List<SlowOperation> latestFirst()
    {
        return traces.slow().stream().map(SlowlogOfPort::of).toList();
    }

    /** Redis counts from 0, and calls what it counts commands; keys are not kept, only their hashes. */
    private static SlowOperation of(final TracedOperation operation)
    {
        return new SlowOperation(operation.number() - 1, operation.endedMs(), operation.responseNs(), List.of(
            operation.kind().name().toLowerCase(Locale.ROOT),
            "table=" + operation.table(),
            String.format(Locale.ROOT, "key_hash=%016x", operation.keyHash()),
            "key_bytes=" + operation.keyBytes(),
            "value_bytes=" + operation.valueBytes(),
            "answer=" + operation.answer().name().toLowerCase(Locale.ROOT)));
    }

    @Override
    public void forget()
    {
        traces.forgetSlow();
    }
}
