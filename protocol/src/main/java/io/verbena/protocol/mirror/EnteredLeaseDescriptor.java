package io.verbena.protocol.mirror;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * A lease for a memory node that comes into a group to record, in a message behind its header; little-endian.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |       number of the view      |
 *   8 +---------------+---------------+
 *     |     group     |    attempt    |
 *  16 +---------------+---------------+
 *     |     index     | chunk length  |
 *  24 +---------------+---------------+
 *     |     view of the lease         |
 *  32 +-------------------------------+
 *     |            count              |
 *  40 +-------------------------------+
 *     |          request id           |
 *  48 +-------------------------------+
 *     |            owner              |
 *  56 +-------------------------------+
 *     |            reaper             |
 *  64 +---------------+---------------+
 *     |     state     |   reserved    |
 *  72 +---------------+---------------+
 * </pre>
 */
public final class EnteredLeaseDescriptor
{
    static final int NUMBER_OFFSET = 0;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int INDEX_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int CHUNK_LENGTH_OFFSET = INDEX_OFFSET + Integer.BYTES;
    static final int VIEW_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    static final int COUNT_OFFSET = VIEW_OFFSET + Long.BYTES;
    static final int REQUEST_ID_OFFSET = COUNT_OFFSET + Long.BYTES;
    static final int OWNER_OFFSET = REQUEST_ID_OFFSET + Long.BYTES;
    static final int REAPER_OFFSET = OWNER_OFFSET + Long.BYTES;
    static final int STATE_OFFSET = REAPER_OFFSET + Long.BYTES;
    static final int RESERVED_OFFSET = STATE_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private EnteredLeaseDescriptor()
    {
    }

    /**
     * Writes a lease.
     *
     * @param attempt of whoever makes the copies equal.
     * @param lease   of the attempt's group.
     * @param buffer  of the message.
     * @param offset  where it begins.
     * @return its length.
     */
    public static int encode(
        final ViewAttempt attempt, final EnteredLease lease, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putLong(offset + NUMBER_OFFSET, attempt.number(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, attempt.group(), ORDER);
        buffer.putInt(offset + ATTEMPT_OFFSET, attempt.attempt(), ORDER);
        buffer.putInt(offset + INDEX_OFFSET, lease.chunk().index(), ORDER);
        buffer.putInt(offset + CHUNK_LENGTH_OFFSET, lease.chunk().chunkLengthBytes(), ORDER);
        buffer.putLong(offset + VIEW_OFFSET, lease.chunk().view(), ORDER);
        buffer.putLong(offset + COUNT_OFFSET, lease.chunk().count(), ORDER);
        buffer.putLong(offset + REQUEST_ID_OFFSET, lease.requestId(), ORDER);
        putIdentity(lease.owner(), buffer, offset + OWNER_OFFSET);
        putIdentity(lease.reaper(), buffer, offset + REAPER_OFFSET);
        buffer.putInt(offset + STATE_OFFSET, lease.state(), ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, ORDER);
        return LENGTH_BYTES;
    }

    /**
     * Reads whose attempt it belongs to.
     *
     * @param buffer      of the message.
     * @param offset      where it begins.
     * @param lengthBytes of the message from there on.
     * @return the attempt.
     * @throws ControlException INVALID_REQUEST, when there is none.
     */
    public static ViewAttempt attempt(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        if (lengthBytes < LENGTH_BYTES)
        {
            throw invalid("a lease to record, of " + lengthBytes + " bytes, needs " + LENGTH_BYTES);
        }
        final ViewAttempt attempt = new ViewAttempt(buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + NUMBER_OFFSET, ORDER), buffer.getInt(offset + ATTEMPT_OFFSET, ORDER));
        if (attempt.group() < 1 || attempt.group() > MirroredChunk.MAX_GROUP || attempt.number() < 1 ||
            attempt.attempt() < 1)
        {
            throw invalid("no attempt to end a view: " + attempt);
        }
        return attempt;
    }

    /**
     * Reads the lease of a message whose {@link #attempt} was read.
     *
     * @param buffer of the message.
     * @param offset where it begins.
     * @return the lease; whether there is such a chunk or state is not known here.
     * @throws ControlException INVALID_REQUEST, when it is none.
     */
    public static EnteredLease decode(final DirectBuffer buffer, final int offset)
    {
        final MirroredChunk chunk = new MirroredChunk(
            buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + VIEW_OFFSET, ORDER),
            buffer.getInt(offset + INDEX_OFFSET, ORDER),
            buffer.getInt(offset + CHUNK_LENGTH_OFFSET, ORDER),
            buffer.getLong(offset + COUNT_OFFSET, ORDER));
        if (chunk.index() < 0 || chunk.view() < 1 || chunk.view() > MirroredChunk.MAX_VIEW || chunk.count() < 1 ||
            chunk.count() > MirroredChunk.MAX_COUNT)
        {
            throw invalid("no lease to record: " + chunk);
        }
        return new EnteredLease(chunk, buffer.getInt(offset + STATE_OFFSET, ORDER),
            buffer.getLong(offset + REQUEST_ID_OFFSET, ORDER), identity(buffer, offset + OWNER_OFFSET),
            identity(buffer, offset + REAPER_OFFSET));
    }

    private static void putIdentity(final PeerIdentity identity, final MutableDirectBuffer buffer, final int offset)
    {
        buffer.putInt(offset, identity.nodeId(), ORDER);
        buffer.putInt(offset + Integer.BYTES, identity.incarnation(), ORDER);
    }

    private static PeerIdentity identity(final DirectBuffer buffer, final int offset)
    {
        final int nodeId = buffer.getInt(offset, ORDER);
        final int incarnation = buffer.getInt(offset + Integer.BYTES, ORDER);
        if (nodeId < 0 || nodeId == 0 && incarnation != 0)
        {
            throw invalid("no owner or reaper of a chunk: node=" + nodeId + " incarnation=" + incarnation);
        }
        return new PeerIdentity(nodeId, incarnation);
    }

    private static ControlException invalid(final String what)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, what);
    }
}
