package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;

/**
 * Copies ranges of bytes from one memory node to another, to the same offsets there. The target has what the source has
 * in the end where nobody changes either meanwhile; else it may have bytes of several moments. Pieces, of which a range
 * has one or more, go through a ring of local buffers: some are read while others are written. A port's batches
 * complete in the order in which they were posted, so counts say which piece a completion is of:
 *
 * <pre>
 *   0 ... written ... writesPosted ... read ... readsPosted ... pieces
 *         |<----------------- at most the ring ------->|
 * </pre>
 *
 * When a request fails, or its outcome is unknown, nothing more is posted. It does not know of views, and copies
 * between any two ports. One thread.
 */
public final class ChunkCopy implements AutoCloseable
{
    /** What is read at a time: 256 KiB, a chunk as memory nodes have it unless they are configured otherwise. */
    public static final int PIECE_BYTES = 256 << 10;
    /** So many are read or written at the same time. */
    public static final int RING_PIECES = 8;

    private final OneSidedPort source;
    private final OneSidedPort target;
    private final ByteRanges ranges;
    private final int pieceBytes;
    private final int ringPieces;
    private final long pieces;
    private final Scratch scratch;
    /** By buffer of the ring: where the piece in it stands in both regions. */
    private final long[] pieceOffsets;
    /** By buffer of the ring. */
    private final int[] pieceLengthsBytes;
    /** What is read next. */
    private int range;
    /** As many bytes of that range are read, or being read. */
    private long rangeBytes;
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
     * @param ranges           to copy, in both regions; each is inside both.
     * @param pieceBytes       most that one request has, 1 or more.
     * @param ringPieces       buffers of that length, 1 or more.
     */
    public ChunkCopy(
        final ProtectionDomain protectionDomain, final OneSidedPort source, final OneSidedPort target,
        final ByteRanges ranges, final int pieceBytes, final int ringPieces)
    {
        this.source = source;
        this.target = target;
        this.ranges = ranges;
        this.pieceBytes = pieceBytes;
        this.ringPieces = ringPieces;
        long count = 0;
        for (int i = 0; i < ranges.count(); i++)
        {
            count += Math.ceilDiv(ranges.lengthBytes(i), pieceBytes);
        }
        pieces = count;
        pieceOffsets = new long[ringPieces];
        pieceLengthsBytes = new int[ringPieces];
        scratch = new Scratch(protectionDomain, (long)ringPieces * pieceBytes);
    }

    /** @return whether all is copied; then nothing is under way. */
    public boolean isDone()
    {
        return !hasFailed && written == pieces;
    }

    /** @return whether a request has failed, or its outcome is unknown; others may be under way still. */
    public boolean hasFailed()
    {
        return hasFailed;
    }

    /** @return bytes of which it is known that they are at the target. */
    public long bytesCopied()
    {
        return bytesCopied;
    }

    /** Posts what there is room for. @return requests posted. */
    public int poll()
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
            post(source, stageNext(), true))
        {
            goOn();
            workCount++;
        }
        return workCount;
    }

    /** Says in the ring what is read next. */
    private long stageNext()
    {
        final int buffer = buffer(readsPosted);
        pieceOffsets[buffer] = ranges.offset(range) + rangeBytes;
        pieceLengthsBytes[buffer] = (int)Math.min(pieceBytes, ranges.lengthBytes(range) - rangeBytes);
        return readsPosted;
    }

    private void goOn()
    {
        rangeBytes += pieceLengthsBytes[buffer(readsPosted)];
        readsPosted++;
        if (rangeBytes == ranges.lengthBytes(range))
        {
            range++;
            rangeBytes = 0;
        }
    }

    private int buffer(final long piece)
    {
        return (int)(piece % ringPieces);
    }

    private boolean hasRoom(final OneSidedPort port)
    {
        return !hasFailed && port.isReady() && port.space() > 0;
    }

    /** A batch of its own, so that each piece goes on when it is there. */
    private boolean post(final OneSidedPort port, final long piece, final boolean isRead)
    {
        final int buffer = buffer(piece);
        final long localOffset = (long)buffer * pieceBytes;
        port.begin();
        if (isRead)
        {
            port.read(scratch.region, localOffset, pieceLengthsBytes[buffer], pieceOffsets[buffer]);
        }
        else
        {
            port.write(scratch.region, localOffset, pieceLengthsBytes[buffer], pieceOffsets[buffer]);
        }
        final int status = port.complete(0);
        hasFailed |= status == PostStatus.INVALID_STATE;
        return status == PostStatus.OK;
    }

    /**
     * Takes the completion of the source's next batch.
     *
     * @param status as a {@link io.verbena.raas.BatchListener} gets it.
     */
    public void onRead(final int status)
    {
        read++;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
    }

    /**
     * Takes the completion of the target's next batch.
     *
     * @param status as a {@link io.verbena.raas.BatchListener} gets it.
     */
    public void onWritten(final int status)
    {
        if (status == WorkCompletionStatus.SUCCESS)
        {
            bytesCopied += pieceLengthsBytes[buffer(written)];
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
        return "ChunkCopy{" + ranges + ", read=" + read +
            " written=" + written + " of " + pieces + " pieces, bytes=" + bytesCopied + " failed=" + hasFailed + '}';
    }
}
