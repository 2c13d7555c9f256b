package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.raas.RpcClient;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Chunks: reply of leaseChunks; with chunk length 0 request of returnChunks and adoptChunks, request and reply of
 * claimChunks.
 *
 * <pre>
 *   0 +-------------------------------+
 *     |            header             |
 *   8 +---------------+---------------+
 *     | chunk length  |  run count    |
 *  16 +---------------+---------------+
 *     |         newest lease          |
 *  24 +-------------------------------+
 *     | { offset 8, chunk count 4,    |
 *     |   reserved 4 } ...            |
 * </pre>
 */
final class ChunkRunsDescriptor
{
    static final int CHUNK_LENGTH_OFFSET = ControlHeaderDescriptor.LENGTH_BYTES;
    static final int RUN_COUNT_OFFSET = CHUNK_LENGTH_OFFSET + Integer.BYTES;
    static final int NEWEST_LEASE_OFFSET = RUN_COUNT_OFFSET + Integer.BYTES;
    static final int RUNS_OFFSET = NEWEST_LEASE_OFFSET + Long.BYTES;
    static final int RUN_FIRST_CHUNK_OFFSET = 0;
    static final int RUN_CHUNK_COUNT_OFFSET = RUN_FIRST_CHUNK_OFFSET + Long.BYTES;
    static final int RUN_RESERVED_OFFSET = RUN_CHUNK_COUNT_OFFSET + Integer.BYTES;
    static final int RUN_LENGTH_BYTES = RUN_RESERVED_OFFSET + Integer.BYTES;

    private static final ByteOrder ORDER = ControlHeaderDescriptor.ORDER;

    static
    {
        if (RUNS_OFFSET + ChunkLease.MAX_RUNS * RUN_LENGTH_BYTES > RpcClient.MAX_MESSAGE_BYTES)
        {
            throw new ExceptionInInitializerError(ChunkLease.MAX_RUNS + " runs do not fit a message");
        }
    }

    private ChunkRunsDescriptor()
    {
    }

    static int encode(
        final int chunkLengthBytes, final long newestLease, final List<ChunkRun> runs,
        final MutableDirectBuffer buffer, final int offset)
    {
        if (runs.size() > ChunkLease.MAX_RUNS)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST,
                runs.size() + " runs of chunks in one message, the limit is " + ChunkLease.MAX_RUNS);
        }
        ControlHeaderDescriptor.encode(buffer, offset, ControlStatus.OK);
        buffer.putInt(offset + CHUNK_LENGTH_OFFSET, chunkLengthBytes, ORDER);
        buffer.putInt(offset + RUN_COUNT_OFFSET, runs.size(), ORDER);
        buffer.putLong(offset + NEWEST_LEASE_OFFSET, newestLease, ORDER);
        int at = offset + RUNS_OFFSET;
        for (final ChunkRun run : runs)
        {
            buffer.putLong(at + RUN_FIRST_CHUNK_OFFSET, run.offset(), ORDER);
            buffer.putInt(at + RUN_CHUNK_COUNT_OFFSET, run.chunkCount(), ORDER);
            buffer.putInt(at + RUN_RESERVED_OFFSET, 0, ORDER);
            at += RUN_LENGTH_BYTES;
        }
        return at - offset;
    }

    static ChunkLease decode(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        ControlHeaderDescriptor.require(lengthBytes, RUNS_OFFSET, "chunks");
        final int count = buffer.getInt(offset + RUN_COUNT_OFFSET, ORDER);
        if (count < 0 || count > ChunkLease.MAX_RUNS)
        {
            throw new ControlException(ControlStatus.INVALID_REQUEST,
                count + " runs of chunks in one message, the limit is " + ChunkLease.MAX_RUNS);
        }
        ControlHeaderDescriptor.require(lengthBytes, RUNS_OFFSET + count * RUN_LENGTH_BYTES, "chunks");
        final List<ChunkRun> runs = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            final int at = offset + RUNS_OFFSET + i * RUN_LENGTH_BYTES;
            runs.add(new ChunkRun(
                buffer.getLong(at + RUN_FIRST_CHUNK_OFFSET, ORDER), buffer.getInt(at + RUN_CHUNK_COUNT_OFFSET, ORDER)));
        }
        return new ChunkLease(
            buffer.getInt(offset + CHUNK_LENGTH_OFFSET, ORDER), buffer.getLong(offset + NEWEST_LEASE_OFFSET, ORDER),
            runs);
    }
}
