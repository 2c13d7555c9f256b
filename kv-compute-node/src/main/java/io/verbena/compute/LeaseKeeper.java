package io.verbena.compute;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.Heartbeats;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Sends heartbeats and knows how long this registration may act. A busy node sends them often, and so learns of epochs;
 * an idle one sends a few in each lease, and the meta server says when one is needed earlier, see
 * {@link NotificationRequest}. The lease counts from before the request that renewed it was sent, on the local clock:
 * it ends here before it ends at the meta server. Owned by the node's thread.
 */
final class LeaseKeeper
{
    private static final Logger LOGGER = LoggerFactory.getLogger(LeaseKeeper.class);
    /** A node that only waits for epochs beats more slowly by this factor than one at work. */
    private static final int WAITING_FACTOR = 4;
    /** A node that rests renews its lease so often while it lasts. */
    private static final int BEATS_PER_LEASE = 5;
    /** How long a request to hear of news may go unanswered until it is made again. */
    private static final long NEWS_TIMEOUT_NS = 60_000_000_000L;

    private final MetaLink metaLink;
    private final Consumer<Heartbeat> onHeartbeat;
    private final LongSupplier passedEpoch;
    private final BooleanSupplier wantsEpochs;
    private final Supplier<List<PeerIdentity>> left;
    private final long intervalNs;
    private final long waitingIntervalNs;
    private final long restingIntervalNs;
    private final long timeoutNs;
    private final LongSupplier operationCount;
    private final Heartbeats heartbeats;
    private long operationsAtLastBeat;
    private ControlCall<Void> news;
    /** What the meta server knows that this node has passed. */
    private long toldEpoch;
    private long tellingEpoch;
    private long heardEpoch;
    private long heardVersion;
    private List<PeerIdentity> reportedLeft = List.of();
    private boolean isResting;
    private long lastAtNs;
    private long nextAtNs;
    private boolean isUnheard;
    private long unheardSinceNs;

    /**
     * @param metaLink       over which the node was registered, and which acts as that.
     * @param registered     the registration, ended with OK.
     * @param configuration  of the node.
     * @param onHeartbeat    takes each answer.
     * @param operationCount operations answered so far.
     * @param passedEpoch    the epoch that this node may say it has passed.
     * @param wantsEpochs    whether anything here waits for epochs.
     * @param left           lost memory nodes that this node was asked to leave and has left.
     */
    LeaseKeeper(
        final MetaLink metaLink, final ControlCall<Registration> registered,
        final ComputeNodeConfiguration configuration, final Consumer<Heartbeat> onHeartbeat,
        final LongSupplier operationCount, final LongSupplier passedEpoch, final BooleanSupplier wantsEpochs,
        final Supplier<List<PeerIdentity>> left)
    {
        final Registration registration = registered.result();
        this.metaLink = metaLink;
        this.onHeartbeat = onHeartbeat;
        this.passedEpoch = passedEpoch;
        this.wantsEpochs = wantsEpochs;
        this.left = left;
        heartbeats = new Heartbeats(registered, metaLink.credentials());
        intervalNs = Math.min(configuration.heartbeatIntervalNs(), registration.leaseNs() / 4);
        waitingIntervalNs = Math.min(WAITING_FACTOR * intervalNs, registration.leaseNs() / 4);
        restingIntervalNs = Math.max(waitingIntervalNs, registration.leaseNs() / BEATS_PER_LEASE);
        heardEpoch = registration.epoch();
        toldEpoch = heardEpoch - 1;
        heardVersion = registration.membershipVersion();
        this.operationCount = operationCount;
        timeoutNs = Math.min(configuration.callTimeoutNs(), registration.leaseNs() / 2);
        lastAtNs = registered.calledAtNs();
        nextAtNs = lastAtNs + intervalNs;
    }

    /**
     * @param nowNs time now.
     * @return true if this registration may still touch memory.
     */
    boolean isHeld(final long nowNs)
    {
        return heartbeats.isHeld(nowNs);
    }

    /** @return when this registration may touch memory no longer, unless it is renewed. */
    long endsNs()
    {
        return heartbeats.lease().endsNs();
    }

    /** @return true while a heartbeat is under way. */
    boolean isWaiting()
    {
        return heartbeats.isUnderWay();
    }

