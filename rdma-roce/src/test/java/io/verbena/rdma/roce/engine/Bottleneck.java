package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.RocePacket;

import java.util.HashMap;
import java.util.Map;

/**
 * A link of finite rate in front of one node, with a queue of finite length: what does not fit is lost, what arrives at
 * a long queue is marked.
 */
final class Bottleneck
{
    /** Headers of Ethernet, IPv6 and UDP, and the gap between frames. */
    static final int FRAME_BYTES = 38 + 40 + 8;

    final long addressLow;
    final double bytesPerNs;
    private final long queueBytes;
    private final long markBytes;
    private final Map<Long, Double> senderFreeAtNs = new HashMap<>();
    private double freeAtNs;
    long markedCount;

    Bottleneck(final EngineNode node, final double bytesPerNs, final long queueBytes, final long markBytes)
    {
        addressLow = node.address.gidLow();
        this.bytesPerNs = bytesPerNs;
        this.queueBytes = queueBytes;
        this.markBytes = markBytes;
    }

    /** How long a packet takes to leave its sender, whose own link is as fast. */
    long leave(final RocePacket packet, final long nowNs)
    {
        final double startNs = Math.max(nowNs, senderFreeAtNs.getOrDefault(packet.sourceLow(), 0.0));
        final double endNs = startNs + (packet.lengthBytes() + FRAME_BYTES) / bytesPerNs;
        senderFreeAtNs.put(packet.sourceLow(), endNs);
        return (long)endNs - nowNs;
    }

    /** When a packet has passed; negative when there is no room for it. May mark it. */
    long pass(final RocePacket packet, final long nowNs)
    {
        final int lengthBytes = packet.lengthBytes() + FRAME_BYTES;
        final double queuedBytes = Math.max(0, freeAtNs - nowNs) * bytesPerNs;
        if (queuedBytes + lengthBytes > queueBytes)
        {
            return -1;
        }
        if (queuedBytes > markBytes)
        {
            markedCount++;
            packet.congestionMarked(true);
        }
        freeAtNs = Math.max(freeAtNs, nowNs) + lengthBytes / bytesPerNs;
        return (long)freeAtNs;
    }
}
