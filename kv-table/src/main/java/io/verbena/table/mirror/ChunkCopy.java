package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;

/**
 * Copies chunks byte by byte from one memory node to another, to the same offsets there, when nobody changes either.
 * Pieces go through a ring of local buffers: some are read while others are written. A port's batches complete in the
 * order in which they were posted, so counts say which piece a completion is of:
 *
 * <pre>
 *   0 ... written ... writesPosted ... read ... readsPosted ... pieces
 *         |<----------------- at most the ring ------->|
 * </pre>
 *
 * When a request fails, or its outcome is unknown, nothing more is posted. One thread.
 */
final class ChunkCopy implements AutoCloseable
{
    /** What is read at a time: 256 KiB, a chunk as memory nodes have it unless they are configured otherwise. */
    static final int PIECE_BYTES = 256 << 10;
    /** So many are read or written at the same time. */
    static final int RING_PIECES = 8;

    private final OneSidedPort source;
    private final OneSidedPort target;
    private final long[] offsets;
    private final int chunkLengthBytes;
    private final int pieceBytes;
    private final int ringPieces;
    private final int piecesPerChunk;
    private final long pieces;
    private final Scratch scratch;
    private long readsPosted;
    private long read;
    private long writesPosted;
    private long written;
    private long bytesCopied;
    private boolean hasFailed;

    /**
     * @param protectionDomain that both ports' queue pairs belong to.
     * @param source           to the whole region, used by nobody else; its completions go to {@link #onRead}.
     * @param target           as the source, of another region; its completions go to {@link #onWritten}.
     * @param offsets          of the chunks, in both regions; each chunk is inside both.
     * @param chunkLengthBytes of each, 1 or more.
     * @param pieceBytes       most that one request has.
     * @param ringPieces       buffers of that length.
     */
    ChunkCopy(
        final ProtectionDomain protectionDomain, final OneSidedPort source, final OneSidedPort target,
        final long[] offsets, final int chunkLengthBytes, final int pieceBytes, final int ringPieces)
    {
        if (chunkLengthBytes < 1)
        {
            throw new IllegalArgumentException("the length of a chunk must be 1 or more: " + chunkLengthBytes);
        }
        this.source = source;
        this.target = target;
        this.offsets = offsets.clone();
        this.chunkLengthBytes = chunkLengthBytes;
        this.pieceBytes = pieceBytes;
        this.ringPieces = ringPieces;
        piecesPerChunk = Math.ceilDiv(chunkLengthBytes, pieceBytes);
        pieces = (long)offsets.length * piecesPerChunk;
        scratch = new Scratch(protectionDomain, (long)ringPieces * pieceBytes);
    }

    /** @return whether all is copied; then nothing is under way. */
    boolean isDone()
    {
        return !hasFailed && written == pieces;
    }

    /** @return whether a request has failed, or its outcome is unknown; others may be under way still. */
    boolean hasFailed()
    {
        return hasFailed;
    }

    /** @return bytes of which it is known that they are at the target. */
    long bytesCopied()
    {
        return bytesCopied;
    }

    /** Posts what there is room for. @return requests posted. */
    int poll()
    {
        if (isDone())
        {
            return 0;
        }
        hasFailed |= source.isFailed() || target.isFailed();
        int workCount = 0;
        // First: they make room for reads.
        while (writesPosted < read && hasRoom(target) && post(target, writesPosted, false))
        {
            writesPosted++;
            workCount++;
        }
        while (readsPosted < pieces && readsPosted - written < ringPieces && hasRoom(source) &&
            post(source, readsPosted, true))
        {
            readsPosted++;
            workCount++;
        }
        return workCount;
    }

    private boolean hasRoom(final OneSidedPort port)
    {
        return !hasFailed && port.isReady() && port.space() > 0;
    }

    /** A batch of its own, so that each piece goes on when it is there. */
    private boolean post(final OneSidedPort port, final long piece, final boolean isRead)
    {
        final long localOffset = piece % ringPieces * pieceBytes;
        port.begin();
        if (isRead)
        {
            port.read(scratch.region, localOffset, lengthBytes(piece), offset(piece));
        }
        else
        {
            port.write(scratch.region, localOffset, lengthBytes(piece), offset(piece));
        }
        final int status = port.complete(0);
        hasFailed |= status == PostStatus.INVALID_STATE;
        return status == PostStatus.OK;
    }

    private long offset(final long piece)
    {
        return offsets[(int)(piece / piecesPerChunk)] + piece % piecesPerChunk * pieceBytes;
    }

    private int lengthBytes(final long piece)
    {
        return (int)Math.min(pieceBytes, chunkLengthBytes - piece % piecesPerChunk * pieceBytes);
    }

    /** Takes the completion of the source's next batch. */
    void onRead(final int status)
    {
        read++;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
    }

    /** Takes the completion of the target's next batch. */
    void onWritten(final int status)
    {
        if (status == WorkCompletionStatus.SUCCESS)
        {
            bytesCopied += lengthBytes(written);
        }
        written++;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
    }

    /** When no request touches local memory any more. */
    @Override
    public void close()
    {
        scratch.close();
    }

    @Override
    public String toString()
    {
        return "ChunkCopy{chunks=" + offsets.length + " of " + chunkLengthBytes + " bytes, read=" + read +
            " written=" + written + " of " + pieces + " pieces, bytes=" + bytesCopied + " failed=" + hasFailed + '}';
    }
}
