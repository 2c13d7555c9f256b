package io.verbena.compute.figures;

import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.table.operation.Operation;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.SystemEpochClock;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Which operations on one record were slow, and why; and a sample of all, to compare. Of both the last {@value
 * TraceRing#CAPACITY} are kept. Written by the node's thread, which allocates nothing and takes no lock; read by any.
 */
public final class OperationTraces
{
    /** No operation is slow, or none is sampled. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Most slow operations that are kept. */
    public static final int CAPACITY = TraceRing.CAPACITY;

    private final TraceRing slow = new TraceRing();
    private final TraceRing sampled = new TraceRing();
    private final EpochClock clock;
    private final SplittableRandom random = new SplittableRandom(1);
    private final long thresholdNs;
    private final long oneIn;
    private long untilSample;

    /**
     * @param thresholdNs operations that took so long from their arrival to their answer are slow; 0 or more, or
     *                    {@link #NEVER}.
     * @param oneIn       one in so many is sampled, at random; 1 or more, or {@link #NEVER}.
     * @param clock       wall clock.
     */
    public OperationTraces(final long thresholdNs, final long oneIn, final EpochClock clock)
    {
        this.thresholdNs = thresholdNs;
        this.oneIn = oneIn;
        this.clock = clock;
        untilSample = gap();
    }

    /** @return those of a node that keeps none. */
    public static OperationTraces none()
    {
        return new OperationTraces(NEVER, NEVER, SystemEpochClock.INSTANCE);
    }

    /** So that no operation that recurs in step with the samples is in all or in none of them. */
    private long gap()
    {
        return NEVER == oneIn ? NEVER : 1 == oneIn ? 1 : random.nextLong(1, 2 * oneIn);
    }

    /**
     * An operation was answered. The node's thread.
     *
     * @param request    what was asked.
     * @param operation  what was done.
     * @param answer     to it.
     * @param beganNs    when the node took it.
     * @param durationNs from then to the answer.
     * @param waitedNs   that it waited before, at most.
     */
    public void answered(
        final OperationRequest request, final Operation operation, final OperationAnswer answer, final long beganNs,
        final long durationNs, final long waitedNs)
    {
        if (isSlow(waitedNs, durationNs))
        {
            add(slow, request, operation, answer, beganNs, durationNs, waitedNs);
        }
        if (--untilSample == 0)
        {
            untilSample = gap();
            add(sampled, request, operation, answer, beganNs, durationNs, waitedNs);
        }
    }

    /** Callers wait for an operation from its arrival on, so the time in the queue counts. */
    boolean isSlow(final long waitedNs, final long durationNs)
    {
        return waitedNs + durationNs >= thresholdNs;
    }

    private void add(
        final TraceRing ring, final OperationRequest request, final Operation operation,
        final OperationAnswer answer, final long beganNs, final long durationNs, final long waitedNs)
    {
        ring.add(clock.time(), request, answer, operation.keyHash(), beganNs, durationNs, waitedNs,
            operation.retries(), operation.trace());
    }

    /** An operation was refused after it had waited: its deadline had passed. The node's thread. */
    public void refused(final OperationRequest request, final OperationAnswer answer, final long waitedNs)
    {
        if (isSlow(waitedNs, 0) && !request.kind().isRange())
        {
            slow.add(clock.time(), request, answer, 0, 0, 0, waitedNs, 0, null);
        }
    }

    /** @return what is slow, in ns from arrival to answer; {@link #NEVER} if nothing is. */
    public long thresholdNs()
    {
        return thresholdNs;
    }

    /** @return one in so many is sampled; {@link #NEVER} if none is. */
    public long oneIn()
    {
        return oneIn;
    }

    /** @return slow operations since the node was made; those that are kept are fewer. */
    public long slowCount()
    {
        return slow.written();
    }

    /** @return the slow operations that are kept, the latest first. */
    public List<TracedOperation> slow()
    {
        return slow.read();
    }

    /** @return sampled operations that are kept, the latest first. */
    public List<TracedOperation> sampled()
    {
        return sampled.read();
    }

    /** Slow operations until now are not returned any more. */
    public void forgetSlow()
    {
        slow.forgetAll();
    }
}
