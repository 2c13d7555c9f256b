package io.verbena.rdma.verbs;

/**
 * Exact counts of what a queue pair was asked to do, kept where requests are posted, so that a protocol's cost can be
 * asserted. Not thread-safe: written and read by the owner of the queue pair.
 */
public final class VerbCounters
{
    /** READ requests. */
    public long reads;
    /** WRITE and WRITE_WITH_IMM requests. */
    public long writes;
    /** CMP_SWAP requests. */
    public long compareSwaps;
    /** FETCH_ADD requests. */
    public long fetchAdds;
    /** SEND, SEND_WITH_IMM and SEND_WITH_INV requests. */
    public long sends;
    /** BIND_MW and LOCAL_INV requests, which stay on this side. */
    public long localOperations;
    /** Doorbells: successful calls of {@link QueuePair#complete()} with at least one request. */
    public long doorbells;
    /** Payload bytes of READ, WRITE and SEND, plus 8 for each atomic. */
    public long payloadBytes;

    /** @return all requests together. */
    public long verbs()
    {
        return reads + writes + compareSwaps + fetchAdds + sends + localOperations;
    }

    /**
     * Adds another set of counts to this one.
     *
     * @param other to add.
     * @return this.
     */
    public VerbCounters add(final VerbCounters other)
    {
        reads += other.reads;
        writes += other.writes;
        compareSwaps += other.compareSwaps;
        fetchAdds += other.fetchAdds;
        sends += other.sends;
        localOperations += other.localOperations;
        doorbells += other.doorbells;
        payloadBytes += other.payloadBytes;
        return this;
    }

    @Override
    public String toString()
    {
        return "VerbCounters{reads=" + reads + ", writes=" + writes + ", compareSwaps=" + compareSwaps +
            ", fetchAdds=" + fetchAdds + ", sends=" + sends + ", localOperations=" + localOperations +
            ", doorbells=" + doorbells +
            ", payloadBytes=" + payloadBytes + '}';
    }
}
