package io.verbena.memory;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.Heartbeats;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerListing;
import io.verbena.raas.directory.PeerRecord;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * This node's membership as a state machine: register, learn who else is a member, confirm, then keep the lease. The
 * lease counts from before the request that got it was sent, so it ends here before it ends at the meta server. Time
 * comes in; one thread.
 */
final class Membership
{
    enum State
    {
        /** Asking for a registration. */
        REGISTERING,
        /** Registered; learning who is a member. */
        LISTING,
        /** Knows whom to admit; letting the meta server know that from now on it may admit. */
        CONFIRMING,
        /** Holds a lease, knows whom to admit, and the meta server knows that. */
        MEMBER,
        /** The lease has ended, or the meta server says so: nothing may be admitted; {@link #rejoin} begins anew. */
        LOST,
        /** Refused for good; {@link #failure()} says why. */
        REFUSED,
        /** Said good-bye, or tried to. */
        LEFT
    }

    /** A server that is mistaken does not keep a node away for longer. */
    private static final long MAX_RETRY_DELAY_NS = TimeUnit.SECONDS.toNanos(1);
    /** A lease lasts this many heartbeats. */
    private static final int HEARTBEATS_PER_LEASE = 10;

    private final MetaLink link;
    private final NodeRegistration request;
    private final long callTimeoutNs;
    private final long retryPauseNs;
    private final Set<PeerIdentity> members = new HashSet<>();
    private List<PeerIdentity> spares = List.of();
    private State state = State.REGISTERING;
    private String failure = "";
    private boolean isUnheard;
    private boolean isForbidden;
    private int nodeId;
    private int incarnation;
    private long clusterId;
    private long nextCallNs;
    private ControlCall<Registration> registering;
    private ReadTargetAddress readTarget;
    private PeerListing listing;
    private long registeredVersion;
    private Heartbeats heartbeats;
    private int memorySince;
    private ControlCall<Void> leaving;

    Membership(
        final MetaLink link,
        final NodeRegistration request,
        final long callTimeoutNs,
        final long retryPauseNs,
        final long nowNs)
    {
        this.link = link;
        this.request = request;
        this.callTimeoutNs = callTimeoutNs;
        this.retryPauseNs = retryPauseNs;
        this.nextCallNs = nowNs;
        this.nodeId = request.nodeId();
        this.clusterId = request.clusterId();
        readTarget = request.readTarget();
    }

    State state()
    {
        return state;
    }

    /** @return how messages to the meta server travel; none while not connected. */
    String transport()
    {
        return link.transport();
    }

    /** Why the last call failed, one line; empty when none did since the last success. */
    String failure()
    {
        return failure;
    }

    /** Whether the last call was not answered. */
    boolean isUnheard()
    {
        return isUnheard;
    }

    int nodeId()
    {
        return nodeId;
    }

    int incarnation()
    {
        return incarnation;
    }

    /** The cluster that this node belongs to, 0 before it knows one. */
    long clusterId()
    {
        return clusterId;
    }

    /** Identities that compute nodes may be given any time, as last heard. */
    List<PeerIdentity> spares()
    {
        return spares;
    }

    /**
     * Nodes that were members at some moment after this registration, or may become members under an identity that is
     * older than it; complete once MEMBER.
     */
    Set<PeerIdentity> membersAtStart()
    {
        return members;
    }

    /**
     * Says since when the memory has everything, with each heartbeat of this registration; once that is written down.
     *
     * @param since an incarnation of this node.
     */
    void memorySince(final int since)
    {
        memorySince = since;
    }

    /**
     * Begins a new registration under the same node id; whatever the old one admitted must be cut off before.
     *
     * @param newReadTarget of this registration.
     * @param nowNs         time now.
     */
    void rejoin(final ReadTargetAddress newReadTarget, final long nowNs)
    {
        readTarget = newReadTarget;
        if (0 != incarnation)
        {
            link.actAsNobody();
        }
        state = State.REGISTERING;
        nextCallNs = nowNs;
        registering = null;
        listing = null;
        heartbeats = null;
        memorySince = 0;
    }

    /** Says good-bye; whatever was admitted must be cut off before. */
    void leave()
    {
        leaving = 0 == incarnation ? null : link.freshClient().leave(nodeId, incarnation, callTimeoutNs);
        state = null == leaving ? State.LEFT : state;
    }

    int poll(final long nowNs)
    {
        if (null != leaving)
        {
            return pollLeaving();
        }

        if (hasLease() && !heartbeats.isHeld(nowNs))
        {
            state = State.LOST;
            failure = "the lease ended unrenewed" + (failure.isEmpty() ? "" : ": " + failure);
            return 1;
        }

        return switch (state)
        {
            case REGISTERING -> pollRegistering(nowNs);
            case LISTING -> pollListing(nowNs);
            case CONFIRMING, MEMBER -> pollRenewing(nowNs);
            case LOST, REFUSED, LEFT -> 0;
        };
    }

    /** How long nothing is due, if no answer comes; of a member. */
    long idleNs(final long nowNs)
    {
        return Math.min(nextCallNs - nowNs, heartbeats.lease().leftNs(nowNs));
    }

