package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TablePage;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reply of tables: a page of names, each a 16-bit length and UTF-8 bytes.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +-------+-------+---------------+
 *     | count | more  |   reserved    |
 *  16 +-------+-------+---------------+
 *     |  { length 2, name } ...       |
 * </pre>
 */
final class TablesDescriptor
{
    static final int COUNT_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int MORE_OFFSET = COUNT_OFFSET + Short.BYTES;
    static final int RESERVED_OFFSET = MORE_OFFSET + Short.BYTES;
    static final int NAMES_OFFSET = RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private TablesDescriptor()
    {
    }

    /** Encodes as many names as fit. */
    static int encode(final TablePage page, final MutableDirectBuffer buffer, final int offset)
    {
        int count = 0;
        int at = NAMES_OFFSET;
        for (final String name : page.names())
        {
            final byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            if (at + Short.BYTES + bytes.length > RpcClient.MAX_MESSAGE_BYTES)
            {
                break;
            }
            buffer.putShort(offset + at, (short)bytes.length, ORDER);
            buffer.putBytes(offset + at + Short.BYTES, bytes);
            at += Short.BYTES + bytes.length;
            count++;
        }
        final boolean hasMore = page.hasMore() || count < page.names().size();
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putShort(offset + COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(offset + MORE_OFFSET, (short)(hasMore ? 1 : 0), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        return at;
    }

    static TablePage decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, NAMES_OFFSET, "tables reply");
        final int count = buffer.getShort(offset + COUNT_OFFSET, ORDER) & 0xFFFF;
        final List<String> names = new ArrayList<>();
        int at = NAMES_OFFSET;
        for (int i = 0; i < count; i++)
        {
            ControlHeaderDescriptor.require(lengthBytes, at + Short.BYTES, "tables reply");
            final int length = buffer.getShort(offset + at, ORDER) & 0xFFFF;
            ControlHeaderDescriptor.require(lengthBytes, at + Short.BYTES + length, "tables reply");
            final byte[] name = new byte[length];
            buffer.getBytes(offset + at + Short.BYTES, name);
            names.add(new String(name, StandardCharsets.UTF_8));
            at += Short.BYTES + length;
        }
        return new TablePage(names, buffer.getShort(offset + MORE_OFFSET, ORDER) != 0);
    }
}
