package io.verbena.table.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.raas.BatchListener;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.LocalDomain;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.Random;

/** Ranges that are copied over ports whose completions come late, and in any order between the two. */
class ChunkCopyTest
{
    private static final int MEMORY_BYTES = 1 << 14;
    private static final long[] CHUNKS = {1_024, 9_216, 4_096, 12_288};
    private static final int CHUNK_BYTES = 1_000;
    private static final int RING = 3;
    /** Of a chunk with pieces of 300 bytes: three, and one of 100. */
    private static final int PIECE_BYTES = 300;
    private static final int MOST_STEPS = 10_000;
    private static final int PIECES = 4 * CHUNKS.length;

    private final UnsafeBuffer from = memory(1);
    private final UnsafeBuffer to = memory(2);
    private final UnsafeBuffer expected = memory(2);
    private final LatePort source = new LatePort(from);
    private final LatePort target = new LatePort(to);
    private ChunkCopy copy = copy(CHUNK_BYTES, PIECE_BYTES, RING);

    @AfterEach
    void close()
    {
        copy.close();
    }

    private static UnsafeBuffer memory(final long seed)
    {
        final UnsafeBuffer memory = new UnsafeBuffer(ByteBuffer.allocateDirect(MEMORY_BYTES));
        final byte[] bytes = new byte[MEMORY_BYTES];
        new Random(seed).nextBytes(bytes);
        memory.putBytes(0, bytes);
        return memory;
    }

    private ChunkCopy copy(final int chunkBytes, final int pieceBytes, final int ring)
    {
        return copy(ByteRanges.of(CHUNKS, chunkBytes), pieceBytes, ring);
    }

    private ChunkCopy copy(final ByteRanges ranges, final int pieceBytes, final int ring)
    {
        return new ChunkCopy(new LocalDomain(), source, target, ranges, pieceBytes, ring);
    }

    private void completeRead()
    {
        source.completeNext();
        copy.onRead(WorkCompletionStatus.SUCCESS);
    }

    private void completeWrite()
    {
        final long before = copy.bytesCopied();
        final int lengthBytes = target.completeNext();
        copy.onWritten(WorkCompletionStatus.SUCCESS);
        assertThat(copy.bytesCopied()).isEqualTo(before + lengthBytes);
    }

    /** Completes one of what is under way, or polls. */
    private void step(final Random random)
    {
        stepOf(random);
        assertThat(copy.isDone()).isEqualTo(target.bytesWritten == (long)CHUNKS.length * CHUNK_BYTES &&
            !source.isBusy() && !target.isBusy());
    }

    private void stepOf(final Random random)
    {
        final int choice = random.nextInt(3);
        if (choice == 0 && source.isBusy())
        {
            completeRead();
        }
        else if (choice == 1 && target.isBusy())
        {
            completeWrite();
        }
        else
        {
            copy.poll();
        }
    }

    private void finish(final Random random)
    {
        for (int i = 0; i < MOST_STEPS && !copy.isDone(); i++)
        {
            step(random);
        }
        assertThat(copy.isDone()).as("%s", copy).isTrue();
    }

    private void assertCopied(final int chunkBytes)
    {
        for (final long offset : CHUNKS)
        {
            expected.putBytes((int)offset, from, (int)offset, chunkBytes);
        }
        assertThat(to).isEqualTo(expected);
        assertThat(from).isEqualTo(memory(1));
        assertThat(source.bytesRead).isEqualTo((long)CHUNKS.length * chunkBytes);
        assertThat(target.bytesWritten).isEqualTo((long)CHUNKS.length * chunkBytes);
        assertThat(source.bytesWritten + target.bytesRead).isZero();
        assertThat(copy.bytesCopied()).isEqualTo((long)CHUNKS.length * chunkBytes);
        assertThat(copy.hasFailed()).isFalse();
    }

