package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.NotificationRequest;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * A node would hear when there are news. The reply is a header, and comes when there are.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     |    node id    |  incarnation  |
 *  16 +---------------+---------------+
 *     |             epoch             |
 *  24 +-------------------------------+
 *     |      membership version       |
 *  32 +-------------------------------+
 * </pre>
 */
final class NotificationDescriptor
{
    static final int NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int EPOCH_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    static final int MEMBERSHIP_VERSION_OFFSET = EPOCH_OFFSET + Long.BYTES;
    static final int REQUEST_LENGTH_BYTES = MEMBERSHIP_VERSION_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private NotificationDescriptor()
    {
    }

    static int encode(final NotificationRequest request, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NODE_ID_OFFSET, request.nodeId(), ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, request.incarnation(), ORDER);
        buffer.putLong(offset + EPOCH_OFFSET, request.epoch(), ORDER);
        buffer.putLong(offset + MEMBERSHIP_VERSION_OFFSET, request.membershipVersion(), ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    static NotificationRequest decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "request for news");
        return new NotificationRequest(
            buffer.getInt(offset + NODE_ID_OFFSET, ORDER),
            buffer.getInt(offset + INCARNATION_OFFSET, ORDER),
            buffer.getLong(offset + EPOCH_OFFSET, ORDER),
            buffer.getLong(offset + MEMBERSHIP_VERSION_OFFSET, ORDER));
    }
}
