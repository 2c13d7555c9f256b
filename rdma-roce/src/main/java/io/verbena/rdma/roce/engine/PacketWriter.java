package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.seal.PacketCipher;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.InvariantCrc;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.spi.RawMemory;

/** Finishes packets of an engine: BTH, padding, addresses, CRC. Used by the engine's thread. */
final class PacketWriter
{
    private static final int ALIGNMENT = 4;

    private final PacketSink sink;
    private final InvariantCrc crc;
    private final EngineCounters counters;
    private boolean hasRoom = true;

    PacketWriter(final PacketSink sink, final InvariantCrc crc, final EngineCounters counters)
    {
        this.sink = sink;
        this.crc = crc;
        this.counters = counters;
    }

    /** A packet to be filled behind its BTH and then given to {@link #send}; null when there is no room. */
    RocePacket claim()
    {
        final RocePacket packet = sink.claim();
        hasRoom = packet != null;
        return packet;
    }

    /** Whether the last claim succeeded. */
    boolean hasRoom()
    {
        return hasRoom;
    }

    /** To be called when there may be room again. */
    void retry()
    {
        hasRoom = true;
    }

    /**
     * Copies a payload behind the headers of an opcode.
     *
     * @param packet      claimed.
     * @param opcode      it will get.
     * @param address     of the payload, mapped.
     * @param lengthBytes of the payload.
     */
    static void putPayload(final RocePacket packet, final int opcode, final long address, final int lengthBytes)
    {
        RawMemory.read(
            address, packet.buffer().addressOffset() + RoceOpcode.headerBytes(opcode), lengthBytes);
    }

    /**
     * Finishes and sends a packet whose headers behind the BTH and whose payload are in place.
     *
     * @param packet         claimed.
     * @param path           it travels.
     * @param cipher         that seals it; null: it goes in clear.
     * @param opcode         transport and operation.
     * @param payloadBytes   without padding.
     * @param destination    queue pair there.
     * @param isSolicited    whether to wake the receiver.
     * @param isAckRequested whether to ask for an acknowledgement.
     * @param sequence       its PSN.
     */
    void send(
        final RocePacket packet,
        final RocePath path,
        final PacketCipher cipher,
        final int opcode,
        final int payloadBytes,
        final int destination,
        final boolean isSolicited,
        final boolean isAckRequested,
        final int sequence)
    {
        final int padBytes = -payloadBytes & ALIGNMENT - 1;
        final int end = RoceOpcode.headerBytes(opcode) + payloadBytes;
        BthDescriptor.encode(
            packet.buffer(), 0, opcode, isSolicited, padBytes, destination, isAckRequested, sequence);
        for (int i = 0; i < padBytes; i++)
        {
            packet.buffer().putByte(end + i, (byte)0);
        }
        finish(packet, path, cipher, end + padBytes);
    }

    /**
     * Sends a congestion notification, when there is room.
     *
     * @param path        it travels.
     * @param cipher      that seals it; null: it goes in clear.
     * @param destination queue pair that shall send less.
     * @return whether there was room.
     */
    boolean sendNotification(final RocePath path, final PacketCipher cipher, final int destination)
    {
        final RocePacket packet = claim();
        if (packet != null)
        {
            final int end = RoceOpcode.headerBytes(RoceOpcode.CONGESTION_NOTIFICATION);
            packet.buffer().setMemory(0, end, (byte)0);
            BthDescriptor.encode(
                packet.buffer(), 0, RoceOpcode.CONGESTION_NOTIFICATION, false, 0, destination, false, 0);
            packet.buffer().putByte(
                BthDescriptor.CONGESTION_OFFSET, (byte)BthDescriptor.BACKWARD_CONGESTION_FLAG);
            finish(packet, path, cipher, end);
        }
        return packet != null;
    }

    private void finish(final RocePacket packet, final RocePath path, final PacketCipher cipher, final int end)
    {
        packet.lengthBytes((cipher == null ? end : cipher.seal(packet.buffer(), end)) + InvariantCrc.LENGTH_BYTES);
        packet.path(path);
        crc.seal(packet);
        counters.sent++;
        sink.send(packet);
    }
}
