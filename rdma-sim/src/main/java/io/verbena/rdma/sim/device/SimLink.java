package io.verbena.rdma.sim.device;

import io.verbena.rdma.verbs.QueuePairType;

/** What a queue pair is connected to between two resets; requests under way keep theirs. */
final class SimLink implements SimRequest.Connection
{
    /** A queue pair, as its peer knows it. */
    interface Peer
    {
        SimHost host();

        int number();

        QueuePairType type();

        /** READs and atomics that it can answer at once. */
        int depth();

        SimLink link();

        SimRequest.Executor executor();

        /** UD: takes a datagram, if its queue key is right and there is a receive. */
        void takeDatagram(SimRequest request, int queueKey);

        void moveToError();
    }

    private Peer peer;
    private boolean isCut;

    /** The peer, as far as it is known and there. */
    Peer peer()
    {
        return peer;
    }

    void peer(final Peer newPeer)
    {
        peer = newPeer;
    }

    @Override
    public SimRequest.Executor executor()
    {
        return peer == null ? null : peer.executor();
    }

    @Override
    public boolean isCut()
    {
        return isCut;
    }

    void cut()
    {
        isCut = true;
    }
}
