package io.verbena.raas.directory;

import java.util.List;

/**
 * A list of all nodes, and of all named records where they are asked for, under way at a {@link PeerDirectory}; polled
 * by the owner thread.
 */
public final class PeerListing
{
    /** Where it stands. */
    public enum State
    {
        /** Not decided yet. */
        PENDING,
        /** {@link #records()} is complete. */
        LISTED,
        /** No connection to the view, an unreadable view, or no whole list in time; {@link #failure()} says which. */
        FAILED
    }

    private final boolean isOfNamed;
    private final long leastVersion;
    private final long deadlineNs;
    private State state = State.PENDING;
    private List<PeerRecord> records = List.of();
    private List<NamedRecord> named = List.of();
    private int namedOutside;
    private long membershipVersion;
    private String failure = "";
    private int tornReads;
    private int shortReads;
    private int staleReads;

    PeerListing(final boolean isOfNamed, final long leastVersion, final long deadlineNs)
    {
        this.isOfNamed = isOfNamed;
        this.leastVersion = leastVersion;
        this.deadlineNs = deadlineNs;
    }

    /** @return the state now. */
    public State state()
    {
        return state;
    }

    /** @return all nodes of one state of the view, in ascending order of their numbers; empty unless LISTED. */
    public List<PeerRecord> records()
    {
        return records;
    }

    /** @return all named records of the same state of the view, by their names, if asked for; empty unless LISTED. */
    public List<NamedRecord> named()
    {
        return named;
    }

    /** @return named records that there are besides, and for which the view has no room; once LISTED. */
    public int namedOutside()
    {
        return namedOutside;
    }

    /** @return a version of the membership than which the list is not older; once LISTED. */
    public long membershipVersion()
    {
        return membershipVersion;
    }

    /** @return why it FAILED; empty otherwise. */
    public String failure()
    {
        return failure;
    }

    /** @return READs that caught a change halfway and were repeated. */
    public int tornReads()
    {
        return tornReads;
    }

    /** @return READs that ended before the end of what there is, which was less when this node connected. */
    public int shortReads()
    {
        return shortReads;
    }

    boolean isOfNamed()
    {
        return isOfNamed;
    }

    long leastVersion()
    {
        return leastVersion;
    }

    long deadlineNs()
    {
        return deadlineNs;
    }

    void onTorn()
    {
        tornReads++;
    }

    void onShort()
    {
        shortReads++;
    }

    void onStale()
    {
        staleReads++;
    }

    /** The deadline is over. */
    void late()
    {
        fail(tornReads + staleReads == 0 ? "no answer in time" :
            "it was changing during " + tornReads + " READs, and older than version " + leastVersion + " in " +
            staleReads + " READs");
    }

    void listed(
        final long version, final List<PeerRecord> nodes, final List<NamedRecord> namedRecords, final int outside)
    {
        state = State.LISTED;
        membershipVersion = version;
        records = nodes;
        named = namedRecords;
        namedOutside = outside;
    }

    void fail(final String reason)
    {
        state = State.FAILED;
        failure = "nodes not listed: " + reason;
    }
}
