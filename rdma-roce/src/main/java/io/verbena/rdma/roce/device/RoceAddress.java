package io.verbena.rdma.roce.device;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.verbs.DeviceAddress;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * Addresses of devices that speak RoCEv2. One of this provider has one number for its UDP port and the TCP port of its
 * connection service, and names it twice in its locator, so that others are recognised: RNICs and Soft-RoCE take
 * packets at UDP port 4791, wherever their connection service is.
 */
final class RoceAddress
{
    private static final int PORT_MASK = 0xFFFF;

    private RoceAddress()
    {
    }

    /**
     * The address of a device of this provider.
     *
     * @param processId for peers on its host; 0 when it is reached by the network only.
     */
    static DeviceAddress of(final long gidHigh, final long gidLow, final int port, final int processId)
    {
        return new DeviceAddress(gidHigh, gidLow, ServiceLocator.ofMarked(port, processId));
    }

    /** UDP port of any device. */
    static int udpPort(final DeviceAddress device)
    {
        return ServiceLocator.isMarked(device) ? (int)(device.serviceLocator() & PORT_MASK) : RocePath.ROCE_PORT;
    }

    /** As {@code UdpPort} takes it: the lower 16 bits of the locator are the UDP port. */
    static DeviceAddress forPort(final DeviceAddress device)
    {
        return new DeviceAddress(device.gidHigh(), device.gidLow(), udpPort(device));
    }

    static InetAddress inetAddress(final DeviceAddress device)
    {
        return ServiceLocator.inetAddress(device.gidHigh(), device.gidLow());
    }

    static DeviceAddress gid(final InetAddress address)
    {
        final byte[] bytes = address.getAddress();
        if (bytes.length == Integer.BYTES)
        {
            return new DeviceAddress(0, 0xFFFFL << Integer.SIZE | ByteBuffer.wrap(bytes).getInt() & 0xFFFF_FFFFL);
        }
        final ByteBuffer halves = ByteBuffer.wrap(bytes);
        return new DeviceAddress(halves.getLong(), halves.getLong());
    }
}
