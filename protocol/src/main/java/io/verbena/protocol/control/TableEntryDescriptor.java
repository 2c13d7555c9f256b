package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A table: request of createTable, reply of table and dropTable.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+-------+-------+
 *     |   table id    | name  |reserv.|
 *     |               | length|       |
 *  16 +---------------+-------+-------+
 *     |  descriptor   |   reserved    |
 *     |    length     |               |
 *  24 +---------------+---------------+
 *     |  name, UTF-8 ...              |
 *     +-------------------------------+
 *     |  descriptor ...               |
 * </pre>
 */
final class TableEntryDescriptor
{
    static final int TABLE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int NAME_LENGTH_OFFSET = TABLE_ID_OFFSET + Integer.BYTES;
    static final int DESCRIPTOR_LENGTH_OFFSET = NAME_LENGTH_OFFSET + 2 * Short.BYTES;
    static final int NAME_OFFSET = DESCRIPTOR_LENGTH_OFFSET + 2 * Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private TableEntryDescriptor()
    {
    }

    static int encode(final TableEntry table, final MutableDirectBuffer buffer, final int offset)
    {
        final byte[] name = TableNameDescriptor.bytes(table.name());
        final byte[] descriptor = table.descriptor();
        if (descriptor.length > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "table " + table.name() +
                " has a descriptor of " + descriptor.length + " bytes, the limit is " +
                TableEntry.MAX_DESCRIPTOR_BYTES);
        }
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + TABLE_ID_OFFSET, table.tableId(), ORDER);
        buffer.putShort(offset + NAME_LENGTH_OFFSET, (short)name.length, ORDER);
        buffer.putShort(offset + NAME_LENGTH_OFFSET + Short.BYTES, (short)0, ORDER);
        buffer.putInt(offset + DESCRIPTOR_LENGTH_OFFSET, descriptor.length, ORDER);
        buffer.putInt(offset + DESCRIPTOR_LENGTH_OFFSET + Integer.BYTES, 0, ORDER);
        buffer.putBytes(offset + NAME_OFFSET, name);
        buffer.putBytes(offset + NAME_OFFSET + name.length, descriptor);
        return NAME_OFFSET + name.length + descriptor.length;
    }

    static TableEntry decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET, "table");
        final int nameLength = buffer.getShort(offset + NAME_LENGTH_OFFSET, ORDER) & 0xFFFF;
        final int descriptorLength = buffer.getInt(offset + DESCRIPTOR_LENGTH_OFFSET, ORDER);
        if (nameLength < 1 || nameLength > TableEntry.MAX_NAME_BYTES ||
            descriptorLength < 0 || descriptorLength > TableEntry.MAX_DESCRIPTOR_BYTES)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "table with a name of " + nameLength +
                " bytes and a descriptor of " + descriptorLength + " bytes; the limits are " +
                TableEntry.MAX_NAME_BYTES + " and " + TableEntry.MAX_DESCRIPTOR_BYTES);
        }
        ControlHeaderDescriptor.require(lengthBytes, NAME_OFFSET + nameLength + descriptorLength, "table");
        final byte[] name = new byte[nameLength];
        final byte[] descriptor = new byte[descriptorLength];
        buffer.getBytes(offset + NAME_OFFSET, name);
        buffer.getBytes(offset + NAME_OFFSET + nameLength, descriptor);
        return new TableEntry(
            new String(name, StandardCharsets.UTF_8), buffer.getInt(offset + TABLE_ID_OFFSET, ORDER), descriptor);
    }
}
