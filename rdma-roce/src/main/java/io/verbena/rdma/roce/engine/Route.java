package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.seal.PacketCipher;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.spi.CurrentAttributes;
import io.verbena.rdma.spi.RetryTimers;
import io.verbena.rdma.spi.WorkRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.UnsupportedVerbException;

/**
 * Where the packets of a queue pair go, which ones are for it, and what its transport adds to them. This one is of RC
 * and UC, whose peer does not change, and of UD, which has none. Used by the engine's thread.
 */
class Route
{
    /** Transport of {@link RoceOpcode}. */
    final int transport;
    private final QueuePairType type;
    private final CurrentAttributes attributes;
    private RocePath outbound;
    private RocePath inbound;
    private PacketCipher cipher;
    private boolean isSealDecided;

    Route(final QueuePairType type, final CurrentAttributes attributes)
    {
        this.type = type;
        this.attributes = attributes;
        transport = switch (type)
        {
            case RC -> RoceOpcode.RC;
            case UC -> RoceOpcode.UC;
            case UD -> RoceOpcode.UD;
            case DC_INITIATOR -> RoceOpcode.DC;
        };
    }

    /**
     * Decides how packets are sent and taken, before the queue pair enters RTR.
     *
     * @param packetCipher for this connection alone; null: in clear.
     */
    final void seal(final PacketCipher packetCipher)
    {
        cipher = packetCipher;
        isSealDecided = true;
    }

    /** What seals and opens its packets; null in clear. */
    final PacketCipher cipher()
    {
        return cipher;
    }

    /** The peer's device has another address. */
    final void lead(final DeviceAddress peer, final EngineOptions options)
    {
        if (options.isSealed() && !isSealDecided)
        {
            throw new UnsupportedVerbException("connecting a queue pair by its attributes",
                options.address().toString(),
                "its packets are sealed with keys that the connection service agrees on: use Device.connect");
        }
        lead(options.pathTo(peer), options.pathFrom(peer));
    }

    /** Packets go and come another way. */
    final void lead(final RocePath out, final RocePath in)
    {
        outbound = out;
        inbound = in;
    }

    /** Enters RTS from RTR with these attributes. */
    void start(final QueuePairAttributes change)
    {
        // needs none
    }

    /** Enters ERR. */
    void onError()
    {
        // the peer may ask once more why
    }

    /** Forgets everything, as on the way to RESET. */
    void clear()
    {
        outbound = null;
        inbound = null;
        cipher = null;
        isSealDecided = false;
    }

    /** The way to the peer; null when there is none. */
    final RocePath outbound()
    {
        return outbound;
    }

    /** Whether the peer may be Soft-RoCE or an RNIC, which have one port. */
    final boolean leadsToOthers()
    {
        return outbound.destinationPort() == RocePath.ROCE_PORT;
    }

    /** Longest payload of a packet. */
    int mtu()
    {
        return attributes.pathMtuBytes();
    }

    /** Number of the peer's queue pair or target. */
    int destinationNumber()
    {
        return attributes.destinationNumber();
    }

    /** Whether a packet is of this transport and from the peer. */
    boolean takes(final RocePacket packet, final int opcode)
    {
        return type == QueuePairType.UD ? (opcode & RoceOpcode.TRANSPORT_MASK) == transport :
            inbound != null && packet.travels(inbound) && ((opcode & RoceOpcode.TRANSPORT_MASK) == transport ||
            opcode == RoceOpcode.CONGESTION_NOTIFICATION);
    }

    /**
     * Whether a request may begin; where it may not yet, the queue pair is woken when it may.
     *
     * @param request   next to be begun.
     * @param isDrained whether all before it have completed.
     */
    boolean leadsTo(final WorkRequest request, final boolean isDrained)
    {
        return true;
    }

    /** Whether a request may follow the one that has just been sent, before that has completed. */
    boolean leadsOnTo(final WorkRequest request)
    {
        return true;
    }

    /** Writes the header that the transport adds to the packets of an opcode. */
    void putHeader(final RocePacket packet, final int opcode)
    {
        // RC and UC have none
    }

    /** Adds its header to a packet and sends it to the peer; further parameters as of {@link PacketWriter#send}. */
    final void send(
        final PacketWriter writer,
        final RocePacket packet,
        final int opcode,
        final int payloadBytes,
        final boolean isSolicited,
        final boolean isAckRequested,
        final int sequence)
    {
        putHeader(packet, opcode);
        writer.send(
            packet, outbound, cipher, opcode, payloadBytes, destinationNumber(), isSolicited, isAckRequested, sequence);
    }

    /** Whether a response is one for the requester; others are dealt with here. */
    boolean isAnswer(final RocePacket packet, final int opcode)
    {
        return true;
    }

    /** All requests that were begun have completed. */
    void onDrained()
    {
        // the peer stays
    }

    /** Something of {@link #deadlineNs} may be due. */
    void onTimer(final long nowNs)
    {
        // never is
    }

    /** When it has something to do though no packet comes. */
    long deadlineNs()
    {
        return RetryTimers.NEVER_NS;
    }
}
