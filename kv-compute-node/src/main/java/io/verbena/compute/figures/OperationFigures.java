package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Operations that a node has answered, by kind and answer, and how long they took, by kind; and how long operations on
 * one record waited and took together, of all kinds. Counts never go back while the node lives. Written by the node's
 * thread, which allocates nothing and takes no lock; read by any: a reader may see an operation counted in one place
 * and not yet in the other.
 */
public final class OperationFigures
{
    /** Durations are counted up to this many bounds, each twice the one before; and beyond the last. */
    public static final int BOUND_COUNT = 25;
    /** The first bound: 1 microsecond. The last is 16.8 s. */
    public static final long FIRST_BOUND_NS = 1_000;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int KINDS = RequestKind.values().length;
    private static final int ANSWERS = OperationAnswer.values().length;
    private static final int BUCKETS = BOUND_COUNT + 1;

    private final OperationTraces traces;
    private final long[] answers = new long[KINDS * ANSWERS];
    private final long[] durations = new long[KINDS * BUCKETS];
    private final long[] totalNs = new long[KINDS];
    private final long[] waits = new long[BUCKETS];
    private final long[] responses = new long[BUCKETS];
    private final long[] waitNs = new long[1];
    private final long[] responseNs = new long[1];
    private final long[] all = new long[1];
    private boolean isPaused;

    /** Of a node that keeps no traces. */
    public OperationFigures()
    {
        this(OperationTraces.none());
    }

    /** @param traces that the node keeps. */
    public OperationFigures(final OperationTraces traces)
    {
        this.traces = traces;
    }

    /** @return which operations were slow, and why. */
    public OperationTraces traces()
    {
        return traces;
    }

    /**
     * Counts an operation that was begun. The node's thread.
     *
     * @param kind       of it.
     * @param answer     to it.
     * @param durationNs from when the node took it to its answer; less than 0 counts as 0.
     */
    public void answered(final RequestKind kind, final OperationAnswer answer, final long durationNs)
    {
        if (isPaused)
        {
            return;
        }
        refused(kind, answer);
        add(all, 0, 1);
        add(durations, kind.ordinal() * BUCKETS + bucketOf(durationNs), 1);
        add(totalNs, kind.ordinal(), Math.max(0, durationNs));
    }

    /**
     * As {@link #answered(RequestKind, OperationAnswer, long)}, for an operation on one record. The node's thread.
     *
     * @param kind       of it.
     * @param answer     to it.
     * @param durationNs from when the node took it to its answer; less than 0 counts as 0.
     * @param queuedNs   that it waited at the node before, at most; 0 or more.
     */
    public void answered(
        final RequestKind kind, final OperationAnswer answer, final long durationNs, final long queuedNs)
    {
        if (isPaused)
        {
            return;
        }
        answered(kind, answer, durationNs);
        final long bothNs = queuedNs + Math.max(0, durationNs);
        add(waits, bucketOf(queuedNs), 1);
        add(responses, bucketOf(bothNs), 1);
        add(waitNs, 0, queuedNs);
        add(responseNs, 0, bothNs);
    }

    /**
     * Counts an operation that was answered without being begun, which took no time worth counting. The node's thread.
     *
     * @param kind   of it.
     * @param answer to it.
     */
    public void refused(final RequestKind kind, final OperationAnswer answer)
    {
        add(answers, kind.ordinal() * ANSWERS + answer.ordinal(), 1);
    }

    /**
     * Counts nothing that was begun, or counts it again: what a node asks itself is no operation of anybody. The node's
     * thread.
     */
    public void pause(final boolean pauses)
    {
        isPaused = pauses;
    }

    /** @return whether nothing is counted now. The node's thread. */
    public boolean isPaused()
    {
        return isPaused;
    }

    /** @return operations of all kinds that were begun and answered. */
    public long answeredCount()
    {
        return (long)ELEMENT.getOpaque(all, 0);
    }

    /** @return operations of this kind that were answered so, begun or not. */
    public long count(final RequestKind kind, final OperationAnswer answer)
    {
        return (long)ELEMENT.getOpaque(answers, kind.ordinal() * ANSWERS + answer.ordinal());
    }

    /**
     * Operations of a kind that were begun and answered, by how long they took.
     *
     * @param kind  of them.
     * @param index 0 to {@link #BOUND_COUNT}: of the bucket; the last one has no bound.
     * @return how many took at most {@link #boundNs(int)}, and longer than the bound before.
     */
    public long durationCount(final RequestKind kind, final int index)
    {
        return (long)ELEMENT.getOpaque(durations, kind.ordinal() * BUCKETS + index);
    }

    /** @return nanoseconds that operations of this kind took together. */
    public long totalNs(final RequestKind kind)
    {
        return (long)ELEMENT.getOpaque(totalNs, kind.ordinal());
    }

    /** @return nanoseconds that operations of all kinds took together: divided by time, how many were under way. */
    public long totalNs()
    {
        long sumNs = 0;
        for (int i = 0; i < KINDS; i++)
        {
            sumNs += (long)ELEMENT.getOpaque(totalNs, i);
        }
        return sumNs;
    }

    /** @return nanoseconds that operations on one record waited at the node, together and at most. */
    public long totalWaitNs()
    {
        return (long)ELEMENT.getOpaque(waitNs, 0);
    }

    /** @return nanoseconds from the arrival of operations on one record to their answers, together and at most. */
    public long totalResponseNs()
    {
        return (long)ELEMENT.getOpaque(responseNs, 0);
    }

    /** @return operations on one record by how long they waited at most; a bucket each, as of durations. */
    public long[] waitCounts()
    {
        return copy(waits);
    }

    /** @return operations on one record by the time from arrival to answer; a bucket each, as of durations. */
    public long[] responseCounts()
    {
        return copy(responses);
    }

    private static long[] copy(final long[] counts)
    {
        final long[] copy = new long[counts.length];
        for (int i = 0; i < copy.length; i++)
        {
            copy[i] = (long)ELEMENT.getOpaque(counts, i);
        }
        return copy;
    }

    /**
     * @param index 0 to {@link #BOUND_COUNT} - 1.
     * @return the bound in nanoseconds, which belongs to the bucket.
     */
    public static long boundNs(final int index)
    {
        return FIRST_BOUND_NS << index;
    }

    /** @return index of the bucket of a duration in nanoseconds. */
    static int bucketOf(final long durationNs)
    {
        return durationNs <= FIRST_BOUND_NS ? 0 :
            Math.min(BOUND_COUNT, Long.SIZE - Long.numberOfLeadingZeros((durationNs - 1) / FIRST_BOUND_NS));
    }

    /** There is one writer: what it reads back is its own. */
    private static void add(final long[] counts, final int index, final long amount)
    {
        ELEMENT.setOpaque(counts, index, counts[index] + amount);
    }
}
