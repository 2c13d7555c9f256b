package io.verbena.raas.directory;

/** A lookup under way at a {@link PeerDirectory}; polled by the owner thread. */
public final class PeerLookup
{
    /** Where it stands. */
    public enum State
    {
        /** Not decided yet. */
        PENDING,
        /** {@link #record()} has it. */
        FOUND,
        /** The node, or that life of it, is not in the view. */
        NOT_FOUND,
        /** No connection to the view, an unreadable view, or no valid record in time; {@link #failure()} says which. */
        FAILED
    }

    private final int nodeId;
    private final int incarnation;
    private final long deadlineNs;
    private State state = State.PENDING;
    private PeerRecord record;
    private String failure = "";
    private boolean isReading;
    private int tornReads;

    PeerLookup(final int nodeId, final int incarnation, final long deadlineNs)
    {
        this.nodeId = nodeId;
        this.incarnation = incarnation;
        this.deadlineNs = deadlineNs;
    }

    /** @return the state now. */
    public State state()
    {
        return state;
    }

    /** @return the record when FOUND, null otherwise. */
    public PeerRecord record()
    {
        return record;
    }

    /** @return why it FAILED; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /** @return READs that caught a record halfway and were repeated. */
    public int tornReads()
    {
        return tornReads;
    }

    int nodeId()
    {
        return nodeId;
    }

    long deadlineNs()
    {
        return deadlineNs;
    }

    boolean isReading()
    {
        return isReading;
    }

    void isReading(final boolean isUnderWay)
    {
        isReading = isUnderWay;
    }

    void onTorn()
    {
        tornReads++;
    }

    void found(final PeerRecord present)
    {
        if (incarnation == 0 || incarnation == present.incarnation())
        {
            state = State.FOUND;
            record = present;
        }
        else
        {
            state = State.NOT_FOUND;
        }
    }

    void notFound()
    {
        state = State.NOT_FOUND;
    }

    void fail(final String reason)
    {
        state = State.FAILED;
        failure = "node " + nodeId + " not looked up: " + reason;
    }
}
