package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RemoteRegion;
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

    /** As reconciling is up to one node and one attempt, so is what a group brings along. */
    @Test
    void shouldTakeLeasesOfAGroupOnlyFromWhoIsNamed()
    {
        final ViewAttempt attempt = new ViewAttempt(7, 4, 2);
        final MemoryAnswers answers = new MemoryAnswers(
            region.byteSize(), LENGTH, chunks, (identity) -> { }, () -> new NamedOnly(ANN, attempt));
        final EnteredLease lease = new EnteredLease(
            new MirroredChunk(7, 2, 1, LENGTH, 3), EnteredLease.BLOCKS, 9, BEN, null);
        for (final ViewAttempt other : List.of(new ViewAttempt(7, 4, 1), new ViewAttempt(7, 3, 2),
            new ViewAttempt(8, 4, 2)))
        {
            shouldBeRefused(() -> answers.enterLease(ANN, other, lease), ControlStatus.UNAVAILABLE, other.toString());
        }
        shouldBeRefused(() -> answers.enterLease(BEN, attempt, lease), ControlStatus.UNAVAILABLE, "node 6");
        shouldBeRefused(() -> answers.enterLease(META_SERVER, attempt, lease), ControlStatus.UNKNOWN_NODE, "register");
        assertThat(chunks.freeCount()).isEqualTo(8);
        answers.enterLease(ANN, attempt, lease);
        assertThat(chunks.orphanCount()).as("its owner is not admitted").isEqualTo(1);
        answers.enterLease(ANN, attempt, new EnteredLease(
            new MirroredChunk(7, 2, 2, LENGTH, 3), EnteredLease.BLOCKS, 9, ANN, null));
        assertThat(chunks.blockCount()).isEqualTo(1);

        shouldBeRefused(() -> answers.releaseLeases(BEN, attempt), ControlStatus.UNAVAILABLE, "node 6");
        shouldBeRefused(() -> answers.releaseLeases(ANN, new ViewAttempt(7, 4, 1)), ControlStatus.UNAVAILABLE,
            "attempt=1");
        shouldBeRefused(() -> answers.releaseLeases(META_SERVER, attempt), ControlStatus.UNKNOWN_NODE, "register");
        assertThat(chunks.freeCount()).isEqualTo(6);
        answers.releaseLeases(ANN, attempt);
        assertThat(chunks.freeCount()).as("both were entered").isEqualTo(6);
    }

    private static void shouldBeRefused(final Runnable call, final ControlStatus status, final String text)
    {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(status)).hasMessageContaining(text);
    }

    /** One node is admitted, and named for one attempt. */
    private record NamedOnly(PeerIdentity named, ViewAttempt attempt) implements MemoryAnswers.Views
    {
        @Override
        public boolean close(final View view)
        {
            return true;
        }

        @Override
        public List<LeftView> name(final PeerIdentity node, final List<LeftView> left)
        {
            return List.of();
        }

        @Override
        public RemoteRegion reconcilerKey(final PeerIdentity node, final ViewAttempt of)
        {
            return null;
        }

        @Override
        public boolean mayChangeLeases(final PeerIdentity node, final ViewAttempt of)
        {
            return isAdmitted(node) && attempt.equals(of);
        }

        @Override
        public boolean isAdmitted(final PeerIdentity node)
        {
            return named.equals(node);
        }
    }

    private MemoryAnswers answers(final MemoryAnswers.Fence fence)
    {
        return new MemoryAnswers(region.byteSize(), LENGTH, chunks, fence, () -> null);
    }
}
