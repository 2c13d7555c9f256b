package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Request and reply of mirrorChunk.
 *
 * <pre>
 *   0 +-------------------------------+      0 +-------------------------------+
 *     |            header             |        |            header             |
 *   8 +-------+-------+---------------+      8 +-------+-------+---------------+
 *     |action |purpose|     group     |        |outcome|   0   |     index     |
 *  16 +-------+-------+---------------+     16 +-------+-------+---------------+
 *     |     index     | chunk length  |        |             count             |
 *  24 +---------------+---------------+     24 +-------------------------------+
 *     |             view              |
 *  32 +-------------------------------+
 *     |             count             |
 *  40 +-------------------------------+
 *     |          request id           |
 *  48 +-------------------------------+
 * </pre>
 */
final class MirrorChunkDescriptor
{
    static final int ACTION_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int PURPOSE_OFFSET = ACTION_OFFSET + Short.BYTES;
    static final int GROUP_OFFSET = PURPOSE_OFFSET + Short.BYTES;
    static final int INDEX_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int CHUNK_LENGTH_OFFSET = INDEX_OFFSET + Integer.BYTES;
    static final int VIEW_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    static final int COUNT_OFFSET = VIEW_OFFSET + Long.BYTES;
    static final int REQUEST_ID_OFFSET = COUNT_OFFSET + Long.BYTES;
    static final int REQUEST_LENGTH_BYTES = REQUEST_ID_OFFSET + Long.BYTES;

    static final int REPLY_OUTCOME_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int REPLY_RESERVED_OFFSET = REPLY_OUTCOME_OFFSET + Short.BYTES;
    static final int REPLY_INDEX_OFFSET = REPLY_RESERVED_OFFSET + Short.BYTES;
    static final int REPLY_COUNT_OFFSET = REPLY_INDEX_OFFSET + Integer.BYTES;
    static final int REPLY_LENGTH_BYTES = REPLY_COUNT_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private MirrorChunkDescriptor()
    {
    }

    static int encodeRequest(
        final MirrorAction action,
        final MirroredChunk chunk,
        final ChunkPurpose purpose,
        final long requestId,
        final MutableDirectBuffer buffer,
        final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putShort(offset + ACTION_OFFSET, (short)action.code(), ORDER);
        buffer.putShort(offset + PURPOSE_OFFSET, (short)purpose.code(), ORDER);
        buffer.putInt(offset + GROUP_OFFSET, chunk.group(), ORDER);
        buffer.putInt(offset + INDEX_OFFSET, chunk.index(), ORDER);
        buffer.putInt(offset + CHUNK_LENGTH_OFFSET, chunk.chunkLengthBytes(), ORDER);
        buffer.putLong(offset + VIEW_OFFSET, chunk.view(), ORDER);
        buffer.putLong(offset + COUNT_OFFSET, chunk.count(), ORDER);
        buffer.putLong(offset + REQUEST_ID_OFFSET, requestId, ORDER);
        return REQUEST_LENGTH_BYTES;
    }

    static void requireRequest(final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REQUEST_LENGTH_BYTES, "mirrorChunk request");
    }

    static MirrorAction action(final DirectBuffer buffer, final int offset)
    {
        final int code = buffer.getShort(offset + ACTION_OFFSET, ORDER);
        final MirrorAction action = MirrorAction.ofCode(code);
        if (action == null)
        {
            throw invalid("unknown action on a mirrored chunk: " + code);
        }
        return action;
    }

    static ChunkPurpose purpose(final DirectBuffer buffer, final int offset)
    {
        final int code = buffer.getShort(offset + PURPOSE_OFFSET, ORDER);
        final ChunkPurpose purpose = ChunkPurpose.ofCode(code);
        if (purpose == null)
        {
            throw invalid("unknown purpose of a mirrored chunk: " + code);
        }
        return purpose;
    }

    /** Checks what does not depend on the member: its number of chunks and their length do. */
    static MirroredChunk chunk(final DirectBuffer buffer, final int offset)
    {
        final MirroredChunk chunk = new MirroredChunk(
            buffer.getInt(offset + GROUP_OFFSET, ORDER),
            buffer.getLong(offset + VIEW_OFFSET, ORDER),
            buffer.getInt(offset + INDEX_OFFSET, ORDER),
            buffer.getInt(offset + CHUNK_LENGTH_OFFSET, ORDER),
            buffer.getLong(offset + COUNT_OFFSET, ORDER));
        if (chunk.group() < 1 || chunk.group() > MirroredChunk.MAX_GROUP || chunk.view() < 1 ||
            chunk.view() > MirroredChunk.MAX_VIEW || chunk.index() < 0 ||
            chunk.count() < (action(buffer, offset) == MirrorAction.CHOOSE ? 0 : 1) ||
            chunk.count() > MirroredChunk.MAX_COUNT)
        {
            throw invalid(chunk + ": group must be 1 to " + MirroredChunk.MAX_GROUP +
                ", view and count 1 to " + MirroredChunk.MAX_COUNT + ", and the chunk 0 or more");
        }
        return chunk;
    }

    static long requestId(final DirectBuffer buffer, final int offset)
    {
        final long id = buffer.getLong(offset + REQUEST_ID_OFFSET, ORDER);
        if (id == 0 && action(buffer, offset) == MirrorAction.RECORD)
        {
            throw invalid("a mirrored lease needs a request id, since it may be asked for again");
        }
        return id;
    }

    static int encodeReply(final MirrorAnswer answer, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putShort(offset + REPLY_OUTCOME_OFFSET, (short)answer.outcome().code(), ORDER);
        buffer.putShort(offset + REPLY_RESERVED_OFFSET, (short)0, ORDER);
        buffer.putInt(offset + REPLY_INDEX_OFFSET, answer.index(), ORDER);
        buffer.putLong(offset + REPLY_COUNT_OFFSET, answer.count(), ORDER);
        return REPLY_LENGTH_BYTES;
    }

    static MirrorAnswer decodeReply(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, REPLY_LENGTH_BYTES, "mirrorChunk reply");
        final int code = buffer.getShort(offset + REPLY_OUTCOME_OFFSET, ORDER);
        final MirrorAnswer.Outcome outcome = MirrorAnswer.Outcome.ofCode(code);
        final int index = buffer.getInt(offset + REPLY_INDEX_OFFSET, ORDER);
        final long count = buffer.getLong(offset + REPLY_COUNT_OFFSET, ORDER);
        if (outcome == null || index < -1 || count < 0)
        {
            throw invalid("mirrorChunk reply: outcome=" + code + " index=" + index + " count=" + count);
        }
        return new MirrorAnswer(outcome, index, count);
    }

    private static ControlException invalid(final String what)
    {
        return new ControlException(ControlStatus.INVALID_REQUEST, what);
    }
}
