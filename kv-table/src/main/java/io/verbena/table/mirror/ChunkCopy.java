package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.Scratch;

import java.util.Arrays;

/**
 * Copies chunks from one memory node to another, byte by byte and to the same offsets: a piece is read, and written when
 * it is here. Several pieces are under way, so that one is read while another one is written. Nobody else changes the
 * chunks meanwhile. The cookie of a batch is the number of its piece. One thread.
 */
final class ChunkCopy implements AutoCloseable
{
    /** What is read, and written, at a time. */
    static final int PIECE_BYTES = 256 << 10;
    private static final int PIECES = 4;

    private enum State
    {
        IDLE, READING, READ, WRITING
    }

    private final OneSidedPort source;
    private final OneSidedPort target;
    private final long[] chunkOffsets;
    private final int chunkLengthBytes;
    private final Scratch scratch;
    private final State[] states = new State[PIECES];
    private final long[] offsets = new long[PIECES];
    private final int[] lengths = new int[PIECES];
    private int chunk;
    private int nextInChunk;
    private long bytesCopied;
    private boolean hasFailed;

    /**
     * @param protectionDomain that the queue pairs of both ports belong to.
     * @param source           whose completions go to {@link #onRead}.
     * @param target           whose completions go to {@link #onWritten}.
     * @param chunkOffsets     where the chunks begin, on both sides; not changed.
     * @param chunkLengthBytes of each.
     */
    ChunkCopy(
        final ProtectionDomain protectionDomain, final OneSidedPort source, final OneSidedPort target,
        final long[] chunkOffsets, final int chunkLengthBytes)
    {
        this.source = source;
        this.target = target;
        this.chunkOffsets = chunkOffsets;
        this.chunkLengthBytes = chunkLengthBytes;
        scratch = new Scratch(protectionDomain, (long)PIECES * PIECE_BYTES);
        Arrays.fill(states, State.IDLE);
    }

    /** Whether all is there, and nothing is under way. */
    boolean isDone()
    {
        return !hasFailed && chunk == chunkOffsets.length && isIdle();
    }

    private boolean isIdle()
    {
        for (final State state : states)
        {
            if (state != State.IDLE)
            {
                return false;
            }
        }
        return true;
    }

    /** Whether a request has failed, or its outcome is unknown; nothing more is posted. */
    boolean hasFailed()
    {
        return hasFailed;
    }

    /** What was written, in bytes. */
    long bytesCopied()
    {
        return bytesCopied;
    }

    /** Posts what is due. @return work done. */
    int poll()
    {
        hasFailed |= source.isFailed() || target.isFailed();
        int workCount = 0;
        for (int piece = 0; piece < PIECES && !hasFailed; piece++)
        {
            if (states[piece] == State.IDLE && chunk < chunkOffsets.length && mayPost(source))
            {
                read(piece);
                workCount++;
            }
            else if (states[piece] == State.READ && mayPost(target))
            {
                write(piece);
                workCount++;
            }
        }
        return workCount;
    }

    private static boolean mayPost(final OneSidedPort port)
    {
        return port.isReady() && port.space() >= 1;
    }

    private void read(final int piece)
    {
        offsets[piece] = chunkOffsets[chunk] + nextInChunk;
        lengths[piece] = Math.min(PIECE_BYTES, chunkLengthBytes - nextInChunk);
        source.begin();
        source.read(scratch.region, (long)piece * PIECE_BYTES, lengths[piece], offsets[piece]);
        if (isPosted(source.complete(piece)))
        {
            states[piece] = State.READING;
            nextInChunk += lengths[piece];
            if (nextInChunk == chunkLengthBytes)
            {
                chunk++;
                nextInChunk = 0;
            }
        }
    }

    private void write(final int piece)
    {
        target.begin();
        target.write(scratch.region, (long)piece * PIECE_BYTES, lengths[piece], offsets[piece]);
        if (isPosted(target.complete(piece)))
        {
            states[piece] = State.WRITING;
        }
    }

    private boolean isPosted(final int status)
    {
        hasFailed |= status == PostStatus.INVALID_STATE;
        return status == PostStatus.OK;
    }

    /** Takes a completion of the source's port. */
    void onRead(final int piece, final int status)
    {
        states[piece] = State.READ;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
    }

    /** Takes a completion of the target's port. */
    void onWritten(final int piece, final int status)
    {
        states[piece] = State.IDLE;
        hasFailed |= status != WorkCompletionStatus.SUCCESS;
        bytesCopied += hasFailed ? 0 : lengths[piece];
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
        return "ChunkCopy{bytes=" + bytesCopied + " of " + (long)chunkOffsets.length * chunkLengthBytes +
            " failed=" + hasFailed + '}';
    }
}
