package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Reply to allocateTableId, whose request is a header.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     |   table id    |   reserved    |
 *  16 +---------------+---------------+
 * </pre>
 */
final class TableIdDescriptor
{
    static final int TABLE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int RESERVED_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private TableIdDescriptor()
    {
    }

    static int encode(final int tableId, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + TABLE_ID_OFFSET, tableId, ControlHeaderDescriptor.ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ControlHeaderDescriptor.ORDER);
        return LENGTH_BYTES;
    }

    static int decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LENGTH_BYTES, "table id reply");
        return buffer.getInt(offset + TABLE_ID_OFFSET, ControlHeaderDescriptor.ORDER);
    }
}
