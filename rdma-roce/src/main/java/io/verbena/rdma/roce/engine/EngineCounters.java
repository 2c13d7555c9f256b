package io.verbena.rdma.roce.engine;

/** What an engine has counted since it was made. Written by its thread; others may read values that are a bit old. */
public final class EngineCounters
{
    /** Packets sent. */
    public long sent;
    /** Packets that arrived, whatever became of them. */
    public long received;
    /** Dropped: too short or long, unknown opcode, wrong version, partition, padding or lengths. */
    public long malformed;
    /** Dropped: the invariant CRC was wrong. */
    public long corrupt;
    /** Dropped: no such queue pair here, of this transport, from this sender, or in a state that takes it. */
    public long misdirected;
    /** Dropped: in clear where packets of the connection are sealed, or the other way round. */
    public long wronglySealed;
    /** Dropped: sealed, but not by the peer for this queue pair, or changed on the way. */
    public long notOpened;
    /** Dropped: sealed packets that came before, or too late to know. */
    public long replayed;
    /** Responses dropped because nothing outstanding expects them. */
    public long stale;
    /** Requests that had been executed before. */
    public long duplicates;
    /** Requests that came before one that is missing. */
    public long outOfSequence;
    /** Requests refused: invalid, without right, or impossible for the responder. */
    public long refused;
    /** Requests for which no receive was there. */
    public long notReady;
    /** Requests dropped for a while because answers before them had not been sent. */
    public long deferred;
    /** Requests for a DC context that found none free. */
    public long contextsMissed;
    /** Packets sent once more. */
    public long resent;
    /** Times that no answer came. */
    public long timeouts;
    /** Times that an answer took longer than usual, so that one packet asked for it. */
    public long probes;
    /** Congestion notifications sent for packets that arrived marked. */
    public long notificationsSent;
    /** Congestion notifications received. */
    public long notifications;
    /** Datagrams and unreliable messages dropped: no receive, too long, wrong Q_Key, no right, or a part is missing. */
    public long unreliableDrops;

    @Override
    public String toString()
    {
        return "EngineCounters{wronglySealed=" + wronglySealed + ", notOpened=" + notOpened + ", replayed=" + replayed +
            ", sent=" + sent + ", received=" + received + ", malformed=" + malformed + ", corrupt=" +
            corrupt + ", misdirected=" + misdirected + ", stale=" + stale + ", duplicates=" + duplicates +
            ", outOfSequence=" + outOfSequence + ", refused=" + refused + ", notReady=" + notReady + ", deferred=" +
            deferred + ", contextsMissed=" + contextsMissed + ", resent=" + resent +
            ", timeouts=" + timeouts + ", probes=" + probes + ", notificationsSent=" +
            notificationsSent + ", notifications=" + notifications + ", unreliableDrops=" + unreliableDrops + '}';
    }
}
