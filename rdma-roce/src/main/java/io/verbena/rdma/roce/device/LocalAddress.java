package io.verbena.rdma.roce.device;

import io.verbena.rdma.roce.seal.SealedPacketDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.verbs.RdmaException;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * An address of an interface of this host.
 *
 * @param address      without a scope.
 * @param linkName     of its interface.
 * @param payloadBytes longest payload of a packet that the interface carries: 256 to 4096.
 * @param isUp         whether the interface is up.
 */
record LocalAddress(InetAddress address, String linkName, int payloadBytes, boolean isUp)
{
    /** Headers of the longest kind of packet that carries a payload: BTH, RETH, DcETH, immediate data and CRC. */
    private static final int TRANSPORT_BYTES = 12 + 16 + 16 + 4 + 4;
    /** By which sealing makes packets longer than a DcETH, which no sealed one has. */
    private static final int SEALED_BYTES = SealedPacketDescriptor.OVERHEAD_BYTES - DcEthDescriptor.LENGTH_BYTES;
    private static final int UDP_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int MIN_PAYLOAD_BYTES = 256;
    private static final int MAX_PAYLOAD_BYTES = 4096;

    /**
     * Finds an address.
     *
     * @param host address, or name of an interface: its first IPv6 address that is not of the link only, else its IPv4
     *             address.
     * @return the address.
     * @throws RdmaException when this host has none such; the message lists those it has.
     */
    static LocalAddress of(final String host)
    {
        return of(host, false);
    }

    /** As above; {@code isSealed}: packets are sealed, which leaves less room for payload. */
    static LocalAddress of(final String host, final boolean isSealed)
    {
        try
        {
            final NetworkInterface named = NetworkInterface.getByName(host);
            final InetAddress address = named == null ? literal(host) : first(named);
            final NetworkInterface link = address == null ? null : NetworkInterface.getByInetAddress(address);
            if (link == null)
            {
                throw new RdmaException(
                    "'" + host + "' is no address and no interface of this host; there are: " + known());
            }
            final int payloadBytes = payloadBytes(address, link.getMTU() - (isSealed ? SEALED_BYTES : 0));
            if (payloadBytes == 0)
            {
                throw new RdmaException("interface " + link.getName() + " carries packets of " + link.getMTU() +
                    " bytes, too short for RoCEv2: raise its MTU to 576 or more");
            }
            return new LocalAddress(address, link.getName(), payloadBytes, link.isUp());
        }
        catch (final SocketException ex)
        {
            throw new RdmaException("cannot read the interfaces of this host: " + ex.getMessage(), ex);
        }
    }

    private static InetAddress literal(final String host)
    {
        try
        {
            return InetAddress.ofLiteral(host);
        }
        catch (final IllegalArgumentException ex)
        {
            return null;
        }
    }

    private static InetAddress first(final NetworkInterface link)
    {
        InetAddress best = null;
        for (final InetAddress address : Collections.list(link.getInetAddresses()))
        {
            if (!address.isLinkLocalAddress() && (best == null || best instanceof Inet4Address))
            {
                best = address;
            }
        }
        return best;
    }

    private static String known() throws SocketException
    {
        final List<NetworkInterface> links = Collections.list(NetworkInterface.getNetworkInterfaces());
        return links.stream().flatMap(link -> Collections.list(link.getInetAddresses()).stream()
            .filter(address -> !address.isLinkLocalAddress())
            .map(address -> address.getHostAddress().replaceAll("%.*", "") + " (" + link.getName() + ")"))
            .collect(Collectors.joining(", "));
    }

    /**
     * The longest payload.
     *
     * @param address  decides about the length of the IP header.
     * @param mtuBytes of the interface, or of the way; of IP packets.
     * @return a power of two from 256 to 4096, or 0.
     */
    static int payloadBytes(final InetAddress address, final int mtuBytes)
    {
        final int left = mtuBytes - TRANSPORT_BYTES - UDP_BYTES -
            (address instanceof Inet4Address ? IPV4_BYTES : IPV6_BYTES);
        return left < MIN_PAYLOAD_BYTES ? 0 : Math.min(MAX_PAYLOAD_BYTES, Integer.highestOneBit(left));
    }
}
