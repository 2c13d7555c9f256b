package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.DeviceAddress;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * What {@link DeviceAddress#serviceLocator()} holds for devices on a network.
 *
 * <pre>
 *  63      48 47                              16 15       0
 *  +---------+----------------------------------+----------+
 *  |   LID   |  IPv4 address, 0: as in the GID  | TCP port |
 *  +---------+----------------------------------+----------+
 * </pre>
 */
public final class ServiceLocator
{
    private ServiceLocator()
    {
    }

    /**
     * Packs.
     *
     * @param lid     16 bits.
     * @param host    IPv4 address of the service; null where the GID holds the address.
     * @param tcpPort of the service.
     * @return the locator.
     */
    public static long of(final int lid, final InetAddress host, final int tcpPort)
    {
        final long ipv4 = host == null ? 0 : ByteBuffer.wrap(host.getAddress()).getInt() & 0xFFFF_FFFFL;
        return (long)lid << 48 | ipv4 << 16 | tcpPort;
    }

    /** @return the LID, 16 bits. */
    public static int lid(final DeviceAddress address)
    {
        return (int)(address.serviceLocator() >>> 48);
    }

    /** @return where the device's connection service listens; null when the address is not one of this provider. */
    public static InetSocketAddress socketAddress(final DeviceAddress address)
    {
        final int tcpPort = (int)address.serviceLocator() & 0xFFFF;
        if (tcpPort == 0)
        {
            return null;
        }
        final int ipv4 = (int)(address.serviceLocator() >>> 16);
        try
        {
            return new InetSocketAddress(
                ipv4 == 0 ? inetAddress(address.gidHigh(), address.gidLow()) :
                InetAddress.getByAddress(ByteBuffer.allocate(4).putInt(ipv4).array()), tcpPort);
        }
        catch (final UnknownHostException ex)
        {
            throw new AssertionError(ex);
        }
    }

    /** @return the IP address that a GID of RoCEv2 is; an IPv4-mapped one is an IPv4 address. */
    public static InetAddress inetAddress(final long gidHigh, final long gidLow)
    {
        try
        {
            return InetAddress.getByAddress(ByteBuffer.allocate(16).putLong(gidHigh).putLong(gidLow).array());
        }
        catch (final UnknownHostException ex)
        {
            throw new AssertionError(ex);
        }
    }
}