    /** Pieces that divide a chunk, that do not, that are a chunk, and that are longer; rings of one and more. */
    @ParameterizedTest
    @CsvSource({"250, 3", "300, 3", "999, 2", "1000, 1", "1000, 8", "4096, 2", "7, 64", "300, 1"})
    void shouldCopyChunksAndNothingElse(final int pieceBytes, final int ring)
    {
        for (int seed = 0; seed < 50; seed++)
        {
            close();
            source.bytesRead = 0;
            target.bytesWritten = 0;
            to.putBytes(0, memory(2), 0, MEMORY_BYTES);
            copy = copy(CHUNK_BYTES, pieceBytes, ring);
            finish(new Random(seed));
            assertCopied(CHUNK_BYTES);
        }
    }

    /** The ring is full of what is read, then of what is written; each WRITE that completes makes room for a READ. */
    @Test
    void shouldReadWhileItWrites()
    {
        assertThat(copy.poll()).isEqualTo(RING);
        assertThat(copy.poll()).isZero();
        completeRead();
        completeRead();
        assertThat(copy.poll()).as("two are written, and no buffer is free").isEqualTo(2);
        assertThat(source.offsets).hasSize(RING);
        completeWrite();
        assertThat(copy.poll()).as("the buffer of the first is read to").isOne();
        assertThat(source.isBusy() && target.isBusy()).isTrue();
        finish(new Random(1));
        assertCopied(CHUNK_BYTES);
        assertThat(source.mostUnderWay).isEqualTo(RING);
        assertThat(source.offsets).hasSize(PIECES).isEqualTo(target.offsets);
    }

    /** Nothing is posted where there is no room, and all is copied when there is again. */
    @Test
    void shouldWaitForRoom()
    {
        source.room = 1;
        target.room = 0;
        assertThat(copy.poll()).isOne();
        completeRead();
        assertThat(copy.poll()).isOne();
        completeRead();
        assertThat(copy.poll()).isOne();
        completeRead();
        assertThat(copy.poll()).isZero();
        target.room = 1;
        assertThat(copy.poll()).isOne();
        finish(new Random(2));
        assertCopied(CHUNK_BYTES);
        assertThat(source.mostUnderWay).isOne();
        assertThat(target.mostUnderWay).isOne();
    }

    /** A port that is not ready, and one that refuses a batch for now, are asked again. */
    @Test
    void shouldTryAgainWhatWasNotPosted()
    {
        source.isReady = false;
        assertThat(copy.poll()).isZero();
        source.isReady = true;
        source.postStatus = PostStatus.QUEUE_FULL;
        assertThat(copy.poll()).isZero();
        source.postStatus = PostStatus.OK;
        assertThat(copy.poll()).isEqualTo(RING);
        completeRead();
        target.isReady = false;
        assertThat(copy.poll()).isZero();
        target.isReady = true;
        target.postStatus = PostStatus.QUEUE_FULL;
        assertThat(copy.poll()).isZero();
        assertThat(copy.hasFailed()).isFalse();
        target.postStatus = PostStatus.OK;
        finish(new Random(3));
        assertCopied(CHUNK_BYTES);
    }

    /** Whichever READ or WRITE it is: nothing more is posted, and what else completes does not make it done. */
    @ParameterizedTest
    @ValueSource(ints = {WorkCompletionStatus.RETRY_EXC_ERR, WorkCompletionStatus.WR_FLUSH_ERR,
        BatchListener.OUTCOME_UNKNOWN})
    void shouldStopForGoodWhenARequestFails(final int status)
    {
        for (int failing = 0; failing < 2 * PIECES; failing++)
        {
            close();
            target.bytesWritten = 0;
            copy = copy(CHUNK_BYTES, PIECE_BYTES, RING);
            final Random random = new Random(failing);
            failAt(failing / 2, failing % 2 == 0, status, random);
            assertThat(copy.hasFailed()).isTrue();
            final int posted = source.begun + target.begun;
            while (source.isBusy())
            {
                completeRead();
                copy.poll();
            }
            while (target.isBusy())
            {
                completeWrite();
                copy.poll();
            }
            assertThat(source.begun + target.begun).isEqualTo(posted);
            assertThat(copy.hasFailed()).isTrue();
            assertThat(copy.isDone()).isFalse();
            assertThat(copy.bytesCopied()).isLessThanOrEqualTo((long)CHUNKS.length * CHUNK_BYTES);
        }
    }

