package io.verbena.rdma.roce.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Atomic extended transport header (AtomicETH), of CMP_SWAP and FETCH_ADD; {@code docs/format/roce-packet.md};
 * big-endian, also the operands, whose word in memory has the byte order of the responder.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                        virtual address                        |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          remote key                           |
 *  +---------------------------------------------------------------+
 *  |                     swap (or addend) value                    |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                         compare value                         |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class AtomicEthDescriptor
{
    /** Offset of the 64-bit virtual address, a multiple of 8. */
    public static final int ADDRESS_OFFSET = 0;
    /** Offset of the 32-bit remote key. */
    public static final int REMOTE_KEY_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** Offset of the 64-bit value to store (CMP_SWAP) or to add (FETCH_ADD). */
    public static final int SWAP_OR_ADD_OFFSET = REMOTE_KEY_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit value to compare with (CMP_SWAP); ignored for FETCH_ADD. */
    public static final int COMPARE_OFFSET = SWAP_OR_ADD_OFFSET + Long.BYTES;
    /** Length of the header. */
    public static final int LENGTH_BYTES = COMPARE_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ByteOrder.BIG_ENDIAN;

    static
    {
        if (LENGTH_BYTES != 28)
        {
            throw new ExceptionInInitializerError("AtomicETH has 28 bytes: " + LENGTH_BYTES);
        }
    }

    private AtomicEthDescriptor()
    {
    }

    /**
     * Writes a header.
     *
     * @param buffer    target.
     * @param offset    of the header.
     * @param address   of the word.
     * @param remoteKey of its region or window.
     * @param swapOrAdd value to store or to add.
     * @param compare   value to compare with, 0 for FETCH_ADD.
     */
    public static void encode(
        final MutableDirectBuffer buffer,
        final int offset,
        final long address,
        final int remoteKey,
        final long swapOrAdd,
        final long compare)
    {
        buffer.putLong(offset + ADDRESS_OFFSET, address, ORDER);
        buffer.putInt(offset + REMOTE_KEY_OFFSET, remoteKey, ORDER);
        buffer.putLong(offset + SWAP_OR_ADD_OFFSET, swapOrAdd, ORDER);
        buffer.putLong(offset + COMPARE_OFFSET, compare, ORDER);
    }

    /** Address of the word. */
    public static long address(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + ADDRESS_OFFSET, ORDER);
    }

    /** Key of the region or window. */
    public static int remoteKey(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + REMOTE_KEY_OFFSET, ORDER);
    }

    /** Value to store or to add. */
    public static long swapOrAdd(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SWAP_OR_ADD_OFFSET, ORDER);
    }

    /** Value to compare with. */
    public static long compare(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + COMPARE_OFFSET, ORDER);
    }
}
