package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;

import java.net.InetAddress;
import java.util.random.RandomGenerator;

/** What a {@link ConnectionService} needs of the device whose connections it makes. Thread-safe. */
public interface ConnectionDevice
{
    /** {@link #peerPatienceNs()} unless said otherwise. */
    long PEER_PATIENCE_NS = 10_000_000_000L;

    /** @return name, for messages. */
    String name();

    /** @return address that peers are given; known once the service has a port. */
    DeviceAddress address();

    /**
     * Where packets for a queue pair go.
     *
     * @param queuePair own one.
     * @return {@link #address()}, or with another UDP port.
     */
    default DeviceAddress address(final ConnectableQueuePair queuePair)
    {
        return address();
    }

    /**
     * The longest packets on the way to a peer.
     *
     * @param peer its device.
     * @return {@code enum ibv_mtu}, 1 to 5: of the own port, or less where the way allows less.
     */
    int mtu(DeviceAddress peer);

    /** @return where first packet sequence numbers come from, not to be guessed. */
    RandomGenerator random();

    /**
     * Finds the part of a queue pair that the service needs.
     *
     * @param queuePair given by the user.
     * @return the queue pair.
     * @throws io.verbena.rdma.verbs.RdmaException when it is not of this device.
     */
    ConnectableQueuePair own(QueuePair queuePair);

    /** A listener is open. */
    void childOpened();

    /** It was closed. */
    void childClosed();

    /**
     * @return how long TCP may stay silent before the peer counts as unreachable, whatever time the attempt has; the
     *     largest long for as long as the attempt has time.
     */
    long silencePatienceNs();

    /** @return how long a peer that has connected may take to say what is expected next. */
    default long peerPatienceNs()
    {
        return PEER_PATIENCE_NS;
    }

    /**
     * Decides whether a peer may be where it says: packets go there, whoever asked for that.
     *
     * @param source  device that a request names.
     * @param address that the request came from.
     * @return whether to take the request; otherwise it is answered as if nobody listened.
     */
    default boolean admits(final DeviceAddress source, final InetAddress address)
    {
        return true;
    }

    /** @return what its peers have, too; null: connections are made in clear. */
    default ConnectionSecret secret()
    {
        return null;
    }

    /** @return whether peers that ask for a connection in clear get one, though there is a secret. */
    default boolean isClearAccepted()
    {
        return false;
    }

    /**
     * A peer was refused, or has answered something that was not taken, because of the secret.
     *
     * @param peer    where it is: the connection's other end, or what was asked.
     * @param problem one line.
     */
    default void onRefused(final InetAddress peer, final String problem)
    {
        // there is no secret
    }

    /**
     * Begins to find out whether packets pass, once the own queue pair is RTS and the peer's is, too.
     *
     * @param queuePair  own one.
     * @param peer       what the peer said about its own.
     * @param ownPsn     first packet sequence number of the own one.
     * @param mtu        that was agreed, {@code enum ibv_mtu}.
     * @param onAnswered called at most once, by any thread, when packets have passed both ways.
     * @return the check, closed by the service; null where a device does not check.
     */
    default PathCheck checkPath(
        final ConnectableQueuePair queuePair,
        final ConnectionMessage peer,
        final int ownPsn,
        final int mtu,
        final Runnable onAnswered)
    {
        return null;
    }
}
