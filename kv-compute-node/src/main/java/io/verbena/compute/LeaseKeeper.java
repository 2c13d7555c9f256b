package io.verbena.compute;

import io.verbena.control.ControlCall;
import io.verbena.control.ControlStatus;
import io.verbena.control.Heartbeat;
import io.verbena.control.Registration;
import io.verbena.table.TableEngine;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Sends heartbeats and knows how long this registration may act. The lease counts from before the request that renewed
 * it was sent, on the local clock, so it ends here before it ends at the meta server. Owned by the node's thread.
 */
final class LeaseKeeper
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LeaseKeeper.class);
    /** An idle node beats more slowly by this factor. */
    private static final int IDLE_FACTOR = 4;

    private final MetaLink metaLink;
    private final TableEngine engine;
    private final CatalogWatch catalog;
    private final LongSupplier passedEpoch;
    private final BooleanSupplier wantsEpochs;
    private final int nodeId;
    private final int incarnation;
    private final long intervalNs;
    private final long idleIntervalNs;
    private final long timeoutNs;
    private final LongSupplier operationCount;
    private long operationsAtLastBeat;
    private ControlCall<Heartbeat> call;
    private long nextAtNs;
    private long leaseEndsNs;
    private boolean lost;
    private boolean isUnheard;
    private long unheardSinceNs;

    LeaseKeeper(
        final SessionParts session, final ControlCall<Registration> registered,
        final ComputeNodeConfiguration configuration, final LongSupplier operationCount,
        final LongSupplier passedEpoch, final BooleanSupplier wantsEpochs)
    {
        final Registration registration = registered.result();
        metaLink = session.metaLink();
        engine = session.engine();
        catalog = session.catalog();
        this.passedEpoch = passedEpoch;
        this.wantsEpochs = wantsEpochs;
        nodeId = registration.nodeId();
        incarnation = registration.incarnation();
        leaseEndsNs = registered.calledAtNs() + registration.leaseNs();
        intervalNs = Math.min(configuration.heartbeatIntervalNs(), registration.leaseNs() / 4);
        idleIntervalNs = Math.min(IDLE_FACTOR * intervalNs, registration.leaseNs() / 4);
        this.operationCount = operationCount;
        timeoutNs = Math.min(configuration.callTimeoutNs(), registration.leaseNs() / 2);
        nextAtNs = registered.calledAtNs() + intervalNs;
    }

    /**
     * @param nowNs time now.
     * @return true if this registration may still touch memory.
     */
    boolean isHeld(final long nowNs)
    {
        return !lost && leaseEndsNs - nowNs > 0;
    }

    /** @return true while a heartbeat is under way. */
    boolean isWaiting()
    {
        return null != call;
    }

    long nextAtNs()
    {
        return nextAtNs;
    }

    int poll(final long nowNs)
    {
        if (null != call)
        {
            if (!call.isDone())
            {
                return 0;
            }
            onAnswer(nowNs);
            return 1;
        }
        if (nowNs - nextAtNs >= 0 && !metaLink.isUsable())
        {
            onUnheard(nowNs, metaLink.failure());
        }
        else if (nowNs - nextAtNs >= 0)
        {
            call = metaLink.client().heartbeat(
                nodeId, incarnation, passedEpoch.getAsLong(), wantsEpochs.getAsBoolean(), timeoutNs);
            final long operations = operationCount.getAsLong();
            nextAtNs = nowNs + (operations == operationsAtLastBeat ? idleIntervalNs : intervalNs);
            operationsAtLastBeat = operations;
            return 1;
        }
        return 0;
    }

    /** @return whether the meta server did not answer last. */
    boolean isUnheard()
    {
        return isUnheard;
    }

    private void onUnheard(final long nowNs, final String why)
    {
        if (!isUnheard)
        {
            isUnheard = true;
            unheardSinceNs = nowNs;
            LOGGER.warn("the meta server cannot be reached: node {} incarnation {} goes on with what it knows for as " +
                "long as its lease lasts, {} ms: {}", nodeId, incarnation, (leaseEndsNs - nowNs) / 1_000_000, why);
        }
    }

    private void onHeard(final long nowNs)
    {
        if (isUnheard)
        {
            isUnheard = false;
            LOGGER.info("the meta server is reached again, after {} ms: node {} incarnation {} has kept its lease",
                (nowNs - unheardSinceNs) / 1_000_000, nodeId, incarnation);
        }
    }

    private void onAnswer(final long nowNs)
    {
        final ControlCall<Heartbeat> ended = call;
        call = null;
        if (ControlStatus.OK == ended.status())
        {
            onHeard(nowNs);
            final Heartbeat heartbeat = ended.result();
            leaseEndsNs = ended.calledAtNs() + heartbeat.leaseNs();
            engine.onEpoch(heartbeat.epoch(), heartbeat.safeEpoch());
            catalog.onHeartbeat(heartbeat);
        }
        else if (ControlStatus.UNKNOWN_NODE == ended.status())
        {
            lost = true;
        }
        else
        {
            // Retried at the next interval; the lease goes on running.
            onUnheard(nowNs, ended.failure());
        }
    }
}
