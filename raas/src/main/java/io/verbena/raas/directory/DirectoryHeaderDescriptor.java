package io.verbena.raas.directory;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Layout of the first 128 bytes of the view, {@code docs/format/peer-directory.md}: what holds for the list of nodes
 * behind them, and for the named records. Little-endian. The sums bind the header to the records that belong to it:
 * READs of all show one state of the view exactly when header and records hold by themselves and add up, whatever the
 * order in which a NIC fetches the lines.
 *
 * <pre>
 *     0               4               8
 *   0 +---------------+---------------+
 *     |  checksum: XXH3-64 of 8..127  |
 *   8 +-------+-------+---------------+
 *     |version| zero  | listed places |
 *  16 +-------+-------+---------------+
 *     |      membership version       |
 *  24 +-------------------------------+
 *     |  sum of the nodes' checksums  |
 *  32 +---------------+---------------+
 *     |  named bytes  | named outside |
 *  40 +---------------+---------------+
 *     |  sum of the named records'    |
 *  48 +-------------------------------+
 *     |      reserved, zero ...       |
 * 128 +-------------------------------+
 * </pre>
 */
public final class DirectoryHeaderDescriptor
{
    /** Version of this layout. */
    public static final int VERSION = 2;
    /** Offset of the 64-bit checksum of everything behind it; never 0. */
    public static final int CHECKSUM_OFFSET = 0;
    /** Offset of the 16-bit version. */
    public static final int VERSION_OFFSET = CHECKSUM_OFFSET + Long.BYTES;
    /** Offset of the 32-bit number of places of the list up to the last one in use. */
    public static final int LISTED_OFFSET = VERSION_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit version of the membership that the list shows, or is newer than. */
    public static final int MEMBERSHIP_VERSION_OFFSET = LISTED_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit sum, modulo 2^64, of the checksums of the records listed. */
    public static final int SUM_OFFSET = MEMBERSHIP_VERSION_OFFSET + Long.BYTES;
    /** Offset of the 32-bit number of bytes of the named part up to the end of its last record. */
    public static final int NAMED_BYTES_OFFSET = SUM_OFFSET + Long.BYTES;
    /** Offset of the 32-bit number of named records for which the view has no room. */
    public static final int NAMED_OUTSIDE_OFFSET = NAMED_BYTES_OFFSET + Integer.BYTES;
    /** Offset of the 64-bit sum, modulo 2^64, of the checksums of the named records. */
    public static final int NAMED_SUM_OFFSET = NAMED_OUTSIDE_OFFSET + Integer.BYTES;
    /** Offset of the bytes kept for later versions, zero. */
    public static final int RESERVED_OFFSET = NAMED_SUM_OFFSET + Long.BYTES;
    /** Length of the header: two cache lines. */
    public static final int LENGTH_BYTES = 128;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    /** Whose places have offsets that are numbers of 31 bits. */
    private static final int MAX_LISTED =
        (Integer.MAX_VALUE - LENGTH_BYTES) / PeerRecordDescriptor.RECORD_LENGTH_BYTES;

    private DirectoryHeaderDescriptor()
    {
    }

    /** Writes a whole header, checksum included; not into memory that others read meanwhile. */
    static void encode(
        final int listed, final long membershipVersion, final long sum, final int namedBytes, final int namedOutside,
        final long namedSum, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, ORDER);
        buffer.putInt(offset + LISTED_OFFSET, listed, ORDER);
        buffer.putLong(offset + MEMBERSHIP_VERSION_OFFSET, membershipVersion, ORDER);
        buffer.putLong(offset + SUM_OFFSET, sum, ORDER);
        buffer.putInt(offset + NAMED_BYTES_OFFSET, namedBytes, ORDER);
        buffer.putInt(offset + NAMED_OUTSIDE_OFFSET, namedOutside, ORDER);
        buffer.putLong(offset + NAMED_SUM_OFFSET, namedSum, ORDER);
        buffer.putLong(offset + CHECKSUM_OFFSET, checksum(buffer, offset), ORDER);
    }

    /** Whether the checksum holds, and the numbers can be lengths: false for a header caught halfway. */
    static boolean isValid(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + CHECKSUM_OFFSET, ORDER) == checksum(buffer, offset) &&
            listed(buffer, offset) >= 0 && listed(buffer, offset) <= MAX_LISTED && namedBytes(buffer, offset) >= 0;
    }

    static int version(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + VERSION_OFFSET, ORDER) & 0xFFFF;
    }

    static int listed(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + LISTED_OFFSET, ORDER);
    }

    static long membershipVersion(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + MEMBERSHIP_VERSION_OFFSET, ORDER);
    }

    static long sum(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + SUM_OFFSET, ORDER);
    }

    static int namedBytes(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NAMED_BYTES_OFFSET, ORDER);
    }

    static int namedOutside(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NAMED_OUTSIDE_OFFSET, ORDER);
    }

    static long namedSum(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + NAMED_SUM_OFFSET, ORDER);
    }

    static long checksum(final DirectBuffer buffer, final int offset)
    {
        return PeerRecordDescriptor.checksum(buffer, offset + VERSION_OFFSET, LENGTH_BYTES - VERSION_OFFSET);
    }
}