    private boolean hasLease()
    {
        return State.MEMBER == state || State.LISTING == state || State.CONFIRMING == state;
    }

    private int pollLeaving()
    {
        if (leaving.isDone() && State.LEFT != state)
        {
            // Unheard or not, the node is gone; unheard, its lease ends by itself.
            state = State.LEFT;
            return 1;
        }

        return 0;
    }

    private int pollRegistering(final long nowNs)
    {
        if (null == registering)
        {
            if (nextCallNs - nowNs <= 0)
            {
                registering = link.freshClient().register(
                    new NodeRegistration(
                        nodeId,
                        NodeRole.MEMORY_NODE,
                        request.device(),
                        request.servicePort(),
                        request.region(),
                        request.memoryId(),
                        clusterId,
                        readTarget).inFailureDomain(request.failureDomain()),
                    callTimeoutNs);
                return 1;
            }

            return 0;
        }

        if (!registering.isDone())
        {
            return 0;
        }

        final ControlCall<Registration> ended = registering;
        registering = null;

        if (ControlStatus.OK == ended.status())
        {
            heartbeats = new Heartbeats(ended, link.actAs(ended.result()));
            onRegistered(ended.result(), nowNs);
        }
        else if (isFinal(ended.status()) || ControlStatus.FORBIDDEN == ended.status() && 0 == nodeId && isForbidden)
        {
            // The second time: in between it asked for what proves a node now. A node that has memory waits: a
            // certificate that was revoked may be accepted again.
            state = State.REFUSED;
            failure = ended.failure();
        }
        else
        {
            isForbidden = ControlStatus.FORBIDDEN == ended.status();
            retryLater(ended.status(), ended.failure(), nowNs);
            nextCallNs = nowNs + Math.max(retryPauseNs, Math.min(ended.retryDelayNs(), MAX_RETRY_DELAY_NS));
        }

        return 1;
    }

    private void onRegistered(final Registration registration, final long nowNs)
    {
        nodeId = registration.nodeId();
        incarnation = registration.incarnation();
        clusterId = registration.clusterId();
        nextCallNs = nowNs;
        failure = "";
        isUnheard = false;
        members.clear();
        spares = registration.spares();
        members.addAll(spares);
        registeredVersion = registration.membershipVersion();
        state = State.LISTING;
    }

    /** Who is a member now is read where the meta server shows it; not older than this registration. */
    private int pollListing(final long nowNs)
    {
        if (null == listing)
        {
            if (nextCallNs - nowNs <= 0)
            {
                link.freshClient();
                listing = link.directory().listNodes(registeredVersion, callTimeoutNs);
                return 1;
            }

            return 0;
        }

        final int workCount = link.directory().poll();
        if (PeerListing.State.PENDING == listing.state())
        {
            return workCount;
        }
        final PeerListing ended = listing;
        listing = null;
        if (PeerListing.State.LISTED == ended.state())
        {
            ended.records().stream().map(PeerRecord::identity).forEach(members::add);
            state = State.CONFIRMING;
            failure = "";
            nextCallNs = nowNs;
        }
        else
        {
            retryLater(ended.failure(), true, nowNs);
        }

        return 1;
    }

    private int pollRenewing(final long nowNs)
    {
        if (!heartbeats.isUnderWay())
        {
            if (nextCallNs - nowNs <= 0)
            {
                heartbeats.sendOfMemory(link.freshClient(), memorySince, callTimeoutNs);
                nextCallNs = nowNs + heartbeats.lease().lengthNs() / HEARTBEATS_PER_LEASE;
                return 1;
            }

            return 0;
        }

        switch (heartbeats.poll())
        {
            case NONE ->
            {
                return lookAround(nowNs) + link.poll(nowNs);
            }
            case RENEWED ->
            {
                failure = "";
                isUnheard = false;
                spares = heartbeats.latest().spares();
                state = State.MEMBER;
            }
            case LOST ->
            {
                state = State.LOST;
                isUnheard = false;
                failure = heartbeats.failure();
            }
            case FAILED -> retryLater(heartbeats.status(), heartbeats.failure(), nowNs);
        }

        return 1;
    }

    /** The link moves to where the meta server is found. */
    private int lookAround(final long nowNs)
    {
        if (!heartbeats.pollLate(nowNs))
        {
            return 0;
        }
        link.onLate();
        return 1;
    }

    private void retryLater(final ControlStatus status, final String why, final long nowNs)
    {
        retryLater(
            status + ": " + why, ControlStatus.TIMED_OUT == status || ControlStatus.PEER_FAILED == status, nowNs);
    }

    private void retryLater(final String why, final boolean isSilent, final long nowNs)
    {
        failure = why;
        isUnheard = isSilent;
        nextCallNs = nowNs + retryPauseNs;
        link.onUnanswered();
    }

    private static boolean isFinal(final ControlStatus status)
    {
        return switch (status)
        {
            case UNKNOWN_NODE, EXHAUSTED, INVALID_REQUEST, REFUSED, MALFORMED_REPLY -> true;
            default -> false;
        };
    }
}
