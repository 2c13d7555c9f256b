package io.verbena.protocol.view;

import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * What a memory node that comes into a group is asked to do with leases of the group, in a request behind its header;
 * little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            number             |
 *   8 +---------------+---------------+
 *     |     group     |    attempt    |
 *  16 +-------+-------+---------------+
 *     |action | state |     index     |
 *  24 +-------+-------+---------------+
 *     | chunk length  |   reserved    |
 *  32 +---------------+---------------+
 *     |             view              |
 *  40 +-------------------------------+
 *     |             count             |
 *  48 +-------------------------------+
 *     |          request id           |
 *  56 +---------------+---------------+
 *     | owner node id |  incarnation  |
 *  64 +---------------+---------------+
 *     | reaper node id|  incarnation  |
 *  72 +---------------+---------------+
 * </pre>
 */
public final class EnterLeaseDescriptor
{
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int ACTION_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ACTION_OFFSET + Short.BYTES;
    static final int INDEX_OFFSET = STATE_OFFSET + Short.BYTES;
    static final int CHUNK_LENGTH_OFFSET = INDEX_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    static final int VIEW_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int COUNT_OFFSET = VIEW_OFFSET + Long.BYTES;
    static final int REQUEST_ID_OFFSET = COUNT_OFFSET + Long.BYTES;
    static final int OWNER_NODE_ID_OFFSET = REQUEST_ID_OFFSET + Long.BYTES;
    static final int OWNER_INCARNATION_OFFSET = OWNER_NODE_ID_OFFSET + Integer.BYTES;
    static final int REAPER_NODE_ID_OFFSET = OWNER_INCARNATION_OFFSET + Integer.BYTES;
    static final int REAPER_INCARNATION_OFFSET = REAPER_NODE_ID_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = REAPER_INCARNATION_OFFSET + Integer.BYTES;
    static final int RELEASE = 1;
    static final int RECORD = 2;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private EnterLeaseDescriptor()
    {
    }

    /**
     * Writes that chunks that a lease of the group has are to be freed.
     *
     * @param attempt for which the sender was named.
     * @param buffer  of the message.
     * @param offset  where it begins.
     * @return its length.
     */
    public static int encodeRelease(final ViewAttempt attempt, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        encode(attempt, RELEASE, buffer, offset);
        return LENGTH_BYTES;
    }

    /**
     * Writes that a lease is to be recorded.
     *
     * @param attempt for which the sender was named.
     * @param lease   of the attempt's group.
     * @param buffer  of the message.
     * @param offset  where it begins.
     * @return its length.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when it is another group's.
     */
    public static int encodeRecord(
        final ViewAttempt attempt, final EnteredLease lease, final MutableDirectBuffer buffer, final int offset)
    {
        final MirroredChunk chunk = lease.chunk();
        if (chunk.group() != attempt.group())
        {
            throw ViewDescriptor.invalid(chunk + " is not of the group of " + attempt);
        }
        encode(attempt, RECORD, buffer, offset);
        buffer.putShort(offset + STATE_OFFSET, (short)lease.state(), ORDER);
        buffer.putInt(offset + INDEX_OFFSET, chunk.index(), ORDER);
        buffer.putInt(offset + CHUNK_LENGTH_OFFSET, chunk.chunkLengthBytes(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        buffer.putLong(offset + VIEW_OFFSET, chunk.view(), ORDER);
        buffer.putLong(offset + COUNT_OFFSET, chunk.count(), ORDER);
        buffer.putLong(offset + REQUEST_ID_OFFSET, lease.requestId(), ORDER);
        encode(lease.owner(), buffer, offset + OWNER_NODE_ID_OFFSET);
        encode(lease.reaper(), buffer, offset + REAPER_NODE_ID_OFFSET);
        return LENGTH_BYTES;
    }

    private static void encode(
        final ViewAttempt attempt, final int action, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + NUMBER_OFFSET, attempt.number(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, attempt.group(), ORDER);
        buffer.putInt(offset + ATTEMPT_OFFSET, attempt.attempt(), ORDER);
        buffer.putShort(offset + ACTION_OFFSET, (short)action, ORDER);
    }

    private static void encode(final PeerIdentity node, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putInt(offset, node == null ? 0 : node.nodeId(), ORDER);
        buffer.putInt(offset + Integer.BYTES, node == null ? 0 : node.incarnation(), ORDER);
    }

    /**
     * Reads for which attempt the sender was named.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the attempt.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there is none, or no known action.
     */
    public static ViewAttempt attempt(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ViewDescriptor.require(lengthBytes, LENGTH_BYTES, "leases of who comes into a group");
        final ViewAttempt attempt = new ViewAttempt(buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + NUMBER_OFFSET, ORDER), buffer.getInt(offset + ATTEMPT_OFFSET, ORDER));
        if (attempt.group() < 1 || attempt.group() > MirroredChunk.MAX_GROUP || attempt.number() < 1 ||
            attempt.attempt() < 1)
        {
            throw ViewDescriptor.invalid(attempt + ": group must be 1 to " + MirroredChunk.MAX_GROUP +
                ", number and attempt 1 or more");
        }
        final int action = buffer.getShort(offset + ACTION_OFFSET, ORDER);
        if (action != RELEASE && action != RECORD)
        {
            throw ViewDescriptor.invalid("unknown action on leases of who comes into a group: " + action);
        }
        return attempt;
    }

    /**
     * @param buffer of the message, whose {@linkplain #attempt attempt} was read.
     * @param offset where it begins.
     * @return true: chunks are to be freed; false: a lease is to be recorded.
     */
    public static boolean isRelease(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + ACTION_OFFSET, ORDER) == RELEASE;
    }

