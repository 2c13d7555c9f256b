package io.verbena.compute;

import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests that met a RuntimeException, which no answer foresees: each fails alone, is counted, and is logged, at most
 * one each second. The node's thread reports them; any thread reads the count.
 *
 * <p>Only what belongs to one request, and leaves nothing half changed here, is treated so. An exception out of a step
 * of the engine, of the lease or of a connection breaks an invariant on which other operations stand: it ends the node,
 * whose memory others take over.
 */
final class UnexpectedFailures
{
    /** Least time between two lines of the log: 1 s. */
    static final long LOG_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final Logger LOGGER = LoggerFactory.getLogger(UnexpectedFailures.class);

    private final NanoClock clock;
    private final AtomicLong count = new AtomicLong();
    private long loggedCount;
    private long loggedAtNs;

    UnexpectedFailures(final NanoClock clock)
    {
        this.clock = clock;
    }

    /** @return how many requests failed so; any thread. */
    long count()
    {
        return count.get();
    }

    /**
     * Counts a failure, and logs it unless one was logged a moment ago.
     *
     * @param request that failed.
     * @param cause   what it met.
     * @return text for whoever made the request.
     */
    String onFailure(final Object request, final RuntimeException cause)
    {
        final long now = count.getPlain() + 1;
        count.lazySet(now);
        final long nowNs = clock.nanoTime();
        if (0 == loggedCount || nowNs - loggedAtNs >= LOG_PAUSE_NS)
        {
            LOGGER.error("a request failed unexpectedly, and {} since the last such line: {}",
                now - loggedCount - 1, request, cause);
            loggedCount = now;
            loggedAtNs = nowNs;
        }
        return "compute node failed on this request, its log says where: " + cause;
    }
}
