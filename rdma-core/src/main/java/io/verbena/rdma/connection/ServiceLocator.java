package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

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
 *
 * <p>A LID that is the TCP port marks a device of the {@code roce} provider: its IP address is in the GID, and the 32
 * bits between tell its process from others on its host, for peers there; 0 when it is reached by the network only.
 */
public final class ServiceLocator
{
    private ServiceLocator()
    {
    }

    /**
     * Packs the locator of a device of the {@code roce} provider.
     *
     * @param tcpPort   of the service, and UDP port.
     * @param processId of its process among those of its host; 0 for none.
     * @return the locator.
     */
    public static long ofMarked(final int tcpPort, final int processId)
    {
        return (long)tcpPort << 48 | (processId & 0xFFFF_FFFFL) << 16 | tcpPort;
    }

    /** @return whether a device is of the {@code roce} provider, as far as its address says. */
    public static boolean isMarked(final DeviceAddress address)
    {
        return lid(address) != 0 && lid(address) == (int)(address.serviceLocator() & 0xFFFF);
    }

    /** @return what distinguishes the process of a marked device from others on its host; 0 for nothing. */
    public static int processId(final DeviceAddress address)
    {
        return isMarked(address) ? (int)(address.serviceLocator() >>> 16) : 0;
    }

    /**
     * Packs.
     *
     * @param lid     16 bits, not the TCP port's number unless 0.
     * @param host    IPv4 address of the service; null where the GID holds the address.
     * @param tcpPort of the service.
     * @return the locator.
     */
    public static long of(final int lid, final InetAddress host, final int tcpPort)
    {
        if (lid != 0 && lid == tcpPort)
        {
            throw new RdmaException("the TCP port is the port's LID by chance, which would make it a device of roce: " +
                "open the device again, port=" + tcpPort);
        }
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
        final int ipv4 = isMarked(address) ? 0 : (int)(address.serviceLocator() >>> 16);
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
