package io.verbena.rdma.roce.wire;

/**
 * Where an engine's packets go. Owns the packets it lends; lends them in any number and keeps their memory for as long
 * as it takes to send them. Called by the engine's thread.
 */
public interface PacketSink
{
    /**
     * Lends a packet to be filled; the same one again until {@link #send} is called.
     *
     * @return the packet, or null when there is no room now: the engine goes on with its next {@code doWork}.
     */
    RocePacket claim();

    /**
     * Takes a packet back to send it. It may be lost, as any packet may.
     *
     * @param packet claimed before, complete with length, addresses and CRC.
     */
    void send(RocePacket packet);
}
