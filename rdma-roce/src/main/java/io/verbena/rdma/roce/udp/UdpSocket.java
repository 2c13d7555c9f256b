package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.net.InetAddress;

/** A socket, bound and set up. */
final class UdpSocket
{
    private static final int PORT_MASK = 0xFFFF;
    private static final int LENGTH_OFFSET = 8;
    private static final int NAME_OFFSET = 16;
    private static final int MEMORY_BYTES = 64;
    private static final int SEND_BUFFER_BYTES = 4 << 20;

    private final SocketCalls calls = new SocketCalls();
    private final UnsafeBuffer memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(MEMORY_BYTES, MEMORY_BYTES));
    private final InetAddress inetAddress;
    private final String text;
    private final int requestedPort;
    private final int descriptor;
    private DeviceAddress address;
    private int receiveBufferBytes;

    private UdpSocket(final UdpPortOptions options)
    {
        inetAddress = options.address();
        text = inetAddress.getHostAddress();
        requestedPort = options.port();
        descriptor = calls.socket(
            isIpv4() ? SocketConstants.AF_INET : SocketConstants.AF_INET6, SocketConstants.DATAGRAM);
        check("socket", descriptor);
    }

    static UdpSocket open(final UdpPortOptions options)
    {
        final UdpSocket socket = new UdpSocket(options);
        try
        {
            socket.setUp(options.receiveBufferBytes());
            socket.bind();
            return socket;
        }
        catch (final RuntimeException ex)
        {
            socket.close();
            throw ex;
        }
    }

    /** The UDP port of a device. */
    static int port(final DeviceAddress device)
    {
        final int port = (int)device.serviceLocator() & PORT_MASK;
        return port == 0 ? RocePath.ROCE_PORT : port;
    }

    int descriptor()
    {
        return descriptor;
    }

    DeviceAddress address()
    {
        return address;
    }

    int receiveBufferBytes()
    {
        return receiveBufferBytes;
    }

    int scope()
    {
        return SocketName.scope(inetAddress);
    }

    boolean isIpv4()
    {
        return RocePath.isIpv4(SocketName.high(inetAddress), SocketName.low(inetAddress));
    }

    void close()
    {
        calls.close(descriptor);
    }

    private void setUp(final int wantedReceiveBytes)
    {
        // Before bind: from then on packets arrive.
        if (isIpv4())
        {
            set("IP_MTU_DISCOVER", SocketConstants.SOL_IP, SocketConstants.IP_MTU_DISCOVER,
                SocketConstants.PMTUDISC_DO);
            set("IP_TOS", SocketConstants.SOL_IP, SocketConstants.IP_TOS, SocketConstants.ECN_CAPABLE);
            set("IP_RECVTOS", SocketConstants.SOL_IP, SocketConstants.IP_RECVTOS, 1);
            set("IP_RECVERR", SocketConstants.SOL_IP, SocketConstants.IP_RECVERR, 1);
        }
        else
        {
            set("IPV6_MTU_DISCOVER", SocketConstants.SOL_IPV6, SocketConstants.IPV6_MTU_DISCOVER,
                SocketConstants.PMTUDISC_DO);
            set("IPV6_TCLASS", SocketConstants.SOL_IPV6, SocketConstants.IPV6_TCLASS, SocketConstants.ECN_CAPABLE);
            set("IPV6_RECVTCLASS", SocketConstants.SOL_IPV6, SocketConstants.IPV6_RECVTCLASS, 1);
            set("IPV6_RECVERR", SocketConstants.SOL_IPV6, SocketConstants.IPV6_RECVERR, 1);
            // Soft-RoCE and RNICs leave the UDP checksum 0: the invariant CRC is there for that.
            set("UDP_NO_CHECK6_RX", SocketConstants.SOL_UDP, SocketConstants.UDP_NO_CHECK6_RX, 1);
        }
        // Kernels before 5.0 have none: packets come one by one.
        trySet(SocketConstants.SOL_UDP, SocketConstants.UDP_GRO, 1);
        // The one that may exceed the limit of the host (net.core.rmem_max) needs CAP_NET_ADMIN.
        setBuffer(SocketConstants.SO_RCVBUFFORCE, SocketConstants.SO_RCVBUF, wantedReceiveBytes);
        setBuffer(SocketConstants.SO_SNDBUFFORCE, SocketConstants.SO_SNDBUF, SEND_BUFFER_BYTES);
        memory.putInt(LENGTH_OFFSET, Integer.BYTES);
        check("SO_RCVBUF", calls.getsockopt(descriptor, SocketConstants.SOL_SOCKET, SocketConstants.SO_RCVBUF,
            memory.addressOffset(), memory.addressOffset() + LENGTH_OFFSET));
        receiveBufferBytes = memory.getInt(0);
    }

    private void setBuffer(final int forcedName, final int name, final int lengthBytes)
    {
        if (!trySet(SocketConstants.SOL_SOCKET, forcedName, lengthBytes))
        {
            trySet(SocketConstants.SOL_SOCKET, name, lengthBytes);
        }
    }

    private void bind()
    {
        final int nameBytes = SocketName.encode(memory, NAME_OFFSET, SocketName.high(inetAddress),
            SocketName.low(inetAddress), requestedPort, scope());
        check("bind", calls.bind(descriptor, memory.addressOffset() + NAME_OFFSET, nameBytes));
        memory.putInt(LENGTH_OFFSET, SocketName.MAX_BYTES);
        check("getsockname", calls.getsockname(
            descriptor, memory.addressOffset() + NAME_OFFSET, memory.addressOffset() + LENGTH_OFFSET));
        address = new DeviceAddress(SocketName.high(memory, NAME_OFFSET), SocketName.low(memory, NAME_OFFSET),
            SocketName.port(memory, NAME_OFFSET));
    }

    private void set(final String option, final int level, final int name, final int value)
    {
        memory.putInt(0, value);
        check("setsockopt " + option,
            calls.setsockopt(descriptor, level, name, memory.addressOffset(), Integer.BYTES));
    }

    private boolean trySet(final int level, final int name, final int value)
    {
        memory.putInt(0, value);
        return calls.setsockopt(descriptor, level, name, memory.addressOffset(), Integer.BYTES) >= 0;
    }

    private void check(final String call, final int result)
    {
        if (result < 0)
        {
            throw SocketFailure.opening(call, text, requestedPort, -result);
        }
    }
}
