package io.verbena.rdma.roce.udp;

import io.verbena.rdma.verbs.RdmaException;

import java.net.InetAddress;

/**
 * What a port is opened with.
 *
 * @param address            of this host; IPv6 or IPv4, of one interface. A link-local address needs its interface, as
 *                           in fe80::1%eth0.
 * @param port               1 to 65535, or 0 for any that is free.
 * @param receiveBufferBytes asked of the kernel for packets that nobody has taken; it may grant less.
 * @param sendPackets        most packets between two flushes, a power of two.
 */
public record UdpPortOptions(InetAddress address, int port, int receiveBufferBytes, int sendPackets)
{
    /** Receive buffer unless said otherwise. */
    public static final int RECEIVE_BUFFER_BYTES = 8 << 20;
    /** Packets between two flushes unless said otherwise. */
    public static final int SEND_PACKETS = 256;

    private static final int MAX_PORT = 0xFFFF;

    /** Checks the ranges. */
    public UdpPortOptions
    {
        if (port < 0 || port > MAX_PORT)
        {
            throw new RdmaException("no such UDP port: port=" + port + ", allowed 1 to 65535, or 0 for any free one");
        }
        if (address.isAnyLocalAddress() || address.isMulticastAddress())
        {
            throw new RdmaException("packets carry the address of one interface in their checksum: give one instead " +
                "of " + address.getHostAddress() + "; 'ip -brief address' lists them");
        }
        if (sendPackets < 1 || Integer.bitCount(sendPackets) != 1)
        {
            throw new RdmaException("sendPackets must be a power of two: sendPackets=" + sendPackets);
        }
    }

    /**
     * The defaults.
     *
     * @param address of this host.
     * @param port    or 0.
     */
    public UdpPortOptions(final InetAddress address, final int port)
    {
        this(address, port, RECEIVE_BUFFER_BYTES, SEND_PACKETS);
    }
}
