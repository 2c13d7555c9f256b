package io.verbena.compute.figures;

import io.verbena.protocol.message.ControlException;
import io.verbena.raas.usage.ContextUsage;
import io.verbena.raas.completion.Replays;
import io.verbena.raas.failure.FailureLog;

import org.agrona.LangUtil;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What fails unexpectedly and does not end a compute node. Requests that met a RuntimeException, which no answer
 * foresees: each fails alone, is counted, and is logged, at most one each second. And DC initiators: they are counted
 * and logged, and memory nodes are read over connected queue pairs. The node's thread reports them; any thread reads
 * the counts.
 *
 * <p>Only what belongs to one request, and leaves nothing half changed here, is treated so. An exception out of a step
 * of the engine, of the lease or of a connection breaks an invariant on which other operations stand: it ends the node,
 * whose memory others take over.
 */
public final class UnexpectedFailures
{
    private static final Logger LOGGER = LoggerFactory.getLogger(UnexpectedFailures.class);

    private final FailureLog requests;
    private final AtomicLong dcInitiatorCount = new AtomicLong();
    private final NanoClock clock;
    private volatile ContextUsage usage = ContextUsage.NONE;
    private long loggedDcInitiatorCount;
    private long loggedDcInitiatorAtNs;

    /** @param clock of the device, in nanoseconds. */
    public UnexpectedFailures(final NanoClock clock)
    {
        this.clock = clock;
        requests = new FailureLog(LOGGER::error, clock, "a request failed unexpectedly");
    }

    /** @return requests so far that met a RuntimeException of this node's code, and failed alone; any thread. */
    public long requestCount()
    {
        return requests.count();
    }

    /** @return DC initiators so far that could not be made, or broke; any thread. */
    public long dcInitiatorCount()
    {
        return dcInitiatorCount.get();
    }

    /** @return what became of connections of the present session that broke, as of the last heartbeat; any thread. */
    public Replays replays()
    {
        return usage.replays();
    }

    /** @return connections and tenants of the present session, as of the last heartbeat; any thread. */
    public ContextUsage usage()
    {
        return usage;
    }

    /** Takes what connections and tenants did. */
    public void onUsage(final ContextUsage counted)
    {
        usage = counted;
    }

    /**
     * Takes what a callback of this node threw. An error of one control call, which has failed by then, is counted and
     * logged; any other ends the node.
     */
    public void onCallbackError(final Throwable error)
    {
        if (!(error instanceof final ControlException ofCall))
        {
            LangUtil.rethrowUnchecked(error);
            return;
        }
        onFailure("control call", ofCall);
    }

    /** Counts a DC initiator that failed, and logs it unless one was logged a moment ago. */
    public void onDcFailure(final Throwable cause)
    {
        final long now = dcInitiatorCount.getPlain() + 1;
        dcInitiatorCount.lazySet(now);
        final long nowNs = clock.nanoTime();
        if (0 == loggedDcInitiatorCount || nowNs - loggedDcInitiatorAtNs >= FailureLog.PAUSE_NS)
        {
            LOGGER.warn("a DC initiator failed, and {} since the last such line; memory nodes are read over " +
                "connected queue pairs instead: {}", now - loggedDcInitiatorCount - 1, cause.getMessage());
            loggedDcInitiatorCount = now;
            loggedDcInitiatorAtNs = nowNs;
        }
    }

    /**
     * Counts a failure, and logs it unless one was logged a moment ago.
     *
     * @param request that failed, or what is done for requests.
     * @param cause   what it met.
     * @return text for whoever made the request.
     */
    public String onFailure(final Object request, final RuntimeException cause)
    {
        requests.add(request, cause);
        return "compute node failed on this request, its log says where: " + cause;
    }
}