    /**
     * Reads what is to be recorded, and checks what does not depend on the memory node: its chunks do.
     *
     * @param buffer of the message, whose {@linkplain #attempt attempt} was read.
     * @param offset where it begins.
     * @return the lease, of the attempt's group.
     * @throws io.verbena.protocol.message.ControlException INVALID_REQUEST, when there can be no such lease.
     */
    public static EnteredLease lease(final DirectBuffer buffer, final int offset)
    {
        final MirroredChunk chunk = new MirroredChunk(
            buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + VIEW_OFFSET, ORDER),
            buffer.getInt(offset + INDEX_OFFSET, ORDER),
            buffer.getInt(offset + CHUNK_LENGTH_OFFSET, ORDER),
            buffer.getLong(offset + COUNT_OFFSET, ORDER));
        if (chunk.view() < 1 || chunk.view() > MirroredChunk.MAX_VIEW || chunk.index() < 0 || chunk.count() < 1 ||
            chunk.count() > MirroredChunk.MAX_COUNT)
        {
            throw ViewDescriptor.invalid(
                chunk + ": view and count must be 1 to " + MirroredChunk.MAX_COUNT + ", and the chunk 0 or more");
        }
        final int state = buffer.getShort(offset + STATE_OFFSET, ORDER);
        if (state < EnteredLease.BLOCKS || state > EnteredLease.ORPHAN)
        {
            throw ViewDescriptor.invalid(chunk + ": state=" + state + " must be " + EnteredLease.BLOCKS + " to " +
                EnteredLease.ORPHAN);
        }
        final PeerIdentity owner = node(buffer, offset + OWNER_NODE_ID_OFFSET);
        final PeerIdentity reaper = node(buffer, offset + REAPER_NODE_ID_OFFSET);
        // Nobody would return such blocks, and nobody claims what is no orphan.
        if (state == EnteredLease.BLOCKS && owner == null || state != EnteredLease.ORPHAN && reaper != null)
        {
            throw ViewDescriptor.invalid(chunk + ": state=" + state + " owner=" + owner + " reaper=" + reaper +
                ", but blocks have an owner, and only orphans a reaper");
        }
        return new EnteredLease(chunk, state, buffer.getLong(offset + REQUEST_ID_OFFSET, ORDER), owner, reaper);
    }

    private static PeerIdentity node(final DirectBuffer buffer, final int offset)
    {
        final int nodeId = buffer.getInt(offset, ORDER);
        return nodeId == 0 ? null : new PeerIdentity(nodeId, buffer.getInt(offset + Integer.BYTES, ORDER));
    }
}
