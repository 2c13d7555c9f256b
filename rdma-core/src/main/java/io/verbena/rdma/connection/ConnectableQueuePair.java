package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

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
     * @throws RdmaException in another state.
     */
    void openForConnection(int accessFlags);

    /**
     * Notes what to notify when the queue pair closes.
     *
     * @param attempt under way.
     */
    void attempt(Attempt attempt);

    /**
     * Decides how packets of this connection are sent and taken; called in INIT, before {@link #establish}, on a device
     * with a secret.
     *
     * @param keys that they are sealed and opened with; null: in clear.
     */
    default void seal(final ConnectionKeys keys)
    {
        throw new RdmaException("packets of this queue pair are not sealed: queuePair=" + number());
    }

    /**
     * INIT becomes RTR and RTS.
     *
     * @param peer        what the peer said.
     * @param ownPsn      first packet sequence number.
     * @param mtu         agreed with the peer, {@code enum ibv_mtu}.
     * @param accessFlags rights of the peer.
     * @throws RdmaException when it was closed, or the device refuses the peer's address.
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
