package io.verbena.table.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;
import java.lang.foreign.Arena;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Groups of memory nodes, and what the chunk headers of members that differ say. */
class MirrorGroupTest
{
    private static final MirrorGroup GROUP = new MirrorGroup(7, List.of(5, 9, 3));
    private static final int CHUNKS = 4;

    private final UnsafeBuffer header = new UnsafeBuffer(Arena.ofAuto().allocate(64, 64).address(), 64);

    private static Superblock superblock(final int id, final long at, final int lengthBytes, final int count)
    {
        return new Superblock(id, 1, 1 << 20, at, lengthBytes, count, 1 << 19);
    }

    private static Superblock superblock(final int id)
    {
        return superblock(id, 4096, 65_536, CHUNKS);
    }

    private ChunkView member()
    {
        final ChunkView view = new ChunkView(superblock(1));
        for (int i = 0; i < CHUNKS; i++)
        {
            ChunkDescriptor.write(header, 0, ChunkDescriptor.STATE_FREE, 0, 0, 0, 0, 0, 0);
            view.read(i, header, 0);
        }
        return view;
    }

    private void lease(final ChunkView view, final int index, final int state, final int owner, final long count)
    {
        ChunkDescriptor.write(header, 0, state, owner, 1, 0, 0, 1, 1, 7, 2, count);
        assertThat(view.read(index, header, 0)).isTrue();
    }

    @Test
    void shouldKnowItsMembersAndTheOrderInWhichTheyAreAsked()
    {
        assertThat(GROUP.head()).isEqualTo(5);
        assertThat(GROUP.primary()).isEqualTo(3);
        assertThat(GROUP.askingOrder()).containsExactly(3, 5, 9);
        GROUP.check(List.of(superblock(5), superblock(9), superblock(3)));
    }

    @Test
    void shouldRefuseWhatNoGroupIs()
    {
        for (final List<Integer> wrong : List.of(
            List.<Integer>of(), List.of(1, 2, 1), List.of(0), List.of(65_536), List.of(1, 2, 3, 4, 5, 6, 7, 8, 9)))
        {
            assertThatThrownBy(() -> new MirrorGroup(7, wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new MirrorGroup(0, List.of(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MirrorGroup(65_536, List.of(1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldNameTheMemberThatDiffersAndHow()
    {
        assertRefused(superblock(3, 8192, 65_536, CHUNKS),
            "memory node 3 has its first chunk at offset 8192 bytes, memory node 5 has 4096; start all members");
        assertRefused(superblock(3, 4096, 1 << 17, CHUNKS), "memory node 3 has chunks of 131072 bytes");
        assertRefused(superblock(3, 4096, 65_536, 5), "memory node 3 has 5 chunks, memory node 5 has 4");
        assertRefused(superblock(4), "found the memory of node 4 where that of member 3 is wanted");
        assertThatThrownBy(() -> GROUP.check(List.of(superblock(5)))).isInstanceOf(FormatException.class)
            .hasMessageContaining("has 3 members, not 1");
    }

    private static void assertRefused(final Superblock last, final String why)
    {
        assertThatThrownBy(() -> GROUP.check(List.of(superblock(5), superblock(9), last)))
            .isInstanceOf(FormatException.class).hasMessageContaining("group 7").hasMessageContaining(why);
    }

    @Test
    void shouldFindWhatIsLeftOnAllMembersAndWhatIsLeftOnSome()
    {
        final ChunkView one = member();
        final ChunkView other = member();
        lease(one, 0, ChunkDescriptor.STATE_BLOCKS, 4, 1); // in use, or being leased
        lease(one, 1, ChunkDescriptor.STATE_ORPHAN, 4, 1); // on all
        lease(other, 1, ChunkDescriptor.STATE_ORPHAN, 6, 1);
        lease(one, 2, ChunkDescriptor.STATE_INDEX, 0, 5); // on one, the other shows an earlier lease
        lease(other, 2, ChunkDescriptor.STATE_INDEX, 0, 4);
        lease(other, 3, ChunkDescriptor.STATE_ORPHAN, 4, 1); // its node has not ended at the first yet
        lease(one, 3, ChunkDescriptor.STATE_BLOCKS, 4, 1);

        assertThat(LeftChunk.find(7, List.of(one, other))).containsExactly(
            new LeftChunk(1, 2, 1, true), new LeftChunk(2, 2, 5, false));
        assertThat(LeftChunk.find(8, List.of(one, other))).isEmpty();
        assertThat(LeftChunk.find(7, List.of(other, member()))).extracting(LeftChunk::index).containsExactly(1, 2, 3);
    }

    @Test
    void shouldKeepChunksOfGroupsFromSweepsOfSingleNodes()
    {
        final ChunkView view = member();
        lease(view, 0, ChunkDescriptor.STATE_BLOCKS, 4, 1);
        lease(view, 1, ChunkDescriptor.STATE_ORPHAN, 4, 1);
        lease(view, 2, ChunkDescriptor.STATE_INDEX, 0, 1);
        assertThat(view.isOwned(0, ChunkDescriptor.STATE_BLOCKS, 4, 1)).isFalse();
        assertThat(view.isClaimable(1, 6, 1)).isFalse();
        assertThat(view.isLeftBehind(1)).isFalse();
        assertThat(view.isIndexOfNobody(2)).isFalse();
        assertThat(view.hasClosed()).as("blocks of it are given out by nobody").isTrue();
    }
}
