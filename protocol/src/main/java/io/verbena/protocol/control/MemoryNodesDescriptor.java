package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Lost memory nodes that a compute node is to leave, or has left, at the end of heartbeats; nothing where there are
 * none, as builds write that do not know of it.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     count     | reserved, zero|
 *   8 +---------------+---------------+
 *     |    node id    |  incarnation  |   of each
 *     +---------------+---------------+
 * </pre>
 */
final class MemoryNodesDescriptor
{
    static final int COUNT_OFFSET = 0;
    static final int RESERVED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int NODES_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int NODE_ID_OFFSET = 0;
    static final int NODE_INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int NODE_LENGTH_BYTES = NODE_INCARNATION_OFFSET + Integer.BYTES;
    /** More do not fit behind the most tokens. */
    static final int MAX_NODES = MetaService.MAX_TO_LEAVE;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private MemoryNodesDescriptor()
    {
    }

    /** Writes them; returns the bytes, 0 for none. */
    static int encode(final List<PeerIdentity> nodes, final MutableDirectBuffer buffer, final int offset)
    {
        if (nodes.size() > MAX_NODES)
        {
            throw new IllegalArgumentException(nodes.size() + " memory nodes, at most " + MAX_NODES + " fit");
        }
        if (nodes.isEmpty())
        {
            return 0;
        }
        buffer.putInt(offset + COUNT_OFFSET, nodes.size(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        int at = offset + NODES_OFFSET;
        for (final PeerIdentity node : nodes)
        {
            buffer.putInt(at + NODE_ID_OFFSET, node.nodeId(), ORDER);
            buffer.putInt(at + NODE_INCARNATION_OFFSET, node.incarnation(), ORDER);
            at += NODE_LENGTH_BYTES;
        }
        return at - offset;
    }

    /** Reads what ends with the message, of which so many bytes are left. */
    static List<PeerIdentity> decode(final DirectBuffer buffer, final int offset, final int leftBytes)
    {
        if (leftBytes <= 0)
        {
            return List.of();
        }
        ControlHeaderDescriptor.require(leftBytes, NODES_OFFSET, "list of memory nodes");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > MAX_NODES || NODES_OFFSET + count * NODE_LENGTH_BYTES > leftBytes)
        {
            throw new ControlException(
                ControlStatus.INVALID_REQUEST, "list of " + count + " memory nodes in " + leftBytes + " bytes");
        }
        final List<PeerIdentity> nodes = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + NODES_OFFSET + i * NODE_LENGTH_BYTES;
            final int nodeId = buffer.getInt(at + NODE_ID_OFFSET, ORDER);
            final int incarnation = buffer.getInt(at + NODE_INCARNATION_OFFSET, ORDER);
            if (nodeId < 1 || incarnation < 1)
            {
                throw new ControlException(ControlStatus.INVALID_REQUEST,
                    "list of memory nodes with id " + nodeId + " and incarnation " + incarnation);
            }
            nodes.add(new PeerIdentity(nodeId, incarnation));
        }
        return nodes;
    }
}
