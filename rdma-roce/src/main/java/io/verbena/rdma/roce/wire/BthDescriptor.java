package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Base transport header (BTH), the first of every packet; {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+-+-+---+-------+-------------------------------+
 *  |    opcode     |S|M|pad| tver  |         partition key         |
 *  +-+-+-----------+-+-+---+-------+-------------------------------+
 *  |F|B| reserved  |            destination queue pair             |
 *  +-+-+-----------+-----------------------------------------------+
 *  |A|  reserved   |            packet sequence number             |
 *  +-+-------------+-----------------------------------------------+
 * </pre>
 *
 * S solicited event, M migration state, F forward and B backward congestion mark, A acknowledgement requested.
 */
public final class BthDescriptor
{
    /** Offset of the 8-bit {@link RoceOpcode}. */
    public static final int OPCODE_OFFSET = 0;
    /** Offset of the byte with solicited event, migration state, pad count and transport version. */
    public static final int FLAGS_OFFSET = OPCODE_OFFSET + Byte.BYTES;
    /** Offset of the 16-bit partition key. */
    public static final int PARTITION_KEY_OFFSET = FLAGS_OFFSET + Byte.BYTES;
    /** Offset of the byte with the congestion marks, which the invariant CRC leaves out. */
    public static final int CONGESTION_OFFSET = PARTITION_KEY_OFFSET + Short.BYTES;
    /** Offset of the word whose lower 24 bits are the destination queue pair. */
    public static final int DESTINATION_OFFSET = CONGESTION_OFFSET;
    /** Offset of the word with the request for an acknowledgement and the 24-bit packet sequence number. */
    public static final int SEQUENCE_OFFSET = DESTINATION_OFFSET + Integer.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = SEQUENCE_OFFSET + Integer.BYTES;

    /** Bit of {@link #FLAGS_OFFSET}: wake a receiver that waits for solicited events. */
    public static final int SOLICITED_FLAG = 1 << 7;
    /** Bit of {@link #FLAGS_OFFSET}: migration state, sent as 1 (no migration is under way) and ignored. */
    public static final int MIGRATION_FLAG = 1 << 6;
    /** First bit of the pad count in {@link #FLAGS_OFFSET}: 0 to 3 bytes between payload and CRC. */
    public static final int PAD_SHIFT = 4;
    /** Width of the pad count in bits. */
    public static final int PAD_BITS = 2;
    /** Bits of {@link #FLAGS_OFFSET} that hold the transport version, which is 0. */
    public static final int VERSION_MASK = 0xF;
    /** The default partition, full member: the only one used. */
    public static final int PARTITION_KEY = 0xFFFF;
    /** Bits of a partition key that name the partition; the highest one distinguishes full from limited members. */
    public static final int PARTITION_MASK = 0x7FFF;
    /** Bit of {@link #CONGESTION_OFFSET}: the path was congested. */
    public static final int FORWARD_CONGESTION_FLAG = 1 << 7;
    /** Bit of {@link #CONGESTION_OFFSET}: the way back was. */
    public static final int BACKWARD_CONGESTION_FLAG = 1 << 6;
    /** Bits of queue pair numbers and packet sequence numbers. */
    public static final int NUMBER_BITS = 24;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;
    private static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;
    private static final int ACKNOWLEDGE_FLAG = 1 << 31;

    static
    {
        if (LENGTH_BYTES != 12)
        {
            throw new ExceptionInInitializerError("BTH has 12 bytes: " + LENGTH_BYTES);
        }
    }

    private BthDescriptor()
    {
    }

    /**
     * Writes a header of the default partition without congestion marks.
     *
     * @param buffer            target.
     * @param offset            of the header.
     * @param opcode            of {@link RoceOpcode}.
     * @param isSolicited       whether to wake the receiver.
     * @param padBytes          0 to 3.
     * @param destination       24-bit queue pair number.
     * @param isAckRequested    whether the responder shall acknowledge.
     * @param sequence          24-bit packet sequence number.
     */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final int opcode,
        final boolean isSolicited,
        final int padBytes,
        final int destination,
        final boolean isAckRequested,
        final int sequence)
    {
        buffer.putByte(offset + OPCODE_OFFSET, (byte)opcode);
        buffer.putByte(offset + FLAGS_OFFSET,
            (byte)((isSolicited ? SOLICITED_FLAG : 0) | MIGRATION_FLAG | padBytes << PAD_SHIFT));
        buffer.putShort(offset + PARTITION_KEY_OFFSET, (short)PARTITION_KEY, ORDER);
        buffer.putInt(offset + DESTINATION_OFFSET, destination & NUMBER_MASK, ORDER);
        buffer.putInt(
            offset + SEQUENCE_OFFSET, (isAckRequested ? ACKNOWLEDGE_FLAG : 0) | sequence & NUMBER_MASK, ORDER);
    }

    /** The {@link RoceOpcode}. */
    public static int opcode(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + OPCODE_OFFSET) & 0xFF;
    }

    /** Whether the receiver shall be woken. */
    public static boolean isSolicited(final DirectBuffer buffer, final int offset)
    {
        return (buffer.getByte(offset + FLAGS_OFFSET) & SOLICITED_FLAG) != 0;
    }

    /** Bytes between payload and CRC, 0 to 3. */
    public static int padBytes(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + FLAGS_OFFSET) >>> PAD_SHIFT & (1 << PAD_BITS) - 1;
    }

    /** Version of the transport: 0. */
    public static int version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getByte(offset + FLAGS_OFFSET) & VERSION_MASK;
    }

    /** Partition key, 16 bits. */
    public static int partitionKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + PARTITION_KEY_OFFSET, ORDER) & 0xFFFF;
    }

    /** Destination queue pair, 24 bits. */
    public static int destination(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + DESTINATION_OFFSET, ORDER) & NUMBER_MASK;
    }

    /** Whether the responder shall acknowledge. */
    public static boolean isAckRequested(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + SEQUENCE_OFFSET, ORDER) < 0;
    }

    /** Packet sequence number, 24 bits. */
    public static int sequence(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + SEQUENCE_OFFSET, ORDER) & NUMBER_MASK;
    }
}
