package io.verbena.rdma.sim.device;

/** What a queue pair is connected to between two resets; requests under way keep theirs. */
final class SimLink
{
    private SimQueuePair peer;
    private boolean isCut;

    /** The peer, as far as it is known and there. */
    SimQueuePair peer()
    {
        return peer;
    }

    void peer(final SimQueuePair newPeer)
    {
        peer = newPeer;
    }

    /** Whether no message passes any more. */
    boolean isCut()
    {
        return isCut;
    }

    void cut()
    {
        isCut = true;
    }
}
