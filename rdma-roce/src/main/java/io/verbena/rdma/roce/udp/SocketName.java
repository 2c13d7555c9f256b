package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePath;
import org.agrona.concurrent.UnsafeBuffer;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Addresses and ports as the kernel takes them: {@code sockaddr_in} and {@code sockaddr_in6}. */
final class SocketName
{
    /** Room for either. */
    static final int MAX_BYTES = 32;
    private static final int IPV4_BYTES = 16;
    private static final int IPV6_BYTES = 28;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int SCOPE_OFFSET = 24;
    private static final long MAPPED = 0xFFFFL << Integer.SIZE;
    private static final long LINK_LOCAL_MASK = 0xFFC0L << 48;
    private static final long LINK_LOCAL = 0xFE80L << 48;
    private static final int PORT_MASK = 0xFFFF;

    private SocketName()
    {
    }

    /** Upper 64 bits of an address as IPv6 address; IPv4 is ::ffff:a.b.c.d. */
    static long high(final InetAddress address)
    {
        final byte[] bytes = address.getAddress();
        return bytes.length == Integer.BYTES ? 0 : ByteBuffer.wrap(bytes).getLong(0);
    }

    /** Lower 64 bits. */
    static long low(final InetAddress address)
    {
        final ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return bytes.capacity() == Integer.BYTES ?
            MAPPED | bytes.getInt(0) & 0xFFFF_FFFFL : bytes.getLong(Long.BYTES);
    }

    /** The number of the interface that a link-local address needs, else 0. */
    static int scope(final InetAddress address)
    {
        return address instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
    }

    /**
     * Writes a name.
     *
     * @param buffer to write to.
     * @param offset in it.
     * @param high   upper 64 bits of the address.
     * @param low    lower 64 bits.
     * @param port   0 to 65535.
     * @param scope  interface of link-local addresses; not used for others.
     * @return bytes written.
     */
    static int encode(
        final UnsafeBuffer buffer, final int offset, final long high, final long low, final int port, final int scope)
    {
        buffer.putShort(offset + PORT_OFFSET, (short)port, ByteOrder.BIG_ENDIAN);
        if (RocePath.isIpv4(high, low))
        {
            buffer.putShort(offset, (short)SocketConstants.AF_INET);
            buffer.putInt(offset + IPV4_OFFSET, (int)low, ByteOrder.BIG_ENDIAN);
            buffer.putLong(offset + IPV6_OFFSET, 0);
            return IPV4_BYTES;
        }
        buffer.putShort(offset, (short)SocketConstants.AF_INET6);
        buffer.putInt(offset + IPV4_OFFSET, 0);
        buffer.putLong(offset + IPV6_OFFSET, high, ByteOrder.BIG_ENDIAN);
        buffer.putLong(offset + IPV6_OFFSET + Long.BYTES, low, ByteOrder.BIG_ENDIAN);
        buffer.putInt(offset + SCOPE_OFFSET, (high & LINK_LOCAL_MASK) == LINK_LOCAL ? scope : 0);
        return IPV6_BYTES;
    }

    static int port(final UnsafeBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + PORT_OFFSET, ByteOrder.BIG_ENDIAN) & PORT_MASK;
    }

    static long high(final UnsafeBuffer buffer, final int offset)
    {
        return isIpv4(buffer, offset) ? 0 : buffer.getLong(offset + IPV6_OFFSET, ByteOrder.BIG_ENDIAN);
    }

    static long low(final UnsafeBuffer buffer, final int offset)
    {
        return isIpv4(buffer, offset) ?
            MAPPED | buffer.getInt(offset + IPV4_OFFSET, ByteOrder.BIG_ENDIAN) & 0xFFFF_FFFFL :
            buffer.getLong(offset + IPV6_OFFSET + Long.BYTES, ByteOrder.BIG_ENDIAN);
    }

    private static boolean isIpv4(final UnsafeBuffer buffer, final int offset)
    {
        return buffer.getShort(offset) == SocketConstants.AF_INET;
    }

    /** An address and a port as people write them. */
    static String text(final long high, final long low, final int port)
    {
        if (RocePath.isIpv4(high, low))
        {
            final int bits = (int)low;
            return (bits >>> 24) + "." + (bits >>> 16 & 0xFF) + "." + (bits >>> 8 & 0xFF) + "." + (bits & 0xFF) + ":" +
                port;
        }
        final byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array();
        final StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < bytes.length; i += Short.BYTES)
        {
            text.append(i == 0 ? "" : ":").append(Integer.toHexString((bytes[i] & 0xFF) << 8 | bytes[i + 1] & 0xFF));
        }
        return text.append("]:").append(port).toString();
    }
}
