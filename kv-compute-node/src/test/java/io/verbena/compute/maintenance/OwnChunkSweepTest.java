package io.verbena.compute.maintenance;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** When the chunks of a node itself are due to be reclaimed. */
class OwnChunkSweepTest
{
    private final AtomicLong epoch = new AtomicLong(100);
    private final AtomicLong closedTables = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    private final OwnChunkSweep sweep =
        new OwnChunkSweep(epoch::get, closedTables::get, new PeerIdentity(3, 7), asked::incrementAndGet);

    @Test
    void shouldBeWantedOnceItIsAskedForAndUntilItIsMarked()
    {
        assertThat(sweep.isWanted()).isFalse();
        sweep.ask();
        assertThat(asked).hasValue(1);
        assertThat(sweep.isWanted()).isTrue();
        assertThat(sweep.isDue()).as("not before a view shows the chunks").isFalse();
        sweep.mark(null);
        assertThat(sweep.isWanted()).as("there are none").isFalse();
    }

    @Test
    void shouldNoteAShortageOnceAndNotAgainBeforeThePauseIsOver()
    {
        assertThat(sweep.noteShortage(0)).as("nothing was refused").isFalse();
        assertThat(sweep.isShort(1)).isTrue();
        assertThat(sweep.noteShortage(1)).isTrue();
        assertThat(sweep.noteShortage(1)).as("the same refusals").isFalse();
        epoch.addAndGet(ShortageWatch.PAUSE_EPOCHS - 1);
        assertThat(sweep.noteShortage(2)).as("too soon").isFalse();
        assertThat(sweep.isShort(2)).isFalse();
        epoch.incrementAndGet();
        assertThat(sweep.noteShortage(2)).isTrue();
    }

    @Test
    void shouldNoteEachTableThatWasDropped()
    {
        closedTables.set(1);
        assertThat(sweep.noteShortage(0)).isTrue();
        assertThat(sweep.noteShortage(0)).isFalse();
        closedTables.set(3);
        assertThat(sweep.noteShortage(0)).isTrue();
    }

    @Test
    void shouldSweepAllInTwoRoundsOfWhichTheFirstLeavesHalfInUse()
    {
        assertRounds(27, 14, 13);
        assertRounds(28, 14, 14);
        assertRounds(1, 1);
    }

    private void assertRounds(final int owned, final int... sizes)
    {
        final ChunkView view = view(owned);
        sweep.ask();
        sweep.mark(view);
        for (final int size : sizes)
        {
            assertThat(sweep.isDue()).isTrue();
            assertThat(sweep.wanted(view)).hasSize(size);
        }
        assertThat(sweep.wanted(view)).isEmpty();
        assertThat(sweep.isDue()).isFalse();
    }

    /** Chunks that this node has, and one of another node. */
    private static ChunkView view(final int owned)
    {
        final ChunkView view = new ChunkView(new Superblock(1, 1, 1 << 20, 0, 4096, owned + 1, 0));
        final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));
        for (int i = 0; i <= owned; i++)
        {
            ChunkDescriptor.write(header, 0, ChunkDescriptor.STATE_BLOCKS, i < owned ? 3 : 4, 7, 0, 0, 1, 0);
            assertThat(view.read(i, header, 0)).isTrue();
        }
        return view;
    }
}
