package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.ForgottenNode;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Request to forget a memory node, or to say what it is, and the reply.
 *
 * <pre>
 *   request                               reply
 *   0 +-------------------------------+   0 +-------------------------------+
 *     |            header             |     |            header             |
 *   8 +---------------+---------------+   8 +---------------+---------------+
 *     |    node id    |    wanted     |     |    node id    |  incarnation  |
 *  16 +---------------+---------------+  16 +---------------+---------------+
 *                                           |         region length         |
 *                                        24 +---------------+---------------+
 *                                           |   forgotten   |   reserved    |
 *                                        32 +---------------+---------------+
 * </pre>
 */
final class ForgetNodeDescriptor
{
    static final int NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int WANTED_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int REQUEST_LENGTH_BYTES = WANTED_OFFSET + Integer.BYTES;

    static final int REPLY_NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_INCARNATION_OFFSET = REPLY_NODE_ID_OFFSET + Integer.BYTES;
    static final int REPLY_REGION_LENGTH_OFFSET = REPLY_INCARNATION_OFFSET + Integer.BYTES;
    static final int REPLY_FORGOTTEN_OFFSET = REPLY_REGION_LENGTH_OFFSET + Long.BYTES;
    static final int REPLY_RESERVED_OFFSET = REPLY_FORGOTTEN_OFFSET + Integer.BYTES;
    static final int REPLY_LENGTH_BYTES = REPLY_RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private ForgetNodeDescriptor()
    {
    }

    static int encodeRequest(
        final int nodeId, final boolean isWanted, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NODE_ID_OFFSET, nodeId, ORDER);
        buffer.putInt(offset + WANTED_OFFSET, isWanted ? 1 : 0, ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    static void requireRequest(final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "request to forget a node");
    }

    static int nodeId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + NODE_ID_OFFSET, ORDER);
    }

    static boolean isWanted(final DirectBuffer buffer, final int offset)
    {
        return 1 == buffer.getInt(offset + WANTED_OFFSET, ORDER);
    }

    static int encodeReply(final ForgottenNode node, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + REPLY_NODE_ID_OFFSET, node.nodeId(), ORDER);
        buffer.putInt(offset + REPLY_INCARNATION_OFFSET, node.incarnation(), ORDER);
        buffer.putLong(offset + REPLY_REGION_LENGTH_OFFSET, node.regionLengthBytes(), ORDER);
        buffer.putInt(offset + REPLY_FORGOTTEN_OFFSET, node.isForgotten() ? 1 : 0, ORDER);
        buffer.putInt(offset + REPLY_RESERVED_OFFSET, 0, ORDER);
        return REPLY_LENGTH_BYTES;
    }

    static ForgottenNode decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_LENGTH_BYTES, "reply about a forgotten node");
        return new ForgottenNode(
            buffer.getInt(offset + REPLY_NODE_ID_OFFSET, ORDER),
            buffer.getInt(offset + REPLY_INCARNATION_OFFSET, ORDER),
            buffer.getLong(offset + REPLY_REGION_LENGTH_OFFSET, ORDER),
            1 == buffer.getInt(offset + REPLY_FORGOTTEN_OFFSET, ORDER));
    }
}
