package io.verbena.rdma.roce.request;

import io.verbena.rdma.roce.wire.PacketSequence;

/** Which packets of a requester ask for an answer. Used by the engine's thread. */
public final class AckRequests
{
    private final int interval;
    private int requestedEnd;
    private int sinceRequest;
    private boolean isDue;

    /** @param interval packets of a SEND or WRITE of which one asks at least, 1 or more. */
    public AckRequests(final int interval)
    {
        this.interval = interval;
    }

    /**
     * Begins.
     *
     * @param sequence PSN of the first packet.
     */
    public void start(final int sequence)
    {
        requestedEnd = sequence;
        sinceRequest = 0;
    }

    /**
     * Decides for the next packet of a SEND or WRITE.
     *
     * @param sequence      its PSN.
     * @param isNeeded      whether it has to ask in any case.
     * @param windowPackets that may be in flight: half of them do not wait for each other.
     * @return whether it asks.
     */
    public boolean asks(final int sequence, final boolean isNeeded, final int windowPackets)
    {
        isDue = isNeeded || ++sinceRequest >= Math.min(interval, (windowPackets + 1) / 2);
        if (isDue)
        {
            onAsked(sequence);
        }
        return isDue;
    }

    /** The packet of a PSN asks. */
    public void onAsked(final int sequence)
    {
        isDue = true;
        sinceRequest = 0;
        requestedEnd = PacketSequence.add(sequence, 1);
    }

    /** @return whether the packet that was sent last asks. */
    public boolean isDue()
    {
        return isDue;
    }

    /** @return the PSN after the last one that asked. */
    public int requestedEnd()
    {
        return requestedEnd;
    }
}
