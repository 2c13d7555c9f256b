package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What a memory node has restored of groups, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    node id    |  incarnation  |
 *   8 +---------------+---------------+
 *     |     count     |   reserved    |
 *  16 +---------------+---------------+
 *     | count entries, 32 bytes each  |
 *     +-------------------------------+
 *
 *   0 +-------------------------------+
 *     |            number             |
 *   8 +-------------------------------+
 *     |            started            |
 *  16 +-------------------------------+
 *     |            records            |
 *  24 +---------------+---------------+
 *     |     group     |     place     |
 *  32 +---------------+---------------+
 * </pre>
 */
public final class RestoredGroupsDescriptor
{
    /** Entries of one message, at most. */
    public static final int MAX_ENTRIES = 100;
    /** Place of the memory node in the view in which the checkpoint was made: the first of several members. */
    static final int HEAD = 1;
    /** The last one, or the only one. */
    static final int PRIMARY = 2;

    static final int NODE_ID_OFFSET = 0;
    static final int INCARNATION_OFFSET = NODE_ID_OFFSET + Integer.BYTES;
    static final int COUNT_OFFSET = INCARNATION_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int ENTRIES_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = 0;
    static final int STARTED_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int RECORDS_OFFSET = STARTED_OFFSET + Long.BYTES;
    static final int GROUP_OFFSET = RECORDS_OFFSET + Long.BYTES;
    static final int PLACE_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int ENTRY_LENGTH_BYTES = PLACE_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private RestoredGroupsDescriptor()
    {
    }

    /**
     * Writes what a memory node has restored.
     *
     * @param memoryNode who.
     * @param restored   of each group, at most {@link #MAX_ENTRIES}.
     * @param buffer     of the message.
     * @param offset     where it begins.
     * @return its length.
     */
    public static int encode(
        final PeerIdentity memoryNode, final List<RestoredGroup> restored, final MutableDirectBuffer buffer,
        final int offset)
    {
        buffer.putInt(offset + NODE_ID_OFFSET, memoryNode.nodeId(), ORDER);
        buffer.putInt(offset + INCARNATION_OFFSET, memoryNode.incarnation(), ORDER);
        buffer.putInt(offset + COUNT_OFFSET, restored.size(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        for (int i = 0; i < restored.size(); i++)
        {
            final RestoredGroup each = restored.get(i);
            final int at = offset + ENTRIES_OFFSET + i * ENTRY_LENGTH_BYTES;
            buffer.putLong(at + NUMBER_OFFSET, each.number(), ORDER);
            buffer.putLong(at + STARTED_OFFSET, each.startedMs(), ORDER);
            buffer.putLong(at + RECORDS_OFFSET, each.records(), ORDER);
            buffer.putInt(at + GROUP_OFFSET, each.group(), ORDER);
            buffer.putInt(at + PLACE_OFFSET, !each.isRestored() ? 0 : each.isOfPrimary() ? PRIMARY : HEAD, ORDER);
        }
        return ENTRIES_OFFSET + restored.size() * ENTRY_LENGTH_BYTES;
    }

    /**
     * Reads who reports.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the memory node.
     * @throws ControlException INVALID_REQUEST, when there is none.
     */
    public static PeerIdentity memoryNode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, ENTRIES_OFFSET, "a list of restored groups");
        return new PeerIdentity(
            buffer.getInt(offset + NODE_ID_OFFSET, ORDER), buffer.getInt(offset + INCARNATION_OFFSET, ORDER));
    }

    /**
     * Reads what it has restored.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return a new list.
     * @throws ControlException INVALID_REQUEST, when there is none.
     */
    public static List<RestoredGroup> decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, ENTRIES_OFFSET, "a list of restored groups");
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 0 || count > MAX_ENTRIES)
        {
            throw ViewDescriptor.invalid("a list of " + count + " restored groups: it has at most " + MAX_ENTRIES);
        }
        ViewDescriptor.require(
            lengthBytes, ENTRIES_OFFSET + count * ENTRY_LENGTH_BYTES, "a list of " + count + " restored groups");
        final List<RestoredGroup> restored = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            restored.add(decodeEntry(buffer, offset + ENTRIES_OFFSET + i * ENTRY_LENGTH_BYTES));
        }
        return restored;
    }

    private static RestoredGroup decodeEntry(final DirectBuffer buffer, final int offset)
    {
        try
        {
            return new RestoredGroup(buffer.getInt(offset + GROUP_OFFSET, ORDER),
                buffer.getLong(offset + NUMBER_OFFSET, ORDER), buffer.getLong(offset + STARTED_OFFSET, ORDER),
                buffer.getLong(offset + RECORDS_OFFSET, ORDER),
                PRIMARY == buffer.getInt(offset + PLACE_OFFSET, ORDER));
        }
        catch (final IllegalArgumentException ex)
        {
            throw ViewDescriptor.invalid(ex.getMessage());
        }
    }
}
