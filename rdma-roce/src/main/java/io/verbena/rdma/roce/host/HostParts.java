package io.verbena.rdma.roce.host;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.roce.device.RoceDevice;
import io.verbena.rdma.soft.SoftDevice;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.verbs.DeviceAddress;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The two devices that make up one, and what users know of what these name. Thread-safe. */
final class HostParts
{
    /** Of the network's address, where its UDP port is. */
    private static final int PORT_MASK = 0xFFFF;

    private final SoftDevice shared;
    private final RoceDevice network;
    private final Map<Object, Object> wholes = new ConcurrentHashMap<>();

    HostParts(final SoftDevice shared, final RoceDevice network)
    {
        this.shared = shared;
        this.network = network;
    }

    SoftDevice shared()
    {
        return shared;
    }

    RoceDevice network()
    {
        return network;
    }

    /** For messages. */
    String name()
    {
        return shared.name();
    }

    /** Notes what users know of a part. */
    void opened(final Object part, final Object whole)
    {
        wholes.put(part, whole);
    }

    /** A part is closed, or is being closed. */
    void closed(final Object part)
    {
        wholes.remove(part);
    }

    /** What users know of a part; null once it is closed. */
    Object whole(final Object part)
    {
        return wholes.get(part);
    }

    /**
     * The address of a peer by shared memory.
     *
     * @param peer by its address on the network.
     * @return null when it is to be reached by the network: it is no device of this host and directory, whatever its
     *     IP address may be.
     */
    DeviceAddress local(final DeviceAddress peer)
    {
        final int processId = ServiceLocator.processId(peer);
        final DeviceAddress local = SoftFabric.address(processId, (int)(peer.serviceLocator() & PORT_MASK));
        return processId != 0 && peer.equals(shared.networkAddress(local)) ? local : null;
    }
}
