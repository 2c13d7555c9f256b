package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Requests about one life of a node: leave, fence, activate. Their replies are a header.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     |    node id    |  incarnation  |
 *  16 +---------------+---------------+
 * </pre>
 */
final class IdentityDescriptor
{
    static final int NODE_ID_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = INCARNATION_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private IdentityDescriptor()
    {
    }

    static int encode(final PeerIdentity identity, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + NODE_ID_OFFSET, identity.nodeId(), ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, identity.incarnation(), ORDER);
        return LENGTH_BYTES;
    }

    static PeerIdentity decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LENGTH_BYTES, "request about a node");
        final PeerIdentity identity = new PeerIdentity(
            buffer.getInt(offset + NODE_ID_OFFSET, ORDER), buffer.getInt(offset + INCARNATION_OFFSET, ORDER));
        if (identity.nodeId() < 1 || identity.incarnation() < 1)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, identity + " is no registered node: numbers begin at 1");
        }
        return identity;
    }
}
