package io.verbena.protocol.session;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.control.MetaClient;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.Registration;
import io.verbena.raas.identity.PeerIdentity;

import java.util.List;

/**
 * The heartbeats of one registration, one at a time, and the lease that they renew. When to send them is the caller's
 * decision. One thread; time comes in.
 */
public final class Heartbeats
{
    /** What became of a heartbeat. */
    public enum Outcome
    {
        /** None has ended since it was asked last. */
        NONE,
        /** The lease was renewed; {@link Heartbeats#latest()} has the rest of the answer. */
        RENEWED,
        /** Not answered, or refused for now; the lease goes on running, and the next heartbeat may renew it. */
        FAILED,
        /** The meta server has ended this registration: nothing may be done under it any more. */
        LOST
    }

    /** One that takes longer than this part of its timeout may have gone to a leader that stands still. */
    private static final int LATE_FRACTION = 4;

    private final Credentials credentials;
    private final int nodeId;
    private final int incarnation;
    private final Lease lease = new Lease();
    private ControlCall<Heartbeat> call;
    private ControlCall<Heartbeat> ended;
    private long lateAfterNs;
    private boolean isLate;
    private boolean isLost;

    /**
     * @param registered  the registration, ended with OK.
     * @param credentials of it; get the secrets and tokens that come.
     */
    public Heartbeats(final ControlCall<Registration> registered, final Credentials credentials)
    {
        this.credentials = credentials;
        nodeId = registered.result().nodeId();
        incarnation = registered.result().incarnation();
        lease.begin(registered);
    }

    /**
     * Sends one of a compute node; not while {@link #isUnderWay()}.
     *
     * @param client      to the meta server.
     * @param passedEpoch see {@link MetaClient#heartbeat}.
     * @param wantsEpochs see {@link MetaClient#heartbeat}.
     * @param left        memory nodes that it was asked to leave and has left.
     * @param timeoutNs   until it has FAILED.
     */
    public void send(
        final MetaClient client, final long passedEpoch, final boolean wantsEpochs, final List<PeerIdentity> left,
        final long timeoutNs)
    {
        begin(timeoutNs);
        call = client.heartbeat(
            nodeId, incarnation, passedEpoch, wantsEpochs, credentials.held(), 0, left, timeoutNs);
    }

    /**
     * Sends one of a memory node; not while {@link #isUnderWay()}.
     *
     * @param client      to the meta server.
     * @param memorySince incarnation since which its memory has everything; 0: it does not say.
     * @param timeoutNs   until it has FAILED.
     */
    public void sendOfMemory(final MetaClient client, final int memorySince, final long timeoutNs)
    {
        begin(timeoutNs);
        call = client.heartbeat(
            nodeId, incarnation, 0, false, credentials.held(), memorySince, List.of(), timeoutNs);
    }

    private void begin(final long timeoutNs)
    {
        if (null != call)
        {
            throw new IllegalStateException("node " + nodeId + " sends a heartbeat before the last one has ended: " +
                call);
        }
        lateAfterNs = timeoutNs / LATE_FRACTION;
        isLate = false;
    }

    /** @return what became of the one sent last; once for each. */
    public Outcome poll()
    {
        if (null == call || !call.isDone())
        {
            return Outcome.NONE;
        }
        ended = call;
        call = null;
        if (ControlStatus.OK == ended.status())
        {
            lease.renew(ended);
            credentials.renew(ended.result());
            return Outcome.RENEWED;
        }
        if (ControlStatus.UNKNOWN_NODE == ended.status() || ControlStatus.FORBIDDEN == ended.status())
        {
            isLost = true;
            return Outcome.LOST;
        }
        return Outcome.FAILED;
    }

    /**
     * Says once of each heartbeat that its answer takes long. It may still come; meanwhile the caller can look for
     * where the meta server is by now, see {@link MetaLink#onLate}.
     *
     * @param nowNs time now.
     * @return whether a quarter of its timeout has passed, for the first time.
     */
    public boolean pollLate(final long nowNs)
    {
        if (null == call || isLate || nowNs - call.calledAtNs() < lateAfterNs)
        {
            return false;
        }
        isLate = true;
        return true;
    }

    /** @return whether one is not answered yet. */
    public boolean isUnderWay()
    {
        return null != call;
    }

    /** @return the answer to the one that ended last; after RENEWED. */
    public Heartbeat latest()
    {
        return ended.result();
    }

    /** @return how the one that ended last did; after FAILED or LOST. */
    public ControlStatus status()
    {
        return ended.status();
    }

    /** @return why the one that ended last failed, one line; after FAILED or LOST. */
    public String failure()
    {
        return ended.failure();
    }

    /**
     * @param nowNs time now.
     * @return whether this registration may still act: neither lost nor over.
     */
    public boolean isHeld(final long nowNs)
    {
        return !isLost && lease.leftNs(nowNs) > 0;
    }

    /** @return number of the node. */
    public int nodeId()
    {
        return nodeId;
    }

    /** @return number of this registration. */
    public int incarnation()
    {
        return incarnation;
    }

    /** @return the lease. */
    public Lease lease()
    {
        return lease;
    }
}
