package io.verbena.compute.group;

import io.verbena.compute.MemoryRig;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.failure.Backoff;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

class GroupSweepTest
{
    private static final int GROUP = 9;
    private static final int CHUNKS = 4;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final PeerIdentity OWN = new PeerIdentity(3, 7);
    private static final PeerIdentity OTHER = new PeerIdentity(4, 8);

    private final MemoryRig rig = new MemoryRig();
    private final GroupChunks chunks = new GroupChunks(rig.engine, GROUP, rig.parts.numbers(), 1_000,
        () -> new Backoff(1, 2, new SplittableRandom(1)), 0);
    private final GroupSweep sweep = new GroupSweep(GROUP, OWN, () -> 100, () -> 0);
    private final ChunkView head = view();
    private final ChunkView primary = view();
    private final Deque<MirroredChunk> refusing = new ArrayDeque<>();
    private final Deque<MirroredChunk> claiming = new ArrayDeque<>();
    private final Int2ObjectHashMap<MirroredChunk> indexes = new Int2ObjectHashMap<>();

    @AfterEach
    void close()
    {
        rig.close();
    }

    private static ChunkView view()
    {
        final long headers = SuperblockDescriptor.SPACE_BYTES + (long)CHUNKS * CHUNK_BYTES;
        return new ChunkView(new Superblock(1, 1, headers + CHUNKS * (long)ChunkDescriptor.HEADER_BYTES,
            SuperblockDescriptor.SPACE_BYTES, CHUNK_BYTES, CHUNKS, headers));
    }

    private static void show(
        final ChunkView at, final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper,
        final long count)
    {
        final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));
        ChunkDescriptor.write(header, 0, state, null == owner ? 0 : owner.nodeId(),
            null == owner ? 0 : owner.incarnation(), null == reaper ? 0 : reaper.nodeId(),
            null == reaper ? 0 : reaper.incarnation(), 1, 1, GROUP, 2, count);
        assertThat(at.read(index, header, 0)).isTrue();
    }

    private void showBoth(final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper)
    {
        show(head, index, state, owner, reaper, 5);
        show(primary, index, state, owner, reaper, 5);
    }

    private static MirroredChunk lease(final int index, final long count)
    {
        return new MirroredChunk(GROUP, 2, index, CHUNK_BYTES, count);
    }

    private void find()
    {
        refusing.clear();
        claiming.clear();
        indexes.clear();
        sweep.find(List.of(head, primary), chunks, refusing, claiming, indexes);
    }

    @Test
    void shouldRefuseWhatMembersShowDifferently()
    {
        show(head, 1, ChunkDescriptor.STATE_ORPHAN, OTHER, null, 5);
        find();
        assertThat(refusing).containsExactly(lease(1, 5));
        assertThat(claiming).isEmpty();
    }

    @Test
    void shouldClaimWhatIsLeftEverywhereUnlessAnotherNodeHas()
    {
        showBoth(0, ChunkDescriptor.STATE_ORPHAN, OTHER, null);
        showBoth(1, ChunkDescriptor.STATE_ORPHAN, OTHER, OWN);
        showBoth(2, ChunkDescriptor.STATE_ORPHAN, OTHER, OTHER);
        find();
        assertThat(claiming).containsExactly(lease(0, 5), lease(1, 5));
        assertThat(refusing).isEmpty();
    }

    @Test
    void shouldJudgeAnIndexThatIsLeftOnceAndWhenAsked()
    {
        showBoth(0, ChunkDescriptor.STATE_INDEX, null, null);
        find();
        assertThat(indexes.values()).containsExactly(lease(0, 5));
        find();
        assertThat(indexes).isEmpty();
        sweep.askIndexes();
        find();
        assertThat(indexes.values()).containsExactly(lease(0, 5));
    }

    @Test
    void shouldClaimHalfOfItsOwnWhenAskedAndThenTheRest()
    {
        showBoth(0, ChunkDescriptor.STATE_BLOCKS, OWN, null);
        showBoth(1, ChunkDescriptor.STATE_BLOCKS, OWN, null);
        showBoth(2, ChunkDescriptor.STATE_BLOCKS, OTHER, null);
        find();
        assertThat(claiming).isEmpty();
        assertThat(sweep.isWanted()).isFalse();
        sweep.ask();
        find();
        assertThat(claiming).containsExactly(lease(0, 5));
        assertThat(sweep.isWanted()).isTrue();
        find();
        assertThat(claiming).containsExactly(lease(1, 5));
        find();
        assertThat(claiming).isEmpty();
        assertThat(sweep.isWanted()).isFalse();
    }

    @Test
    void shouldClaimAgainWhatItsOwnClaimWasCutOffAt()
    {
        show(head, 0, ChunkDescriptor.STATE_ORPHAN, OWN, OWN, 5);
        show(primary, 0, ChunkDescriptor.STATE_BLOCKS, OWN, null, 5);
        show(head, 1, ChunkDescriptor.STATE_ORPHAN, OWN, null, 5);
        show(primary, 1, ChunkDescriptor.STATE_BLOCKS, OTHER, null, 5);
        find();
        assertThat(claiming).containsExactly(lease(0, 5));
    }

    @Test
    void shouldJudgeOwnIndexesThatAreNotUnderWay()
    {
        showBoth(0, ChunkDescriptor.STATE_INDEX, OWN, null);
        showBoth(1, ChunkDescriptor.STATE_INDEX, OWN, null);
        showBoth(2, ChunkDescriptor.STATE_INDEX, OTHER, null);
        chunks.retire(lease(1, 5), 100);
        sweep.askIndexes();
        find();
        assertThat(indexes.values()).containsExactly(lease(0, 5));
    }
}
