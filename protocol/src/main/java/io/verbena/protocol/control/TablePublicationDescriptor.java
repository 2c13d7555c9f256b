package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A table's descriptor, with the memory nodes as the sender knows them: request of createTable and growTable.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +-------------------------------+
 *     |      checksum expected        |
 *  16 +---------------+---------------+
 *     |     count     |  user number  |
 *  24 +---------------+---------------+
 *     | { node id 4, incarnation 4 }  |
 *     |  ...                          |
 *     +-------------------------------+
 *     |  table entry, with a header   |
 *     |  of its own ...               |
 *     +-------------------------------+
 * </pre>
 */
final class TablePublicationDescriptor
{
    static final int EXPECTED_CHECKSUM_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int COUNT_OFFSET = EXPECTED_CHECKSUM_OFFSET + Long.BYTES;
    /** 0: no user. */
    static final int USER_NUMBER_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int MEMORY_NODES_OFFSET = USER_NUMBER_OFFSET + Integer.BYTES;
    static final int MEMORY_NODE_LENGTH_BYTES = 2 * Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private TablePublicationDescriptor()
    {
    }

    static int encode(
        final TableEntry table,
        final long expectedChecksum,
        final List<PeerIdentity> memoryNodes,
        final int userNumber,
        final MutableDirectBuffer buffer,
        final int offset)
    {
        final int entryOffset = MEMORY_NODES_OFFSET + memoryNodes.size() * MEMORY_NODE_LENGTH_BYTES;
        final int roomBytes = RpcClient.MAX_MESSAGE_BYTES - entryOffset - TableEntryDescriptor.NAME_OFFSET -
            TableNameDescriptor.bytes(table.name()).length;
        if (roomBytes < table.descriptor().length)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "table " + table.name() + " on " +
                memoryNodes.size() + " memory nodes has a descriptor of " + table.descriptor().length +
                " bytes, there is room for " + roomBytes + " in a message: expect fewer records");
        }
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + EXPECTED_CHECKSUM_OFFSET, expectedChecksum, ORDER);
        buffer.putInt(offset + COUNT_OFFSET, memoryNodes.size(), ORDER);
        buffer.putInt(offset + USER_NUMBER_OFFSET, userNumber, ORDER);
        for (int i = 0; i < memoryNodes.size(); i++)
        {
            final int at = offset + MEMORY_NODES_OFFSET + i * MEMORY_NODE_LENGTH_BYTES;
            buffer.putInt(at, memoryNodes.get(i).nodeId(), ORDER);
            buffer.putInt(at + Integer.BYTES, memoryNodes.get(i).incarnation(), ORDER);
        }
        return entryOffset + TableEntryDescriptor.encode(table, buffer, offset + entryOffset);
    }

    static long expectedChecksum(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, MEMORY_NODES_OFFSET, "publication");
        return buffer.getLong(offset + EXPECTED_CHECKSUM_OFFSET, ORDER);
    }

    static int userNumber(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, MEMORY_NODES_OFFSET, "publication");
        return buffer.getInt(offset + USER_NUMBER_OFFSET, ORDER);
    }

    static List<PeerIdentity> memoryNodes(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final int count = count(buffer, offset, lengthBytes);
        final List<PeerIdentity> nodes = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + MEMORY_NODES_OFFSET + i * MEMORY_NODE_LENGTH_BYTES;
            nodes.add(new PeerIdentity(buffer.getInt(at, ORDER), buffer.getInt(at + Integer.BYTES, ORDER)));
        }
        return nodes;
    }

    static TableEntry table(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final int entryOffset =
            MEMORY_NODES_OFFSET + count(buffer, offset, lengthBytes) * MEMORY_NODE_LENGTH_BYTES;
        return TableEntryDescriptor.decode(buffer, offset + entryOffset, lengthBytes - entryOffset);
    }

    private static int count(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, MEMORY_NODES_OFFSET, "publication");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > (lengthBytes - MEMORY_NODES_OFFSET) / MEMORY_NODE_LENGTH_BYTES)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST,
                count + " memory nodes in a publication of " + lengthBytes + " bytes");
        }
        return count;
    }
}
