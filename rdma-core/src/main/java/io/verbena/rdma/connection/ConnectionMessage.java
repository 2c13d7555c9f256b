package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;

import java.nio.ByteBuffer;

/**
 * What connection services say to each other over TCP, {@code docs/format/ibverbs-connection.md}; big-endian.
 *
 * @param kind            one of the constants.
 * @param servicePort     REQUEST: where to.
 * @param queuePairNumber of the sender.
 * @param psn             first packet sequence number of the sender.
 * @param mtu             of the sender's port, {@code enum ibv_mtu}.
 * @param maxReadAtomic   READs and atomics that the sender answers at once.
 * @param source          the sender's device.
 * @param privateData     of the users.
 * @param random          number that makes a message of devices with a {@link ConnectionSecret} a new one; else empty.
 * @param proof           what authenticates such a message; else empty.
 */
public record ConnectionMessage(
    int kind,
    int servicePort,
    int queuePairNumber,
    int psn,
    int mtu,
    int maxReadAtomic,
    DeviceAddress source,
    byte[] privateData,
    byte[] random,
    byte[] proof)
{
    /** The requester's queue pair is INIT. */
    public static final int REQUEST = 1;
    /** The acceptor's queue pair is RTS. */
    public static final int ACCEPT = 2;
    /** With the reason; the end. */
    public static final int REJECT = 3;
    /** Nobody listens at the service port; the end. */
    public static final int UNREACHABLE = 4;
    /** The requester's queue pair is RTS; the end. */
    public static final int READY = 5;

    /** "VIBC". */
    static final int MAGIC = 0x5649_4243;
    static final int VERSION = 1;
    /** Of a message that has a random number and a proof behind its private data. */
    static final int PROVED_VERSION = 2;
    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = 4;
    static final int KIND_OFFSET = 6;
    static final int SERVICE_PORT_OFFSET = 8;
    static final int QUEUE_PAIR_NUMBER_OFFSET = 12;
    static final int PSN_OFFSET = 16;
    static final int MTU_OFFSET = 20;
    static final int MAX_READ_ATOMIC_OFFSET = 21;
    static final int DATA_LENGTH_OFFSET = 22;
    static final int GID_HIGH_OFFSET = 24;
    static final int GID_LOW_OFFSET = 32;
    static final int SERVICE_LOCATOR_OFFSET = 40;
    static final int HEADER_LENGTH_BYTES = 48;
    static final int RANDOM_LENGTH_BYTES = 16;
    static final int PROOF_LENGTH_BYTES = ConnectionSecret.MAC_LENGTH_BYTES;
    static final int MAX_LENGTH_BYTES = HEADER_LENGTH_BYTES + ConnectionRequest.MAX_PRIVATE_DATA_BYTES +
        RANDOM_LENGTH_BYTES + PROOF_LENGTH_BYTES;

    private static final byte[] NONE = {};

    /** In clear; parameters as of the record. */
    public ConnectionMessage(
        final int kind,
        final int servicePort,
        final int queuePairNumber,
        final int psn,
        final int mtu,
        final int maxReadAtomic,
        final DeviceAddress source,
        final byte[] privateData)
    {
        this(kind, servicePort, queuePairNumber, psn, mtu, maxReadAtomic, source, privateData, NONE, NONE);
    }

    /** The same message with a random number and a proof, which may still be empty. */
    ConnectionMessage proved(final byte[] withRandom, final byte[] withProof)
    {
        return new ConnectionMessage(kind, servicePort, queuePairNumber, psn, mtu, maxReadAtomic, source, privateData,
            withRandom, withProof);
    }

    /** Whether it has a random number and a proof, right or wrong. */
    boolean isProved()
    {
        return random.length != 0;
    }

    /** @return the bytes of this message, ready to be sent. */
    ByteBuffer encode()
    {
        return ByteBuffer.wrap(bytes());
    }

    /** @return the bytes of this message. */
    byte[] bytes()
    {
        return ByteBuffer.allocate(HEADER_LENGTH_BYTES + privateData.length + random.length + proof.length)
            .putInt(MAGIC).putShort((short)(isProved() ? PROVED_VERSION : VERSION)).putShort((short)kind)
            .putInt(servicePort).putInt(queuePairNumber)
            .putInt(psn).put((byte)mtu).put((byte)maxReadAtomic).putShort((short)privateData.length)
            .putLong(source.gidHigh()).putLong(source.gidLow()).putLong(source.serviceLocator())
            .put(privateData).put(random).put(proof).array();
    }

    /**
     * Takes a message off the front of what has been received.
     *
     * @param received position 0 to its position holds bytes; what is taken is removed.
     * @return the message, or null when it has not come wholly.
     * @throws IllegalArgumentException when it is no such message.
     */
    static ConnectionMessage take(final ByteBuffer received)
    {
        if (received.position() < HEADER_LENGTH_BYTES)
        {
            return null;
        }
        final int dataLength = received.getShort(DATA_LENGTH_OFFSET) & 0xFFFF;
        final int version = received.getShort(VERSION_OFFSET);
        if (received.getInt(MAGIC_OFFSET) != MAGIC || version != VERSION && version != PROVED_VERSION ||
            dataLength > ConnectionRequest.MAX_PRIVATE_DATA_BYTES)
        {
            throw new IllegalArgumentException(
                "no connection message of version " + VERSION + " or " + PROVED_VERSION);
        }
        final byte[] data = new byte[dataLength];
        final byte[] random = version == VERSION ? NONE : new byte[RANDOM_LENGTH_BYTES];
        final byte[] proof = version == VERSION ? NONE : new byte[PROOF_LENGTH_BYTES];
        final int randomOffset = HEADER_LENGTH_BYTES + dataLength;
        final int lengthBytes = randomOffset + random.length + proof.length;
        if (received.position() < lengthBytes)
        {
            return null;
        }
        received.get(HEADER_LENGTH_BYTES, data);
        received.get(randomOffset, random);
        received.get(randomOffset + random.length, proof);
        final ConnectionMessage message = new ConnectionMessage(
            received.getShort(KIND_OFFSET),
            received.getInt(SERVICE_PORT_OFFSET),
            received.getInt(QUEUE_PAIR_NUMBER_OFFSET) & 0xFF_FFFF,
            received.getInt(PSN_OFFSET) & 0xFF_FFFF,
            // Of another machine: kept within what the verbs know.
            Math.clamp(received.get(MTU_OFFSET), 1, 5),
            received.get(MAX_READ_ATOMIC_OFFSET) & 0xFF,
            new DeviceAddress(received.getLong(GID_HIGH_OFFSET), received.getLong(GID_LOW_OFFSET),
                received.getLong(SERVICE_LOCATOR_OFFSET)),
            data, random, proof);
        if (message.isProved() && !received.slice(0, lengthBytes).equals(message.encode()))
        {
            throw new IllegalArgumentException("bits that are not used are set");
        }
        received.flip().position(lengthBytes);
        received.compact();
        return message;
    }
}
