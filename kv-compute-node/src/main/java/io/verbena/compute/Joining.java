package io.verbena.compute;

import io.verbena.compute.figures.JoinTimeline;
import io.verbena.compute.figures.UnexpectedFailures;
import io.verbena.compute.request.OperationDispatcher;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.raas.RaasContext;
import io.verbena.raas.failure.Backoff;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.VerbCounters;

import java.util.concurrent.TimeUnit;

/**
 * Registers a node, as often as it takes, with pauses between attempts. Owned by the node's thread; time comes in.
 */
final class Joining implements AutoCloseable
{
    /** Longest pause before joining again: 20 ms. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Longest pause after several attempts to join: 160 ms. */
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(160);

    /** A server that is mistaken does not keep a node away for longer. */
    private static final long MAX_RETRY_DELAY_NS = TimeUnit.SECONDS.toNanos(1);

    private final Device device;
    private final MetaServerLocator metaServer;
    private final ComputeNodeConfiguration configuration;
    private final JoinTimeline timeline;
    private final UnexpectedFailures failures;
    private final Backoff backoff;
    private final long beganNs;
    private boolean hasServed;
    private boolean isPausing;
    private long nextAtNs;
    private long retryDelayNs;
    private int forbiddenInRow;
    private SessionStart start;

    Joining(
        final Device device, final MetaServerLocator metaServer, final ComputeNodeConfiguration configuration,
        final JoinTimeline timeline, final UnexpectedFailures failures)
    {
        this.device = device;
        this.metaServer = metaServer;
        this.configuration = configuration;
        this.timeline = timeline;
        this.failures = failures;
        backoff = new Backoff(PAUSE_NS, MAX_PAUSE_NS, device.random());
        beganNs = device.clock().nanoTime();
    }

    int poll(final long nowNs)
    {
        if (null != start)
        {
            return start.poll(nowNs);
        }
        if (isPausing && nowNs - nextAtNs < 0)
        {
            return 0;
        }
        isPausing = false;
        start = new SessionStart(device, metaServer, configuration, timeline, failures);
        return 1;
    }

    /** @return whether there is a registration that {@link #begin} makes a session of. */
    boolean isRegistered()
    {
        return null != start && start.isDone() && start.failure().isEmpty();
    }

    /** @return why the present attempt came to nothing; empty as long as it has not. */
    String failure()
    {
        return null != start && start.isDone() ? start.failure() : "";
    }

    /** @return the session, once {@link #isRegistered()}. */
    NodeSession begin(final OperationDispatcher dispatcher)
    {
        final NodeSession session = start.begin(dispatcher, timeline, failures);
        start = null;
        return session;
    }

    /** A session serves: the next pause is a first one. */
    void onServing()
    {
        hasServed = true;
        backoff.reset();
    }

    /** An attempt, or a session, has failed: the next one comes after a pause, and not before the server wants it. */
    void pause(final long nowNs)
    {
        isPausing = true;
        // Those that were refused at one instant do not come back at one instant.
        nextAtNs = nowNs + Math.max(backoff.nextPauseNs(), retryDelayNs + device.random().nextLong(retryDelayNs + 1));
        retryDelayNs = 0;
    }

    /** @return whether the node has never served, and its time to join is over. */
    boolean isLate(final long nowNs)
    {
        return !hasServed && nowNs - beganNs > configuration.joinTimeoutNs();
    }

    /**
     * @return whether the node has never served, and may not, as the meta server has said twice: between the two it was
     *     asked for what proves a node now, which is another thing after it was started with certificates of roles.
     */
    boolean isForbidden()
    {
        return !hasServed && forbiddenInRow > 1;
    }

    /** @return whether an attempt is under way. */
    boolean isUnderWay()
    {
        return null != start;
    }

    /** @return whether the meta server cannot be reached now; while {@link #isUnderWay()}. */
    boolean isMetaServerUnreachable()
    {
        return start.isMetaServerUnreachable();
    }

    /** @return what the present attempt has posted; a new object. */
    VerbCounters counters()
    {
        return null == start ? new VerbCounters() : start.counters();
    }

    /** @return the connections of the present attempt by what carries them; a new map. */
    RaasContext.Transports transports()
    {
        return null == start ? RaasContext.Transports.NONE : start.transports();
    }

    /** Gives the present attempt up. */
    @Override
    public void close()
    {
        if (null != start)
        {
            retryDelayNs = Math.min(start.retryDelayNs(), MAX_RETRY_DELAY_NS);
            forbiddenInRow = start.isDone() && start.isForbidden() ? forbiddenInRow + 1 : 0;
            start.close();
            start = null;
        }
    }
}
