package io.verbena.table.access;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/**
 * Reads long ranges of a memory node's region piece by piece, and swaps single words: what maintenance needs beside
 * operations. One request under way at a time. Owner thread only; closed by its creator when nothing is under way, or
 * after the port.
 */
public final class RegionAccess implements AutoCloseable
{
    /** Takes a piece of what was read; may change it. */
    @FunctionalInterface
    public interface Sink
    {
        /**
         * Takes a piece.
         *
         * @param buffer      off-heap, holds the piece from index 0.
         * @param lengthBytes of the piece.
         * @param offset      of the piece in the region.
         */
        void onPiece(MutableDirectBuffer buffer, int lengthBytes, long offset);
    }

    /** Longest piece; a multiple of group, header and bucket lengths. */
    public static final int PIECE_BYTES = 192 * 320;

    private static final int SWAP_RESULT_AT = PIECE_BYTES;

    private final Scratch scratch;
    private final int cookie;
    private OneSidedPort port;
    private Sink sink;
    private long next;
    private long end;
    private int pieceBytes;
    private boolean inFlight;
    private boolean failed;
    private boolean isSwap;
    private int member;
    private long reads;
    private long swaps;
    private long bytes;

    /**
     * @param protectionDomain that the ports' queue pairs belong to.
     * @param cookie           of its batches: hand their completions to {@link #onComplete}.
     */
    public RegionAccess(final ProtectionDomain protectionDomain, final int cookie)
    {
        scratch = new Scratch(protectionDomain, PIECE_BYTES + Long.BYTES);
        this.cookie = cookie;
    }

    /** @return what pieces are read into; for a sink, while it is called. */
    public MemorySegment segment()
    {
        return scratch.segment;
    }

    /** Takes what was posted here out of the counts of a whole connection: it belongs to no operation. */
    public void subtractFrom(final VerbCounters counters)
    {
        counters.reads -= reads;
        counters.compareSwaps -= swaps;
        counters.doorbells -= reads + swaps;
        counters.payloadBytes -= bytes;
    }

    /**
     * Begins to read; {@link #isBusy} until all of it was given to the sink, or it failed.
     *
     * @param from        ready, or it fails.
     * @param offset      of the first byte.
     * @param lengthBytes 1 or more.
     * @param pieces      takes the pieces in order.
     */
    public void read(final OneSidedPort from, final long offset, final long lengthBytes, final Sink pieces)
    {
        readAt(from, memberCount(from) - 1, offset, lengthBytes, pieces);
    }

    /** As {@link #read}, at one of the {@link #memberCount} copies that a port leads to; the last is the primary. */
    public void readAt(
        final OneSidedPort from, final int copy, final long offset, final long lengthBytes, final Sink pieces)
    {
        begin(from);
        member = copy;
        sink = pieces;
        next = offset;
        end = offset + lengthBytes;
        poll();
    }

    /** @return copies of the memory that a port leads to. */
    public static int memberCount(final OneSidedPort port)
    {
        return port instanceof final MirroredPort mirrored ? mirrored.memberCount() : 1;
    }

    /** Begins to swap a word; whether it was the expected one is not reported. */
    public void swap(final OneSidedPort at, final long offset, final long expected, final long desired)
    {
        begin(at);
        port.begin();
        SlotRound.propose(port, scratch.region, SWAP_RESULT_AT, offset, expected, desired);
        isSwap = true;
        post();
    }

    /** Begins to kill a tentative word; whether it was there still is not reported. */
    public void kill(final OneSidedPort at, final long offset, final long tentative, final long emptied)
    {
        begin(at);
        port.begin();
        SlotRound.kill(port, scratch.region, SWAP_RESULT_AT, offset, tentative, emptied);
        isSwap = true;
        post();
    }

    /** @return whether something is under way. */
    public boolean isBusy()
    {
        return inFlight || next < end && !failed;
    }

    /** @return whether the last thing failed. */
    public boolean hasFailed()
    {
        return failed;
    }

    /** Goes on. @return work done. */
    public int poll()
    {
        if (inFlight || failed || next >= end)
        {
            return 0;
        }
        if (port.isFailed())
        {
            failed = true;
            return 1;
        }
        if (!port.isReady() || port.space() < 1)
        {
            return 0;
        }
        pieceBytes = (int)Math.min(PIECE_BYTES, end - next);
        port.begin();
        stageRead();
        isSwap = false;
        post();
        return 1;
    }

    private void stageRead()
    {
        if (port instanceof final MirroredPort mirrored)
        {
            mirrored.readAt(member, scratch.region, 0, pieceBytes, next);
        }
        else
        {
            port.read(scratch.region, 0, pieceBytes, next);
        }
    }

    /** Takes the completion of its batch. */
    public void onComplete(final int status)
    {
        inFlight = false;
        if (status != WorkCompletionStatus.SUCCESS)
        {
            failed = true;
        }
        else if (!isSwap && next < end)
        {
            final long offset = next;
            next += pieceBytes;
            sink.onPiece(scratch.buffer, pieceBytes, offset);
        }
    }

    /** Gives up; what is under way is not reported any more, and {@link #isBusy} says when it has ended. */
    public void cancel()
    {
        next = end;
    }

    private void begin(final OneSidedPort newPort)
    {
        if (isBusy())
        {
            throw new IllegalStateException("one request at a time: " + next + " to " + end);
        }
        port = newPort;
        failed = false;
        next = 0;
        end = 0;
    }

    private void post()
    {
        final int status = port.complete(cookie);
        inFlight = status == PostStatus.OK;
        if (inFlight)
        {
            reads += isSwap ? 0 : 1;
            swaps += isSwap ? 1 : 0;
            bytes += isSwap ? Long.BYTES : pieceBytes;
        }
        failed = !inFlight && status != PostStatus.QUEUE_FULL || isSwap && !inFlight;
    }

    @Override
    public void close()
    {
        scratch.close();
    }
}
