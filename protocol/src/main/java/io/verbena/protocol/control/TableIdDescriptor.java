package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The number of a table: reply to allocateTableId. Its request has that of the user for whom the table is to be made in
 * the same place, 0 for none.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     |    number     |   reserved    |
 *  16 +---------------+---------------+
 * </pre>
 */
final class TableIdDescriptor
{
    static final int NUMBER_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int RESERVED_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private TableIdDescriptor()
    {
    }

    static int encode(final int number, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NUMBER_OFFSET, number, ControlHeaderDescriptor.ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ControlHeaderDescriptor.ORDER);
        return LENGTH_BYTES;
    }

    static int decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LENGTH_BYTES, "number of a table or of a user");
        return buffer.getInt(offset + NUMBER_OFFSET, ControlHeaderDescriptor.ORDER);
    }
}
