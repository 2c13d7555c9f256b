package io.verbena.table.allocation;

import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayQueue;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link AllocatorPurge}: of two chunks, the second one is closed. */
class AllocatorPurgeTest
{
    private static final int CHUNK_BYTES = 4096;

    private final ChunkView view = view();
    private long left;

    @Test
    void shouldRemoveRangesInClosedChunks()
    {
        final LongArrayQueue queue = queue(64, 128, CHUNK_BYTES, CHUNK_BYTES + 320, 256, 512);

        assertThat(AllocatorPurge.ranges(queue, false, view, (bytes) -> left += bytes)).isEqualTo(320);
        assertThat(left).isEqualTo(320);
        assertThat(listed(queue, false)).containsExactly("64+64", "256+256");
    }

    @Test
    void shouldRemoveRangesInClosedChunksAndKeepTheEpochsOfTheOthers()
    {
        final LongArrayQueue queue = queue(7, 64, 128, 8, CHUNK_BYTES, CHUNK_BYTES + 320, 9, 256, 512);

        assertThat(AllocatorPurge.ranges(queue, true, view, (bytes) -> left += bytes)).isEqualTo(320);
        assertThat(left).isEqualTo(320);
        assertThat(listed(queue, true)).containsExactly("64+64", "256+256");
        assertThat(queue).containsExactly(7L, 64L, 128L, 9L, 256L, 512L);
    }

    private static List<String> listed(final LongArrayQueue queue, final boolean hasEpochs)
    {
        final List<String> ranges = new ArrayList<>();
        AllocatorPurge.forEachRange(queue, hasEpochs, HeldConsumer.UNCUT, (kind, offset, lengthBytes) ->
        {
            assertThat(kind).isEqualTo(HeldConsumer.UNCUT);
            ranges.add(offset + "+" + lengthBytes);
        });
        return ranges;
    }

    private static LongArrayQueue queue(final long... values)
    {
        final LongArrayQueue queue = new LongArrayQueue();
        for (final long value : values)
        {
            queue.addLong(value);
        }
        return queue;
    }

    private static ChunkView view()
    {
        final ChunkView view = new ChunkView(new Superblock(1, 1, 2 * CHUNK_BYTES, 0, CHUNK_BYTES, 2, 0));
        final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));
        ChunkDescriptor.write(header, 0, ChunkDescriptor.STATE_QUARANTINED, 3, 1, 0, 0, 1, 0);
        assertThat(view.read(1, header, 0)).isTrue();
        return view;
    }
}
