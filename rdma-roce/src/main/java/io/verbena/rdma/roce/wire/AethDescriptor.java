package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Acknowledge extended transport header (AETH); {@code docs/format/roce-packet.md}; big-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+---+---------+-----------------------------------------------+
 *  |0|knd|  value  |            message sequence number            |
 *  +-+---+---------+-----------------------------------------------+
 * </pre>
 *
 * The first byte is the syndrome: a kind (acknowledged, receiver not ready, refused) and a value that depends on it.
 */
public final class AethDescriptor
{
    /** Offset of the word: syndrome in the upper 8 bits, message sequence number in the lower 24. */
    public static final int WORD_OFFSET = 0;
    /** Length of the header. */
    public static final int LENGTH_BYTES = WORD_OFFSET + Integer.BYTES;
    /** First bit of the syndrome in the word. */
    public static final int SYNDROME_SHIFT = 24;
    /** Bits of the syndrome that say which kind it is; the highest one is reserved. */
    public static final int KIND_MASK = 0xE0;
    /** Bits of the syndrome that hold the value. */
    public static final int VALUE_MASK = 0x1F;
    /** Kind: acknowledged; the value is a credit count. */
    public static final int ACK = 0x00;
    /** Syndrome: acknowledged, without credits. */
    public static final int ACK_WITHOUT_CREDITS = 0x1F;
    /** Kind: receiver not ready; the value is a code of the time to wait. */
    public static final int RECEIVER_NOT_READY = 0x20;
    /** Kind: refused; the value says why. */
    public static final int REFUSED = 0x60;
    /** Syndrome: packets are missing before this one. */
    public static final int SEQUENCE_ERROR = 0x60;
    /** Syndrome: the request is invalid. */
    public static final int INVALID_REQUEST = 0x61;
    /** Syndrome: key, bounds or rights do not allow it. */
    public static final int REMOTE_ACCESS_ERROR = 0x62;
    /** Syndrome: the responder cannot carry it out. */
    public static final int REMOTE_OPERATIONAL_ERROR = 0x63;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;
    private static final int NUMBER_MASK = (1 << SYNDROME_SHIFT) - 1;

    private AethDescriptor()
    {
    }

    /**
     * Writes a header.
     *
     * @param buffer          target.
     * @param offset          of the header.
     * @param syndrome        8 bits.
     * @param messageSequence messages completed by the responder, modulo 2^24.
     */
    public static void encode(
        final MutableDirectBuffer buffer, final int offset, final int syndrome, final int messageSequence)
    {
        buffer.putInt(offset + WORD_OFFSET, syndrome << SYNDROME_SHIFT | messageSequence & NUMBER_MASK, ORDER);
    }

    /** The syndrome, 8 bits. */
    public static int syndrome(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + WORD_OFFSET, ORDER) >>> SYNDROME_SHIFT;
    }

    /** Messages completed by the responder, modulo 2^24. */
    public static int messageSequence(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + WORD_OFFSET, ORDER) & NUMBER_MASK;
    }
}
