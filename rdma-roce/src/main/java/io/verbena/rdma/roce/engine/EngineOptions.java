package io.verbena.rdma.roce.engine;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

/**
 * What an engine is made with.
 *
 * @param address       of this device: the IPv6 address of the socket as GID, or ::ffff:a.b.c.d; the lower 16 bits of
 *                      the service locator are its UDP port, 0 stands for 4791. Where the upper 16 bits name the port
 *                      once more, the locators of other devices count as UDP ports only when they do so too: the
 *                      others are RNICs and Soft-RoCE, whose locators name TCP ports, and which take packets at 4791.
 * @param windowPackets packets of a queue pair in flight, those of READ responses included; 1 to 65536.
 * @param ackInterval   packets after which an acknowledgement is requested inside of a message or of a row of
 *                      unsignaled requests, 1 or more.
 * @param datagramBytes longest UD payload, the path MTU of datagrams; 256 to 4096.
 * @param dcContexts    DC initiators served at once by all targets, 1 to 256.
 * @param lane          of a device with several engines, which of them this is, from 0: numbers of queue pairs that it
 *                      chooses leave this remainder when divided by {@code lanes}, so that no two engines choose one.
 * @param lanes         engines of the device, 1 or more.
 * @param isSealed      whether each connection is decided to be sealed or not by {@link RoceEngine#seal}; without it
 *                      there are no queue pairs of UD and none for DC then, which have no keys.
 */
public record EngineOptions(
    DeviceAddress address,
    int windowPackets,
    int ackInterval,
    int datagramBytes,
    int dcContexts,
    int lane,
    int lanes,
    boolean isSealed)
{
    /** Packets in flight unless said otherwise. */
    public static final int WINDOW_PACKETS = 256;
    /** Packets between requests for acknowledgements unless said otherwise. */
    public static final int ACK_INTERVAL = 16;

    /** DC initiators served at once unless said otherwise. */
    public static final int DC_CONTEXTS = 64;
    /** Most READs and atomics outstanding on a queue pair, in either direction. */
    public static final int MAX_READ_ATOMIC = 128;

    /** Bits of the number of a DC context that say which one it is. */
    static final int DC_SLOT_BITS = 8;
    /** After which a DC context may be taken from its initiator. */
    static final long DC_SILENCE_NS = 2_000_000_000L;

    /** Most engines of a device. */
    public static final int MAX_LANES = 32;

    private static final int MAX_WINDOW_PACKETS = 1 << 16;
    private static final int MIN_DATAGRAM_BYTES = 256;
    private static final int PORT_MASK = 0xFFFF;

    /** Checks the ranges. */
    public EngineOptions
    {
        check("windowPackets", windowPackets, 1, MAX_WINDOW_PACKETS);
        check("ackInterval", ackInterval, 1, Integer.MAX_VALUE);
        check("dcContexts", dcContexts, 1, 1 << DC_SLOT_BITS);
        check("datagramBytes", datagramBytes, MIN_DATAGRAM_BYTES, RocePacket.MAX_PAYLOAD_BYTES);
        check("lanes", lanes, 1, MAX_LANES);
        check("lane", lane, 0, lanes - 1);
    }

    /**
     * The defaults.
     *
     * @param address of this device.
     */
    public EngineOptions(final DeviceAddress address)
    {
        this(address, WINDOW_PACKETS, ACK_INTERVAL, RocePacket.MAX_PAYLOAD_BYTES);
    }

    /** As many DC contexts as {@link #DC_CONTEXTS}; parameters as of the record. */
    public EngineOptions(
        final DeviceAddress address, final int windowPackets, final int ackInterval, final int datagramBytes)
    {
        this(address, windowPackets, ackInterval, datagramBytes, DC_CONTEXTS);
    }

    /** The only engine of a device; parameters as of the record. */
    public EngineOptions(
        final DeviceAddress address,
        final int windowPackets,
        final int ackInterval,
        final int datagramBytes,
        final int dcContexts)
    {
        this(address, windowPackets, ackInterval, datagramBytes, dcContexts, 0, 1, false);
    }

    /**
     * The way of packets to another device.
     *
     * @param destination of the packets.
     * @return addresses and ports.
     */
    RocePath pathTo(final DeviceAddress destination)
    {
        return new RocePath(address.gidHigh(), address.gidLow(), port(address),
            destination.gidHigh(), destination.gidLow(), peerPort(destination));
    }

    /** The way of packets from another device. */
    RocePath pathFrom(final DeviceAddress source)
    {
        return new RocePath(source.gidHigh(), source.gidLow(), peerPort(source),
            address.gidHigh(), address.gidLow(), port(address));
    }

    private static int port(final DeviceAddress device)
    {
        final int port = (int)device.serviceLocator() & PORT_MASK;
        return port == 0 ? RocePath.ROCE_PORT : port;
    }

    private int peerPort(final DeviceAddress device)
    {
        return ServiceLocator.isMarked(address) && !ServiceLocator.isMarked(device) ? RocePath.ROCE_PORT : port(device);
    }

    private static void check(final String name, final int value, final int min, final int max)
    {
        if (value < min || value > max)
        {
            throw new RdmaException(name + " is out of range: value=" + value + ", allowed " + min + " to " + max);
        }
    }
}
