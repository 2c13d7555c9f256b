package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.table.operation.Step;
import io.verbena.table.trace.OperationTrace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The last traces of operations, in memory that is made once. Written by the node's thread, which allocates nothing,
 * takes no lock and waits for no reader; read by any: a trace that is overwritten while it is read is left out.
 */
final class TraceRing
{
    /** Traces that are kept. */
    static final int CAPACITY = 128;

    private static final int NUMBER = 0;
    private static final int ENDED_MS = 1;
    private static final int BEGAN_NS = 2;
    private static final int DURATION_NS = 3;
    private static final int WAITED_NS = 4;
    private static final int KEY_HASH = 5;
    private static final int KEY_BYTES = 6;
    private static final int VALUE_BYTES = 7;
    private static final int KIND = 8;
    private static final int ANSWER = 9;
    private static final int RETRIES = 10;
    private static final int ENTRIES = 11;
    private static final int KEPT = 12;
    private static final int STEPS = 13;
    private static final int WORDS = STEPS + OperationTrace.CAPACITY * OperationTrace.ENTRY_WORDS;
    /** Stands in place of a number while the rest of a trace is written. */
    private static final long INCOMPLETE = 0;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle TABLE = MethodHandles.arrayElementVarHandle(TableReference[].class);
    private static final RequestKind[] KINDS = RequestKind.values();
    private static final OperationAnswer[] ANSWERS = OperationAnswer.values();

    private final long[][] slots = new long[CAPACITY][WORDS];
    private final TableReference[] tables = new TableReference[CAPACITY];
    private volatile long written;
    private volatile long forgotten;

    /** @return traces that were ever written. */
    long written()
    {
        return written;
    }

    /** Those that were written are not read any more. Any thread. */
    void forgetAll()
    {
        forgotten = written;
    }

    /** Adds a trace; the node's thread. What it was of is as {@link TracedOperation} says. */
    void add(
        final long endedMs, final OperationRequest request, final OperationAnswer answer, final long keyHash,
        final long beganNs, final long durationNs, final long waitedNs, final int retries,
        final OperationTrace trace)
    {
        final long number = written + 1;
        final int at = (int)(number % CAPACITY);
        final long[] slot = slots[at];
        ELEMENT.setOpaque(slot, NUMBER, INCOMPLETE);
        VarHandle.releaseFence();
        slot[ENDED_MS] = endedMs;
        slot[BEGAN_NS] = beganNs;
        slot[DURATION_NS] = durationNs;
        slot[WAITED_NS] = waitedNs;
        slot[KEY_HASH] = keyHash;
        slot[KEY_BYTES] = request.keyLength();
        slot[VALUE_BYTES] = request.valueLength();
        slot[KIND] = request.kind().ordinal();
        slot[ANSWER] = answer.ordinal();
        slot[RETRIES] = retries;
        slot[ENTRIES] = null == trace ? 0 : trace.count();
        slot[KEPT] = null == trace ? 0 : trace.copyTo(slot, STEPS);
        TABLE.setOpaque(tables, at, request.table());
        ELEMENT.setRelease(slot, NUMBER, number);
        written = number;
    }

    /** @return traces that are kept, the latest first. Any thread. */
    List<TracedOperation> read()
    {
        final List<TracedOperation> traces = new ArrayList<>();
        final long last = written;
        final long[] copy = new long[WORDS];
        for (long number = last; number > Math.max(forgotten, last - CAPACITY); number--)
        {
            final int at = (int)(number % CAPACITY);
            final long[] slot = slots[at];
            final long before = (long)ELEMENT.getAcquire(slot, NUMBER);
            System.arraycopy(slot, 0, copy, 0, WORDS);
            final TableReference table = (TableReference)TABLE.getOpaque(tables, at);
            VarHandle.acquireFence();
            if (number == before && number == (long)ELEMENT.getOpaque(slot, NUMBER))
            {
                traces.add(operation(copy, number, table));
            }
        }
        return traces;
    }

    private static TracedOperation operation(final long[] words, final long number, final TableReference table)
    {
        final long beganNs = words[BEGAN_NS];
        final List<TracedOperation.Entry> entries = new ArrayList<>();
        for (int i = 0; i < words[KEPT]; i++)
        {
            final int at = STEPS + i * OperationTrace.ENTRY_WORDS;
            final long code = words[at];
            final long fromNs = OperationTrace.UNKNOWN_NS == words[at + 1] ? 0 : words[at + 1] - beganNs;
            final long toNs =
                OperationTrace.UNKNOWN_NS == words[at + 2] ? words[DURATION_NS] : words[at + 2] - beganNs;
            entries.add(new TracedOperation.Entry(Step.name(OperationTrace.step(code)), OperationTrace.isWait(code),
                OperationTrace.memoryNodeId(code), OperationTrace.verbs(code), OperationTrace.roundTrips(code),
                Math.max(0, fromNs), Math.max(0, toNs - Math.max(0, fromNs))));
        }
        return new TracedOperation(number, words[ENDED_MS], KINDS[(int)words[KIND]], ANSWERS[(int)words[ANSWER]],
            table.name(), words[KEY_HASH], (int)words[KEY_BYTES], (int)words[VALUE_BYTES], words[WAITED_NS],
            words[DURATION_NS], (int)words[RETRIES], (int)(words[ENTRIES] - words[KEPT]), entries);
    }
}
