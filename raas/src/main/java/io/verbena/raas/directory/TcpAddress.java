package io.verbena.raas.directory;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Where a node serves clients over TCP, as it is published to them: an IP address, an IPv4 one mapped into IPv6, and a
 * port. Two numbers and a port, so that publishing it allocates no text.
 *
 * @param high upper half of the IPv6 address.
 * @param low  lower half.
 * @param port 1 to 65,535; 0: the node serves nobody over TCP.
 */
public record TcpAddress(long high, long low, int port)
{
    /** Of a node that serves nobody over TCP. */
    public static final TcpAddress NONE = new TcpAddress(0, 0, 0);
    private static final int IPV4_BYTES = 4;
    private static final long IPV4_PREFIX = 0xFFFFL << Integer.SIZE;

    /**
     * @param address resolved; one of a scope loses it.
     * @param port    1 to 65,535.
     * @return both.
     */
    public static TcpAddress of(final InetAddress address, final int port)
    {
        final ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return IPV4_BYTES == bytes.capacity() ?
            new TcpAddress(0, IPV4_PREFIX | Integer.toUnsignedLong(bytes.getInt(0)), port) :
            new TcpAddress(bytes.getLong(0), bytes.getLong(Long.BYTES), port);
    }

    /** @return whether the node serves clients over TCP. */
    public boolean isPresent()
    {
        return 0 != port;
    }

    /** @return the IP address as text, without the port. */
    public String host()
    {
        final ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low);
        try
        {
            return InetAddress.getByAddress(bytes.array()).getHostAddress();
        }
        catch (final UnknownHostException ex)
        {
            throw new IllegalStateException("16 bytes are an address of IPv6", ex);
        }
    }

    /** @return address and port as text. */
    @Override
    public String toString()
    {
        return isPresent() ? host() + ':' + port : "none";
    }
}
