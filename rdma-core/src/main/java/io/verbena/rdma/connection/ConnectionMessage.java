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
 */
public record ConnectionMessage(
    int kind,
    int servicePort,
    int queuePairNumber,
    int psn,
    int mtu,
    int maxReadAtomic,
    DeviceAddress source,
    byte[] privateData)
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
    static final int MAX_LENGTH_BYTES = HEADER_LENGTH_BYTES + ConnectionRequest.MAX_PRIVATE_DATA_BYTES;

    /** @return the bytes of this message, ready to be sent. */
    ByteBuffer encode()
    {
        return ByteBuffer.allocate(HEADER_LENGTH_BYTES + privateData.length)
            .putInt(MAGIC).putShort((short)VERSION).putShort((short)kind).putInt(servicePort).putInt(queuePairNumber)
            .putInt(psn).put((byte)mtu).put((byte)maxReadAtomic).putShort((short)privateData.length)
            .putLong(source.gidHigh()).putLong(source.gidLow()).putLong(source.serviceLocator())
            .put(privateData).flip();
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
        if (received.getInt(MAGIC_OFFSET) != MAGIC || received.getShort(VERSION_OFFSET) != VERSION ||
            dataLength > ConnectionRequest.MAX_PRIVATE_DATA_BYTES)
        {
            throw new IllegalArgumentException("no connection message of version " + VERSION);
        }
        if (received.position() < HEADER_LENGTH_BYTES + dataLength)
        {
            return null;
        }
        final byte[] data = new byte[dataLength];
        received.get(HEADER_LENGTH_BYTES, data);
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
            data);
        received.flip().position(HEADER_LENGTH_BYTES + dataLength);
        received.compact();
        return message;
    }
}
