package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A table name: request of table, dropTable and tables.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +-------+-----------------------+
 *     | name  |        reserved       |
 *     | length|                       |
 *  16 +-------+-----------------------+
 *     |  name, UTF-8 ...              |
 * </pre>
 */
final class TableNameDescriptor
{
    static final int NAME_LENGTH_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int NAME_OFFSET = NAME_LENGTH_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private TableNameDescriptor()
    {
    }

    /** Bytes of a name that names a table. */
    static byte[] bytes(final String name)
    {
        final byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < 1 || bytes.length > TableEntry.MAX_NAME_BYTES)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "a table name has 1 to " +
                TableEntry.MAX_NAME_BYTES + " bytes of UTF-8, this one " + bytes.length);
        }
        return bytes;
    }

    static int encode(final String name, final MutableDirectBuffer buffer, final int offset)
    {
        // The empty name, which names no table, stands before all others in a listing.
        final byte[] bytes = name.isEmpty() ? new byte[0] : bytes(name);
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + NAME_LENGTH_OFFSET, bytes.length, ORDER);
        buffer.putBytes(offset + NAME_OFFSET, bytes);
        return NAME_OFFSET + bytes.length;
    }

    static String decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET, "table name");
        final int nameLength = buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET + nameLength, "table name");
        final byte[] bytes = new byte[nameLength];
        buffer.getBytes(offset + NAME_OFFSET, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
