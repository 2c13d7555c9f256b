package io.verbena.memory.checkpoint;

import io.verbena.table.allocation.GranuleSet;
import io.verbena.table.format.Superblock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A chunk has one owner, and blocks whose place is taken go beside others of theirs. */
class FreePlacesTest
{
    private static final int CHUNKS = 4;
    private static final int CHUNK_BYTES = 4 * GranuleSet.GRANULE_BYTES;
    private static final int BLOCK_BYTES = GranuleSet.GRANULE_BYTES;
    private static final int CHUNKS_OFFSET = 4_096;
    private static final int ALONE = 0;
    private static final int GROUP = 7;

    private final Arena arena = Arena.ofConfined();
    private final FreePlaces places = new FreePlaces(
        new Superblock(1, 1, CHUNKS_OFFSET + CHUNKS * CHUNK_BYTES, CHUNKS_OFFSET, CHUNK_BYTES, CHUNKS, 0), arena);

    @AfterEach
    void close()
    {
        arena.close();
    }

    private static long at(final int chunk, final int block)
    {
        return CHUNKS_OFFSET + (long)chunk * CHUNK_BYTES + (long)block * BLOCK_BYTES;
    }

    @Test
    void shouldTakeNoPlaceTwice()
    {
        assertThat(places.take(at(1, 2), BLOCK_BYTES, ALONE)).isTrue();
        assertThat(places.take(at(1, 1), 2 * BLOCK_BYTES, ALONE)).isFalse();
        assertThat(places.take(at(1, 0), 2 * BLOCK_BYTES, ALONE)).isTrue();
        places.free(at(1, 2), BLOCK_BYTES);
        assertThat(places.take(at(1, 2), 2 * BLOCK_BYTES, ALONE)).isTrue();
    }

    @Test
    void shouldTakeNoPlaceOutsideOfAChunk()
    {
        assertThat(places.take(at(0, -1), BLOCK_BYTES, ALONE)).isFalse();
        assertThat(places.take(at(0, 3), 2 * BLOCK_BYTES, ALONE)).isFalse();
        assertThat(places.take(at(CHUNKS, 0), BLOCK_BYTES, ALONE)).isFalse();
        assertThat(places.take(at(CHUNKS - 1, 3), BLOCK_BYTES, ALONE)).isTrue();
    }

    @Test
    void shouldPutNoBlockBesideThoseOfAnotherOwner()
    {
        assertThat(places.take(at(1, 0), BLOCK_BYTES, GROUP)).isTrue();
        assertThat(places.take(at(1, 1), BLOCK_BYTES, ALONE)).isFalse();
        assertThat(places.take(at(1, 1), BLOCK_BYTES, GROUP)).isTrue();
        assertThat(places.takeIndex(at(2, 0), GROUP)).isTrue();
        assertThat(places.take(at(2, 0), BLOCK_BYTES, GROUP)).as("that is an index").isFalse();
    }

    /** Chunk 0 is empty, and the group may have it on its other members. */
    @Test
    void shouldFillChunksOfTheOwnerBeforeItTakesAnEmptyOne()
    {
        assertThat(places.take(at(1, 1), BLOCK_BYTES, GROUP)).isTrue();
        assertThat(places.take(at(2, 1), BLOCK_BYTES, ALONE)).isTrue();
        assertThat(places.take(at(3, 0), 3 * BLOCK_BYTES, ALONE)).isTrue();
        assertThat(takeAll(ALONE)).containsExactly(
            at(2, 0), at(2, 2), at(2, 3), at(3, 3), at(0, 0), at(0, 1), at(0, 2), at(0, 3));
        assertThat(takeAll(GROUP)).containsExactly(at(1, 0), at(1, 2), at(1, 3));
    }

    private List<Long> takeAll(final int owner)
    {
        final List<Long> taken = new ArrayList<>();

        for (long offset = places.takeAny(BLOCK_BYTES, owner); offset >= 0;
            offset = places.takeAny(BLOCK_BYTES, owner))
        {
            taken.add(offset);
        }

        return taken;
    }

    /** What goes on where the call before ended begins anew with another length or owner. */
    @Test
    void shouldLookAtAllChunksForEachLengthAndOwner()
    {
        assertThat(places.takeAny(3 * BLOCK_BYTES, ALONE)).isEqualTo(at(0, 0));
        assertThat(places.takeAny(2 * BLOCK_BYTES, ALONE)).isEqualTo(at(1, 0));
        assertThat(places.takeAny(BLOCK_BYTES, ALONE)).isEqualTo(at(0, 3));
        assertThat(places.takeAny(BLOCK_BYTES, GROUP)).isEqualTo(at(2, 0));
        assertThat(places.takeAny(BLOCK_BYTES, ALONE)).isEqualTo(at(1, 2));
    }

    /** Blocks would lose their place for it. */
    @Test
    void shouldPutAnIndexWhereNoBlockWantsItsPlace()
    {
        places.want(at(0, 1));
        places.want(at(2, 0));
        places.want(at(CHUNKS, 0));
        assertThat(places.takeAnyIndex(GROUP)).isEqualTo(at(1, 0));
        assertThat(places.takeAnyIndex(GROUP)).isEqualTo(at(3, 0));
        assertThat(places.takeAnyIndex(GROUP)).as("there is no better one").isEqualTo(at(0, 0));
        assertThat(places.take(at(2, 0), BLOCK_BYTES, ALONE)).isTrue();
        assertThat(places.takeAnyIndex(GROUP)).isEqualTo(-1);
    }

    @Test
    void shouldTellWhoHasEachChunk()
    {
        places.takeIndex(at(3, 0), GROUP);
        places.take(at(1, 3), BLOCK_BYTES, GROUP);
        places.take(at(0, 0), BLOCK_BYTES, ALONE);
        places.take(at(2, 0), BLOCK_BYTES, ALONE);
        places.free(at(2, 0), BLOCK_BYTES);
        final List<String> uses = new ArrayList<>();
        places.tell(new ChunkUse()
        {
            @Override
            public void index(final int chunk, final int group)
            {
                uses.add("index " + chunk + " of " + group);
            }

            @Override
            public void blocks(final int chunk, final int group)
            {
                uses.add("blocks " + chunk + " of " + group);
            }
        });
        assertThat(uses).containsExactly("blocks 0 of 0", "blocks 1 of 7", "index 3 of 7");
    }
}
