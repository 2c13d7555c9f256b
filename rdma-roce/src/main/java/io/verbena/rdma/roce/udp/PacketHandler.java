package io.verbena.rdma.roce.udp;

import io.verbena.rdma.roce.wire.RocePacket;

/** Where packets go that arrived. */
@FunctionalInterface
public interface PacketHandler
{
    /**
     * Takes a packet.
     *
     * @param packet with its length, addresses, ports and congestion mark; not to be kept.
     */
    void onPacket(RocePacket packet);
}
