package io.verbena.table;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.RegionAccess;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.check.IndexWalk;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.TableDescriptor;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/** Which chunks hold subtables, by header lines; four of one group each, a chunk apart. */
class IndexWalkTest
{
    private static final int NODE = 3;
    private static final int TABLE_ID = 7;
    private static final long HASH_SEED = 42;
    private static final int CHUNKS_AT = 4096;
    private static final int CHUNK_BYTES = 4096;
    private static final int CHUNKS = 4;
    private static final int REGION_BYTES = CHUNKS_AT + CHUNKS * CHUNK_BYTES;
    private static final int COOKIE = 1;

    private final StepFabric fabric = new StepFabric(1);
    private final UnsafeBuffer memory = fabric.addMemory(NODE, REGION_BYTES);
    private final RegionAccess access = new RegionAccess(new LocalDomain(), COOKIE);
    private final OneSidedPort port = fabric.connect(NODE, (cookie, status) -> access.onComplete(status));

    @AfterEach
    void close()
    {
        access.close();
        fabric.close();
    }

    private static int chunk(final int index)
    {
        return CHUNKS_AT + index * CHUNK_BYTES;
    }

    private void format(final int chunk, final int suffix, final int depth)
    {
        SubtableDescriptor.write(memory, chunk(chunk), TABLE_ID, suffix, depth, 1, HASH_SEED, 0);
    }

    private void split(final int chunk, final int child0, final int child1)
    {
        memory.putLong(chunk(chunk) + SubtableDescriptor.SPLIT_OFFSET,
            SplitLink.complete(SplitLink.of(chunk(child0), chunk(child1))), LITTLE_ENDIAN);
    }

    /** Of a table whose subtables, one for each suffix of so many bits, lie in these chunks. */
    private static TableDescriptor table(final int depth, final int... chunks)
    {
        return new TableDescriptor("t", TABLE_ID, depth, 1, HASH_SEED,
            Arrays.stream(chunks).mapToLong(chunk -> DirectoryEntry.stable(depth, NODE, chunk(chunk))).toArray());
    }

    private IndexWalk walk(final TableDescriptor table)
    {
        final ChunkView view =
            new ChunkView(new Superblock(NODE, 1, REGION_BYTES, CHUNKS_AT, CHUNK_BYTES, CHUNKS, 64));
        final IndexWalk walk = new IndexWalk(access, port, NODE, view, List.of(table));
        for (int i = 0; i < 1000 && !walk.isDone(); i++)
        {
            walk.poll();
            fabric.step();
        }
        assertThat(walk.isDone()).isTrue();
        return walk;
    }

    @Test
    void shouldMeetWhatLinksLeadTo()
    {
        format(0, 0, 0);
        split(0, 1, 2);
        format(1, 0, 1);
        format(2, 1, 1);
        final IndexWalk walk = walk(table(0, 0));
        assertThat(walk.isComplete()).isTrue();
        assertThat(walk.isInUse(0) && walk.isInUse(1) && walk.isInUse(2)).isTrue();
        assertThat(walk.isInUse(3)).isFalse();
    }

    /** Subtable 0 was split, and its chunk is used for another one of the table, as deep as it was. */
    @Test
    void shouldGiveUpWhereAnotherSubtableOfTheTableLies()
    {
        format(0, 1, 1);
        format(1, 1, 1);
        assertThat(walk(table(1, 0, 1)).isComplete()).isFalse();
    }

    /** A bit of it is another one: what it led to is in use. */
    @Test
    void shouldGiveUpAtADamagedLink()
    {
        format(0, 0, 0);
        memory.putLong(
            chunk(0) + SubtableDescriptor.SPLIT_OFFSET, SplitLink.of(chunk(1), chunk(2)) ^ 1, LITTLE_ENDIAN);
        assertThat(walk(table(0, 0)).isComplete()).isFalse();
    }

    @Test
    void shouldGiveUpWhereAnotherTableLies()
    {
        SubtableDescriptor.write(memory, chunk(0), TABLE_ID + 1, 0, 0, 1, HASH_SEED, 0);
        assertThat(walk(table(0, 0)).isComplete()).isFalse();
    }

    /**
     * Why a list of tables counts only while their version is the one that it was made at: the table's only subtable
     * was split, its chunk came back, and somebody has proposed there to merge what took its place. The header is that
     * of the list, and leads nowhere.
     */
    @Test
    void shouldMissWhatTookThePlaceOfASubtableWhenTheListIsOld()
    {
        format(0, 0, 0);
        format(1, 0, 1);
        format(2, 1, 1);
        final IndexWalk overtaken = walk(table(0, 0));
        assertThat(overtaken.isComplete()).isTrue();
        assertThat(overtaken.isInUse(1) || overtaken.isInUse(2)).isFalse();

        final IndexWalk fresh = walk(table(1, 1, 2));
        assertThat(fresh.isComplete()).isTrue();
        assertThat(fresh.isInUse(1) && fresh.isInUse(2)).isTrue();
    }
}
