package io.verbena.protocol.view;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory nodes that are to be a group, or one that is to come into a group, in a message behind its header;
 * little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |     count     |     group     |
 *   8 +---------------+---------------+
 *     |  node ids, 4 bytes each   ... |
 * </pre>
 */
public final class GroupDescriptor
{
    static final int COUNT_OFFSET = 0;
    static final int GROUP_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int NODE_IDS_OFFSET = GROUP_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private GroupDescriptor()
    {
    }

    /**
     * Writes them.
     *
     * @param group   into which one comes; 0: they are to be a new one.
     * @param nodeIds head first and primary last, at most {@link View#MAX_MEMBERS}.
     * @param buffer  of the message.
     * @param offset  where they begin.
     * @return their length.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when they are no group.
     */
    public static int encode(
        final int group, final List<Integer> nodeIds, final MutableDirectBuffer buffer, final int offset)
    {
        checkCount(nodeIds.size());
        buffer.putInt(offset + COUNT_OFFSET, nodeIds.size(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, group, ORDER);
        int at = offset + NODE_IDS_OFFSET;
        for (final int nodeId : nodeIds)
        {
            buffer.putInt(at, nodeId, ORDER);
            at += Integer.BYTES;
        }
        return at - offset;
    }

    /**
     * Reads them.
     *
     * @param buffer      of the message.
     * @param offset      where they begin.
     * @param lengthBytes of the message from there on.
     * @return the ids; a new list.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when they are no group.
     */
    public static List<Integer> decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, NODE_IDS_OFFSET, "members of a group");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        checkCount(count);
        ViewDescriptor.require(lengthBytes, NODE_IDS_OFFSET + count * Integer.BYTES, "members of a group");
        final List<Integer> nodeIds = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            nodeIds.add(buffer.getInt(offset + NODE_IDS_OFFSET + i * Integer.BYTES, ORDER));
        }
        if (nodeIds.stream().distinct().count() != count || nodeIds.stream().anyMatch(id -> id < 1))
        {
            throw ViewDescriptor.invalid("no group: members=" + nodeIds + ", each is another memory node");
        }
        return nodeIds;
    }

    /**
     * Reads who is to come into a group.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return id of the memory node.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when it is not one.
     */
    public static int entering(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final List<Integer> nodeIds = decode(buffer, offset, lengthBytes);
        if (nodeIds.size() != 1)
        {
            throw ViewDescriptor.invalid("one memory node at a time comes into a group, not " + nodeIds);
        }
        return nodeIds.getFirst();
    }

    /**
     * @param buffer of the message, of which {@link #decode} has read the memory nodes.
     * @param offset where they begin.
     * @return group into which one comes, or 0.
     */
    public static int group(final DirectBuffer buffer, final int offset)
    {
        return buffer.getInt(offset + GROUP_OFFSET, ORDER);
    }

    private static void checkCount(final int count)
    {
        if (count < 1 || count > View.MAX_MEMBERS)
        {
            throw ViewDescriptor.invalid(
                "a group has 1 to " + View.MAX_MEMBERS + " members, not " + count);
        }
    }
}