    /** @return when it beats next, or asks for news. */
    long nextAtNs()
    {
        final boolean asksSoon = isResting && null == news && metaLink.isUsable();
        return asksSoon ? Math.min(nextAtNs, lastAtNs + waitingIntervalNs) : nextAtNs;
    }

    int poll(final long nowNs)
    {
        return pollNews(nowNs) + pollBeat(nowNs);
    }

    /** While it rests, the meta server reports when somebody waits for this node, or what it knows is old. */
    private int pollNews(final long nowNs)
    {
        if (null != news && news.isDone())
        {
            // However it ended: without it, what is new is heard by heartbeats only.
            news = null;
            hasten();
            return 1;
        }
        if (null == news && isResting && !heartbeats.isUnderWay() && metaLink.isUsable() &&
            (!hasNothingToTell() || nowNs - lastAtNs - waitingIntervalNs >= 0))
        {
            news = metaLink.client().awaitChange(
                new NotificationRequest(heartbeats.nodeId(), heartbeats.incarnation(), heardEpoch, heardVersion),
                NEWS_TIMEOUT_NS);
            return 1;
        }
        return 0;
    }

    /**
     * Who waits for this node would have it say at once what it said already: something here delays the epoch. When
     * that is over, it asks for changes. The rest, a new version above all, it hears as one who waits does.
     */
    private boolean hasNothingToTell()
    {
        return toldEpoch < heardEpoch - 1 && passedEpoch.getAsLong() <= toldEpoch;
    }

    private void hasten()
    {
        isResting = false;
        nextAtNs = Math.min(nextAtNs - lastAtNs, intervalNs) + lastAtNs;
    }

    private int pollBeat(final long nowNs)
    {
        if (heartbeats.isUnderWay())
        {
            return onAnswer(nowNs);
        }
        if (isResting && (operationCount.getAsLong() != operationsAtLastBeat || wantsEpochs.getAsBoolean() ||
            !reportedLeft.equals(left.get())))
        {
            hasten();
        }
        if (nowNs - nextAtNs >= 0 && !metaLink.isUsable())
        {
            onUnheard(nowNs, metaLink.failure());
        }
        else if (nowNs - nextAtNs >= 0)
        {
            beat(nowNs);
            return 1;
        }
        return 0;
    }

    private void beat(final long nowNs)
    {
        final boolean isWaiting = wantsEpochs.getAsBoolean();
        tellingEpoch = passedEpoch.getAsLong();
        reportedLeft = left.get();
        heartbeats.send(metaLink.client(), tellingEpoch, isWaiting, reportedLeft, timeoutNs);
        final long operations = operationCount.getAsLong();
        final boolean isIdle = operations == operationsAtLastBeat;
        isResting = isIdle && !isWaiting;
        lastAtNs = nowNs;
        nextAtNs = nowNs + (isResting ? restingIntervalNs : isIdle ? waitingIntervalNs : intervalNs);
        operationsAtLastBeat = operations;
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
                "long as its lease lasts, {} ms: {}", heartbeats.nodeId(), heartbeats.incarnation(),
                heartbeats.lease().leftNs(nowNs) / 1_000_000, why);
        }
    }

    private void onHeard(final long nowNs)
    {
        if (isUnheard)
        {
            isUnheard = false;
            LOGGER.info("the meta server is reached again, after {} ms: node {} incarnation {} has kept its lease",
                (nowNs - unheardSinceNs) / 1_000_000, heartbeats.nodeId(), heartbeats.incarnation());
        }
    }

    /** The link moves to where the meta server is found. */
    private int lookAround(final long nowNs)
    {
        if (!heartbeats.pollLate(nowNs))
        {
            return 0;
        }
        metaLink.onLate();
        return 1;
    }

    private int onAnswer(final long nowNs)
    {
        switch (heartbeats.poll())
        {
            case NONE ->
            {
                return lookAround(nowNs);
            }
            case RENEWED ->
            {
                onHeard(nowNs);
                final Heartbeat heartbeat = heartbeats.latest();
                onHeartbeat.accept(heartbeat);
                toldEpoch = Math.max(toldEpoch, tellingEpoch);
                heardEpoch = heartbeat.epoch();
                heardVersion = heartbeat.membershipVersion();
            }
            case LOST ->
            {
                // Nothing is held any more: the session ends.
            }
            case FAILED ->
            {
                // Retried soon; the lease goes on running.
                hasten();
                metaLink.onUnanswered();
                onUnheard(nowNs, heartbeats.failure());
            }
        }
        return 1;
    }
}
