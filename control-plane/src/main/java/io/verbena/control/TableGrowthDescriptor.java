package io.verbena.control;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A table's new descriptor: request of growTable.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +-------------------------------+
 *     |      checksum expected        |
 *  16 +-------------------------------+
 *     |  table entry, with a header   |
 *     |  of its own ...               |
 *     +-------------------------------+
 * </pre>
 */
final class TableGrowthDescriptor
{
    static final int EXPECTED_CHECKSUM_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int ENTRY_OFFSET = EXPECTED_CHECKSUM_OFFSET + Long.BYTES;

    private TableGrowthDescriptor()
    {
    }

    static int encode(
        final TableEntry table, final long expectedChecksum, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + EXPECTED_CHECKSUM_OFFSET, expectedChecksum, ControlHeaderDescriptor.ORDER);
        return ENTRY_OFFSET + TableEntryDescriptor.encode(table, buffer, offset + ENTRY_OFFSET);
    }

    static long expectedChecksum(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, ENTRY_OFFSET, "growth");
        return buffer.getLong(offset + EXPECTED_CHECKSUM_OFFSET, ControlHeaderDescriptor.ORDER);
    }

    static TableEntry table(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        return TableEntryDescriptor.decode(buffer, offset + ENTRY_OFFSET, lengthBytes - ENTRY_OFFSET);
    }
}
