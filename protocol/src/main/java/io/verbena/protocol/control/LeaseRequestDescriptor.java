package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * Request of leaseChunks.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+-------+-------+
 *     |     count     |purpose|contig.|
 *  16 +---------------+-------+-------+
 *     |          request id           |
 *  24 +-------------------------------+
 * </pre>
 */
final class LeaseRequestDescriptor
{
    static final int COUNT_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int PURPOSE_OFFSET = COUNT_OFFSET + Integer.BYTES;
    static final int CONTIGUOUS_OFFSET = PURPOSE_OFFSET + Short.BYTES;
    static final int REQUEST_ID_OFFSET = CONTIGUOUS_OFFSET + Short.BYTES;
    static final int LENGTH_BYTES = REQUEST_ID_OFFSET + Long.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    private LeaseRequestDescriptor()
    {
    }

    static int encode(
        final long requestId,
        final ChunkPurpose purpose,
        final int chunkCount,
        final boolean contiguous,
        final MutableDirectBuffer buffer,
        final int offset)
    {
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + COUNT_OFFSET, chunkCount, ORDER);
        buffer.putShort(offset + PURPOSE_OFFSET, (short)purpose.code(), ORDER);
        buffer.putShort(offset + CONTIGUOUS_OFFSET, (short)(contiguous ? 1 : 0), ORDER);
        buffer.putLong(offset + REQUEST_ID_OFFSET, requestId, ORDER);
        return LENGTH_BYTES;
    }

    static void require(final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, LENGTH_BYTES, "leaseChunks request");
    }

    static int chunkCount(final DirectBuffer buffer, final int offset)
    {
        final int count = buffer.getInt(offset + COUNT_OFFSET, ORDER);
        if (count < 1)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "lease of " + count + " chunks");
        }
        return count;
    }

    static ChunkPurpose purpose(final DirectBuffer buffer, final int offset)
    {
        final int code = buffer.getShort(offset + PURPOSE_OFFSET, ORDER);
        final ChunkPurpose purpose = ChunkPurpose.ofCode(code);
        if (purpose == null)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST, "unknown purpose of chunks: " + code);
        }
        return purpose;
    }

    static long requestId(final DirectBuffer buffer, final int offset)
    {
        return buffer.getLong(offset + REQUEST_ID_OFFSET, ORDER);
    }

    static boolean isContiguous(final DirectBuffer buffer, final int offset)
    {
        return buffer.getShort(offset + CONTIGUOUS_OFFSET, ORDER) != 0;
    }
}
