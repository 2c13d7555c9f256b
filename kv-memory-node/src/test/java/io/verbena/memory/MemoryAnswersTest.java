package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.format.ChunkDescriptor;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A node is cut off before its memory is up for reclamation, never the other way round. */
class MemoryAnswersTest
{
    private static final int LENGTH = 1 << 16;
    private static final PeerIdentity META_SERVER = PeerIdentity.META_SERVER;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);

    private final MemorySegment region =
        Arena.ofAuto().allocate(4096 + 8L * (LENGTH + ChunkDescriptor.HEADER_BYTES), 4096);
    private final ChunkTable chunks =
        new ChunkTable(4096, LENGTH, 8, new ChunkHeaders(region, 4096 + 8L * LENGTH, 8));
    private final List<Integer> orphansWhenCutOff = new ArrayList<>();

    @Test
    void shouldCutOffBeforeAnythingOfItIsUpForReclamation()
    {
        final MemoryAnswers answers = answers((identity) -> orphansWhenCutOff.add(chunks.orphanCount()));
        answers.leaseChunks(ANN, 1, ChunkPurpose.BLOCKS, 2, false);

        answers.fence(META_SERVER, ANN);

        assertThat(orphansWhenCutOff).containsExactly(0);
        assertThat(chunks.orphanCount()).isEqualTo(2);
    }

    @Test
    void shouldLeaveEverythingAsItWasWhenItCannotBeCutOffYet()
    {
        final MemoryAnswers answers = answers((identity) ->
        {
            throw new RdmaException("a stopped requester is inside the region");
        });
        answers.leaseChunks(ANN, 1, ChunkPurpose.BLOCKS, 2, false);

        assertThatThrownBy(() -> answers.fence(META_SERVER, ANN)).isInstanceOf(RdmaException.class);

        assertThat(chunks.orphanCount()).isZero();
        assertThat(answers.claimChunks(BEN, chunks.lease(ANN, 1, ChunkPurpose.BLOCKS, 2, false))).isEmpty();
    }

    @Test
    void shouldRefuseReclamationByNobody()
    {
        final MemoryAnswers answers = answers((identity) -> { });

        assertThatThrownBy(() -> answers.claimChunks(META_SERVER, List.of())).isInstanceOf(ControlException.class);
        assertThatThrownBy(() -> answers.adoptChunks(META_SERVER, List.of())).isInstanceOf(ControlException.class);
        assertThatThrownBy(() -> answers.fence(BEN, ANN)).isInstanceOf(ControlException.class);
        assertThat(answers.forbiddenRequests()).isEqualTo(1);
        assertThatThrownBy(() -> answers.fence(META_SERVER, PeerIdentity.CLIENT))
            .isInstanceOf(ControlException.class).hasMessageContaining("only registered nodes");
    }

    private MemoryAnswers answers(final MemoryAnswers.Fence fence)
    {
        return new MemoryAnswers(region.byteSize(), LENGTH, chunks, fence, () -> null);
    }
}
