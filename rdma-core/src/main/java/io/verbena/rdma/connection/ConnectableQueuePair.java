package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.QueuePairState;

/** The part of a queue pair that a {@link ConnectionService} moves from RESET to RTS. Thread-safe. */
public interface ConnectableQueuePair
{
    /** The attempt to connect it. */
    interface Attempt
    {
        /** The queue pair is closed. Any thread. */
        void cancel();
    }

    /** @return its number. */
    int number();

    /** @return its state. */
    QueuePairState state();

    /** @return READs and atomics that it sends or answers at once. */
    int maxReadAtomic();

    /**
     * RESET becomes INIT.
     *
     * @param accessFlags rights of the peer.
     * @throws io.verbena.rdma.verbs.RdmaException in another state.
     */
    void openForConnection(int accessFlags);

    /**
     * Notes what to notify when the queue pair closes.
     *
     * @param attempt under way.
     */
    void attempt(Attempt attempt);

    /**
     * INIT becomes RTR and RTS.
     *
     * @param peer        what the peer said.
     * @param ownPsn      first packet sequence number.
     * @param mtu         agreed with the peer, {@code enum ibv_mtu}.
     * @param accessFlags rights of the peer.
     * @throws io.verbena.rdma.verbs.RdmaException when it was closed, or the device refuses the peer's address.
     */
    void establish(ConnectionMessage peer, int ownPsn, int mtu, int accessFlags);

    /**
     * The attempt has failed: INIT, and RTS where the way was being checked, becomes RESET, with receives dropped.
     *
     * @param failed without effect unless it is the last one noted.
     */
    void toReset(Attempt failed);

    /** Becomes ERR. */
    void moveToError();
}