    private void failAt(final int piece, final boolean isRead, final int status, final Random random)
    {
        int done = 0;
        for (int i = 0; done <= piece; i++)
        {
            assertThat(i).as("%s", copy).isLessThan(MOST_STEPS);
            final boolean isReadNext = source.isBusy() && random.nextBoolean();
            copy.poll();
            if (isReadNext && isRead && done++ == piece)
            {
                source.failNext();
                copy.onRead(status);
            }
            else if (isReadNext)
            {
                completeRead();
            }
            else if (target.isBusy() && !isRead && done++ == piece)
            {
                target.failNext();
                final long copied = copy.bytesCopied();
                copy.onWritten(status);
                assertThat(copy.bytesCopied()).isEqualTo(copied);
            }
            else if (target.isBusy())
            {
                completeWrite();
            }
        }
    }

    /** Completions may never come then. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStopForGoodWhenAPortFails(final boolean isSource)
    {
        copy.poll();
        completeRead();
        (isSource ? source : target).isFailed = true;
        assertThat(copy.poll()).isZero();
        assertThat(copy.hasFailed()).isTrue();
        assertThat(copy.isDone()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStopForGoodWhenAPortRefuses(final boolean isSource)
    {
        copy.poll();
        completeRead();
        completeRead();
        copy.poll();
        completeRead();
        completeWrite();
        (isSource ? source : target).postStatus = PostStatus.INVALID_STATE;
        copy.poll();
        assertThat(copy.hasFailed()).isTrue();
        source.postStatus = PostStatus.OK;
        target.postStatus = PostStatus.OK;
        final int posted = source.begun + target.begun;
        completeWrite();
        assertThat(copy.poll()).isZero();
        assertThat(source.begun + target.begun).isEqualTo(posted);
        assertThat(copy.isDone()).isFalse();
    }

    /** It is over then, also for ports that fail later. */
    @Test
    void shouldStayDone()
    {
        finish(new Random(4));
        source.isFailed = true;
        assertThat(copy.poll()).isZero();
        assertThat(copy.isDone()).isTrue();
        assertThat(copy.hasFailed()).isFalse();
    }

    @Test
    void shouldBeDoneWithoutRanges()
    {
        close();
        copy = copy(ByteRanges.NONE, PIECE_BYTES, RING);
        assertThat(copy.isDone()).isTrue();
        assertThat(copy.poll()).isZero();
        assertThat(copy.bytesCopied()).isZero();
        assertThat(source.begun + target.begun).isZero();
    }

    /** Shorter than a piece, as long as one or several, and one byte longer; the last one, too. */
    @Test
    void shouldCopyRangesOfAnyLength()
    {
        final long[] offsets = {0, 64, 1_000, 2_000, 4_096, 8_000, 9_000, MEMORY_BYTES - 1};
        final long[] lengthsBytes = {1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 64,
            3 * PIECE_BYTES + 1, 1};
        final Integer[] pieces = {0, 64, 1_000, 2_000, 2_300, 4_096, 4_396, 4_696, 8_000, 9_000, 9_300, 9_600, 9_900,
            MEMORY_BYTES - 1};
        for (int i = 0; i < offsets.length; i++)
        {
            expected.putBytes((int)offsets[i], from, (int)offsets[i], (int)lengthsBytes[i]);
        }
        for (int seed = 0; seed < 50; seed++)
        {
            close();
            to.putBytes(0, memory(2), 0, MEMORY_BYTES);
            source.offsets.clear();
            target.offsets.clear();
            target.bytesWritten = 0;
            final ByteRanges ranges = ByteRanges.of(offsets, lengthsBytes);
            copy = copy(ranges, PIECE_BYTES, 1 + seed % 4);
            final Random random = new Random(seed);
            for (int i = 0; i < MOST_STEPS && !copy.isDone(); i++)
            {
                stepOf(random);
            }
            assertThat(copy.isDone()).as("%s", copy).isTrue();
            assertThat(to).isEqualTo(expected);
            assertThat(source.offsets).containsExactly(pieces);
            assertThat(target.offsets).containsExactly(pieces);
            assertThat(copy.bytesCopied()).isEqualTo(ranges.totalBytes()).isEqualTo(target.bytesWritten);
        }
    }
}
