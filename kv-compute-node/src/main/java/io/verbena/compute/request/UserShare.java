package io.verbena.compute.request;

import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.request.OperationRequest;

import java.util.concurrent.TimeUnit;

/** What one user has at a node: what it has used of its quota, and which of its requests wait. The node's thread. */
final class UserShare
{
    /** When to try again where that depends on answers to other requests of the user: 1 ms. */
    static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** No request. */
    static final int NONE = -1;
    private static final String OVER_WAITING = "take as many of the places to wait at a compute node as one may";

    private final RateLimit operations = new RateLimit();
    private final RateLimit bytes = new RateLimit();
    private int generation;
    private UserQuota quota = UserQuota.NONE;
    private final WaitingPlaces places;
    private String overOperations;
    private String overBytes;
    private String overOutstanding;
    private String overScans;
    private String overWaiting = "requests of those who are no users " + OVER_WAITING;
    private int underWay;
    private int scans;
    private int awaitingTables;

    /** Of {@link UserShares}: the list of what waits. */
    int head = NONE;
    int tail = NONE;
    int waiting;
    /** Of {@link UserShares}: bytes that it may begin in its turn. */
    long deficitBytes;
    boolean hasTurn;

    /** @param places of all users. */
    UserShare(final WaitingPlaces places)
    {
        this.places = places;
    }

    /** The user is this one from now on; what it has used, and what of it is under way, stays. */
    void user(final String name, final int newGeneration, final UserQuota newQuota, final long nowNs)
    {
        generation = newGeneration;
        operations.perSecond(newQuota.operationsPerSecond(), nowNs);
        bytes.perSecond(newQuota.bytesPerSecond(), nowNs);
        quota = newQuota;
        // Made here, so that a refusal allocates nothing.
        final String user = "user " + name + " has a quota of ";
        overOperations = user + quota.operationsPerSecond() + " operations a second at a compute node";
        overBytes = user + quota.bytesPerSecond() + " bytes a second at a compute node";
        overOutstanding = user + quota.outstanding() + " outstanding requests at a compute node";
        overScans = user + quota.scans() + " scans at once at a compute node";
        overWaiting = "requests of user " + name + ' ' + OVER_WAITING;
    }

    /** @return whether the secret that a caller proved is the one that the user has. */
    boolean isOf(final int callersGeneration)
    {
        return generation == callersGeneration;
    }

    /**
     * Whether one more request is over the quota.
     *
     * @param isScan whether it is for a range.
     * @param nowNs  time now.
     * @return when to try again, ns from now; 0: it is not.
     */
    long overQuotaNs(final boolean isScan, final long nowNs)
    {
        if (isOverOutstanding() || isScan && isOverScans() || isOverWaiting())
        {
            return RETRY_NS;
        }
        return Math.max(operations.waitNs(nowNs), bytes.waitNs(nowNs));
    }

    /** @return which part of the quota {@link #overQuotaNs} found used up, one line. */
    String whyOverQuota(final boolean isScan, final long nowNs)
    {
        return isOverOutstanding() ? overOutstanding : isScan && isOverScans() ? overScans :
            isOverWaiting() ? overWaiting :
            operations.waitNs(nowNs) >= bytes.waitNs(nowNs) ? overOperations : overBytes;
    }

    private boolean isOverOutstanding()
    {
        return 0 != quota.outstanding() && places() + underWay >= quota.outstanding();
    }

    private boolean isOverScans()
    {
        return 0 != quota.scans() && scans >= quota.scans();
    }

    private boolean isOverWaiting()
    {
        return places() >= places.mostOfOne();
    }

    private int places()
    {
        return waiting + awaitingTables + scans;
    }

    /** A request is taken. */
    void onTaken(final OperationRequest request, final long nowNs)
    {
        operations.use(1, nowNs);
        bytes.use(request.keyLength() + request.valueLength(), nowNs);
    }

    /** An operation on a record goes to the engine. */
    void onBegun()
    {
        underWay++;
    }

    /**
     * It is over.
     *
     * @param foundBytes of the value that it returns.
     * @param nowNs      time now.
     */
    void onEnded(final int foundBytes, final long nowNs)
    {
        underWay--;
        onFound(foundBytes, nowNs);
    }

    /** A request waits for its turn. */
    void onWaits()
    {
        waiting++;
        places.take();
    }

    /** It has its turn. */
    void onTurn()
    {
        waiting--;
        places.release();
    }

    /** A request waits for its table to be opened. */
    void onAwaitsTable()
    {
        awaitingTables++;
        places.take();
    }

    /** The table is open, or will not be. */
    void onTable()
    {
        awaitingTables--;
        places.release();
    }

    /** A range waits, or is read. */
    void onScanBegun()
    {
        scans++;
        places.take();
    }

    /** As {@link #onEnded}, for a range. */
    void onScanEnded(final int foundBytes, final long nowNs)
    {
        scans--;
        places.release();
        onFound(foundBytes, nowNs);
    }

    private void onFound(final int foundBytes, final long nowNs)
    {
        bytes.use(foundBytes, nowNs);
        deficitBytes -= 0 == waiting ? 0 : foundBytes;
    }

    /** @return operations of it that the engine has. */
    int underWay()
    {
        return underWay;
    }

    @Override
    public String toString()
    {
        return "UserShare{generation=" + generation + ", " + quota + ", waiting=" + waiting + ", underWay=" + underWay +
            ", scans=" + scans + ", awaitingTables=" + awaitingTables + '}';
    }
}
