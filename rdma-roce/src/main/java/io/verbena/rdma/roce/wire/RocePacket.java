package io.verbena.rdma.roce.wire;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A packet from its BTH to its CRC, in native memory, and the addresses it travels under. Mutable, made once and
 * reused. Used by one thread at a time.
 */
public final class RocePacket
{
    /** Longest payload of a packet: the largest path MTU. */
    public static final int MAX_PAYLOAD_BYTES = 4096;
    /** Longest packet: headers, payload and CRC, rounded up to a whole line. */
    public static final int MAX_LENGTH_BYTES = MAX_PAYLOAD_BYTES + 64;
    /** Shortest packet: BTH and CRC. */
    public static final int MIN_LENGTH_BYTES = BthDescriptor.LENGTH_BYTES + InvariantCrc.LENGTH_BYTES;

    private static final int LINE_BYTES = 64;

    private final ByteBuffer bytes;
    private final UnsafeBuffer buffer;
    private final long address;
    private int offset;
    private int lengthBytes;
    private long sourceHigh;
    private long sourceLow;
    private int sourcePort;
    private long destinationHigh;
    private long destinationLow;
    private int destinationPort;
    private int identification;
    private boolean isCongestionMarked;

    /** Makes one with memory of its own for the longest packet. */
    public RocePacket()
    {
        this(BufferUtil.allocateDirectAligned(MAX_LENGTH_BYTES, LINE_BYTES));
    }

    /**
     * Makes one in memory of the caller, which may hold several packets: see {@link #select}.
     *
     * @param bytes direct; its position and limit change when a CRC is computed.
     */
    public RocePacket(final ByteBuffer bytes)
    {
        this.bytes = bytes;
        buffer = new UnsafeBuffer(bytes);
        address = buffer.addressOffset();
    }

    /**
     * Becomes the packet at a place of the memory that it was made in. From then on the bytes before that place are
     * its own, too: its CRC is computed faster when up to 15 of them are overwritten.
     *
     * @param offset      of its BTH.
     * @param lengthBytes of the packet with its CRC.
     */
    public void select(final int offset, final int lengthBytes)
    {
        Objects.checkFromIndexSize(offset, lengthBytes, bytes.capacity());
        buffer.wrap(address + offset, lengthBytes);
        this.offset = offset;
        this.lengthBytes = lengthBytes;
    }

    /** @return its memory: {@link #MAX_LENGTH_BYTES}, or the packet alone when it was selected. */
    public UnsafeBuffer buffer()
    {
        return buffer;
    }

    /** @return the memory it was made in; position and limit mean nothing between two calls. */
    ByteBuffer bytes()
    {
        return bytes;
    }

    /** @return where it begins in that memory. */
    int offset()
    {
        return offset;
    }

    /** @return address of that memory. */
    long address()
    {
        return address;
    }

    /** @return bytes of the packet with its CRC. */
    public int lengthBytes()
    {
        return lengthBytes;
    }

    /**
     * Sets the length.
     *
     * @param lengthBytes of the packet with its CRC, 0 to {@link #MAX_LENGTH_BYTES}.
     */
    public void lengthBytes(final int lengthBytes)
    {
        this.lengthBytes = lengthBytes;
    }

    /**
     * Sets the addresses, and for IPv4 the identification to 0.
     *
     * @param path it travels.
     */
    public void path(final RocePath path)
    {
        path(path.sourceHigh(), path.sourceLow(), path.sourcePort(),
            path.destinationHigh(), path.destinationLow(), path.destinationPort());
    }

    /** As above; the parameters are those of {@link RocePath}. */
    public void path(
        final long sourceHigh,
        final long sourceLow,
        final int sourcePort,
        final long destinationHigh,
        final long destinationLow,
        final int destinationPort)
    {
        this.sourceHigh = sourceHigh;
        this.sourceLow = sourceLow;
        this.sourcePort = sourcePort;
        this.destinationHigh = destinationHigh;
        this.destinationLow = destinationLow;
        this.destinationPort = destinationPort;
        identification = 0;
    }

    /**
     * Becomes equal to another packet.
     *
     * @param other to copy.
     */
    public void copyOf(final RocePacket other)
    {
        buffer.putBytes(0, other.buffer, 0, other.lengthBytes);
        lengthBytes = other.lengthBytes;
        path(other.sourceHigh, other.sourceLow, other.sourcePort,
            other.destinationHigh, other.destinationLow, other.destinationPort);
        identification = other.identification;
        isCongestionMarked = other.isCongestionMarked;
    }

    /** @return upper 64 bits of the sender's address. */
    public long sourceHigh()
    {
        return sourceHigh;
    }

    /** @return lower 64 bits of the sender's address. */
    public long sourceLow()
    {
        return sourceLow;
    }

    /** @return the sender's UDP port. */
    public int sourcePort()
    {
        return sourcePort;
    }

    /** @return upper 64 bits of the receiver's address. */
    public long destinationHigh()
    {
        return destinationHigh;
    }

    /** @return lower 64 bits of the receiver's address. */
    public long destinationLow()
    {
        return destinationLow;
    }

    /** @return the receiver's UDP port. */
    public int destinationPort()
    {
        return destinationPort;
    }

    /** @return the identification field of the IPv4 header, which the CRC covers; without meaning for IPv6. */
    public int identification()
    {
        return identification;
    }

    /**
     * Sets the identification field of the IPv4 header.
     *
     * @param identification 16 bits.
     */
    public void identification(final int identification)
    {
        this.identification = identification;
    }

    /** @return whether it arrived with the mark "congestion experienced" in its IP header. */
    public boolean isCongestionMarked()
    {
        return isCongestionMarked;
    }

    /**
     * Sets the mark; it is not sent, and a copy has the one of its original.
     *
     * @param isMarked whether a router on the way had a long queue.
     */
    public void congestionMarked(final boolean isMarked)
    {
        isCongestionMarked = isMarked;
    }

    /** @return whether it travels by IPv4. */
    public boolean isIpv4()
    {
        return RocePath.isIpv4(sourceHigh, sourceLow) && RocePath.isIpv4(destinationHigh, destinationLow);
    }

    /** @return a new path back to where it came from. */
    public RocePath wayBack()
    {
        return new RocePath(
            destinationHigh, destinationLow, destinationPort, sourceHigh, sourceLow, sourcePort);
    }

    /**
     * Decides whether a path leads back to where it came from.
     *
     * @param path any, or null.
     * @return whether it is equal to {@link #wayBack()}.
     */
    public boolean isAnsweredBy(final RocePath path)
    {
        return path != null && path.destinationHigh() == sourceHigh && path.destinationLow() == sourceLow &&
            path.destinationPort() == sourcePort && path.sourceHigh() == destinationHigh &&
            path.sourceLow() == destinationLow && path.sourcePort() == destinationPort;
    }

    /**
     * Decides whether it travels a path.
     *
     * @param path any.
     * @return whether all addresses and the destination port agree; the source port, which may vary, does not count.
     */
    public boolean travels(final RocePath path)
    {
        return sourceHigh == path.sourceHigh() && sourceLow == path.sourceLow() &&
            destinationHigh == path.destinationHigh() && destinationLow == path.destinationLow() &&
            destinationPort == path.destinationPort();
    }
}
