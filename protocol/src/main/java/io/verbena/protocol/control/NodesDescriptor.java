package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NodePage;
import io.verbena.raas.RpcClient;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.PeerRecordDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Nodes: a page of the membership, as records of the peer directory.
 *
 * <pre>
 *  request                               reply
 *   0 +-------------------------------+   0 +-------------------------------+
 *     |            header             |     |            header             |
 *   8 +---------------+---------------+   8 +-------------------------------+
 *     | after node id |   reserved    |     |      membership version       |
 *  16 +---------------+---------------+  16 +-------+-------+---------------+
 *                                           | count | more  |   reserved    |
 *                                        24 +-------+-------+---------------+
 *                                           |  records, 128 bytes each ...  |
 * </pre>
 */
final class NodesDescriptor
{
    static final int AFTER_NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REQUEST_LENGTH_BYTES = AFTER_NODE_ID_OFFSET + 2 * Integer.BYTES;

    static final int REPLY_MEMBERSHIP_VERSION_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_COUNT_OFFSET = REPLY_MEMBERSHIP_VERSION_OFFSET + Long.BYTES;
    static final int REPLY_MORE_OFFSET = REPLY_COUNT_OFFSET + Short.BYTES;
    static final int REPLY_RESERVED_OFFSET = REPLY_MORE_OFFSET + Short.BYTES;
    static final int REPLY_RECORDS_OFFSET = REPLY_RESERVED_OFFSET + Integer.BYTES;
    static final int MAX_RECORDS =
        (RpcClient.MAX_MESSAGE_BYTES - REPLY_RECORDS_OFFSET) / PeerRecordDescriptor.RECORD_LENGTH_BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private NodesDescriptor()
    {
    }

    static int encodeRequest(final int afterNodeId, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + AFTER_NODE_ID_OFFSET, afterNodeId, ORDER);
        buffer.putInt(offset + AFTER_NODE_ID_OFFSET + Integer.BYTES, 0, ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    static int decodeRequest(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "nodes request");
        return buffer.getInt(offset + AFTER_NODE_ID_OFFSET, ORDER);
    }

    /** Encodes as many nodes as fit. */
    static int encodeReply(final NodePage reply, final MutableDirectBuffer buffer, final int offset)
    {
        final int count = Math.min(reply.nodes().size(), MAX_RECORDS);
        final boolean hasMore = reply.hasMore() || count < reply.nodes().size();
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, reply.membershipVersion(), ORDER);
        buffer.putShort(offset + REPLY_COUNT_OFFSET, (short)count, ORDER);
        buffer.putShort(offset + REPLY_MORE_OFFSET, (short)(hasMore ? 1 : 0), ORDER);
        buffer.putInt(offset + REPLY_RESERVED_OFFSET, 0, ORDER);
        int at = REPLY_RECORDS_OFFSET;
        for (int i = 0; i < count; i++)
        {
            PeerRecordDescriptor.encode(reply.nodes().get(i), buffer, offset + at);
            at += PeerRecordDescriptor.RECORD_LENGTH_BYTES;
        }
        return at;
    }

    static NodePage decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_RECORDS_OFFSET, "nodes reply");
        final int count = buffer.getShort(offset + REPLY_COUNT_OFFSET, ORDER) & 0xFFFF;
        ControlHeaderDescriptor.require(
            lengthBytes, REPLY_RECORDS_OFFSET + count * PeerRecordDescriptor.RECORD_LENGTH_BYTES, "nodes reply");
        final List<PeerRecord> nodes = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + REPLY_RECORDS_OFFSET + i * PeerRecordDescriptor.RECORD_LENGTH_BYTES;
            final PeerRecord record = PeerRecordDescriptor.decode(buffer, at);
            if (!PeerRecordDescriptor.isValid(buffer, at) || record.role() == null ||
                PeerRecordDescriptor.version(buffer, at) != PeerRecordDescriptor.VERSION)
            {
                throw new ControlException(ControlStatus.MALFORMED_REPLY, "record " + i + " of nodes has version " +
                    PeerRecordDescriptor.version(buffer, at) + ", this node knows " + PeerRecordDescriptor.VERSION +
                    ", or a broken checksum, or an unknown role: " + record);
            }
            nodes.add(record);
        }
        return new NodePage(
            buffer.getLong(offset + REPLY_MEMBERSHIP_VERSION_OFFSET, ORDER),
            nodes,
            buffer.getShort(offset + REPLY_MORE_OFFSET, ORDER) != 0);
    }
}
