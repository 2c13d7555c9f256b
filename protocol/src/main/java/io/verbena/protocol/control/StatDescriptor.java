package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.MemoryNodeStat;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Reply of stat, whose request is a header.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +-------------------------------+
 *     |        region length          |
 *  16 +---------------+---------------+
 *     | chunk length  |    chunks     |
 *  24 +---------------+---------------+
 *     |     free      |    blocks     |
 *  32 +---------------+---------------+
 *     |     index     |   retained    |
 *  40 +---------------+---------------+
 * </pre>
 */
final class StatDescriptor
{
    static final int REGION_LENGTH_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int CHUNK_LENGTH_OFFSET = REGION_LENGTH_OFFSET + Long.BYTES;
    static final int CHUNK_COUNT_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    static final int FREE_OFFSET = CHUNK_COUNT_OFFSET + Integer.BYTES;
    static final int BLOCKS_OFFSET = FREE_OFFSET + Integer.BYTES;
    static final int INDEX_OFFSET = BLOCKS_OFFSET + Integer.BYTES;
    static final int RETAINED_OFFSET = INDEX_OFFSET + Integer.BYTES;
    static final int LENGTH_BYTES = RETAINED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private StatDescriptor()
    {
    }

    static int encode(final MemoryNodeStat stat, final MutableDirectBuffer buffer, final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putLong(offset + REGION_LENGTH_OFFSET, stat.regionLengthBytes(), ORDER);
        buffer.putInt(offset + CHUNK_LENGTH_OFFSET, stat.chunkLengthBytes(), ORDER);
        buffer.putInt(offset + CHUNK_COUNT_OFFSET, stat.chunkCount(), ORDER);
        buffer.putInt(offset + FREE_OFFSET, stat.freeChunkCount(), ORDER);
        buffer.putInt(offset + BLOCKS_OFFSET, stat.blockChunkCount(), ORDER);
        buffer.putInt(offset + INDEX_OFFSET, stat.indexChunkCount(), ORDER);
        buffer.putInt(offset + RETAINED_OFFSET, stat.retainedChunkCount(), ORDER);
        return LENGTH_BYTES;
    }

    static MemoryNodeStat decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LENGTH_BYTES, "stat reply");
        return new MemoryNodeStat(
            buffer.getLong(offset + REGION_LENGTH_OFFSET, ORDER),
            buffer.getInt(offset + CHUNK_LENGTH_OFFSET, ORDER),
            buffer.getInt(offset + CHUNK_COUNT_OFFSET, ORDER),
            buffer.getInt(offset + FREE_OFFSET, ORDER),
            buffer.getInt(offset + BLOCKS_OFFSET, ORDER),
            buffer.getInt(offset + INDEX_OFFSET, ORDER),
            buffer.getInt(offset + RETAINED_OFFSET, ORDER));
    }
}
