package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.PageChecksumsDescriptor;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.table.format.ChunkDescriptor;
import net.openhft.hashing.LongTupleHashFunction;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A node is cut off before its memory is up for reclamation, never the other way round. */
class MemoryAnswersTest
{
    private static final int LENGTH = 1 << 16;
    private static final int PAGE = PageChecksumsDescriptor.PAGE_BYTES;
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
            region, LENGTH, chunks, (identity) -> { }, () -> new NamedOnly(ANN, attempt));
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

    /** Of each page by itself, and of no byte behind the range. */
    @Test
    void shouldCalculateChecksumsOfItsMemory()
    {
        final MemoryAnswers answers = answers((identity) -> { });
        final Random random = new Random(3);
        for (long at = 0; at < region.byteSize(); at++)
        {
            region.set(ValueLayout.JAVA_BYTE, at, (byte)random.nextInt());
        }
        final long offset = PAGE;
        final long[] checksums = new long[2 * PageChecksumsDescriptor.MAX_PAGES];
        for (final int lengthBytes : new int[]{1, PAGE - 1, PAGE, PAGE + 1, 7 * PAGE, 8 * LENGTH})
        {
            Arrays.fill(checksums, -1);
            answers.pageChecksums(ANN, offset, lengthBytes, 77, checksums);
            final int pages = (lengthBytes + PAGE - 1) / PAGE;
            for (int page = 0; page < pages; page++)
            {
                final byte[] bytes = region.asSlice(
                    offset + (long)page * PAGE, Math.min(PAGE, lengthBytes - page * PAGE))
                    .toArray(ValueLayout.JAVA_BYTE);
                final long[] halves = LongTupleHashFunction.xx128(77).hashBytes(bytes);
                assertThat(Arrays.copyOfRange(checksums, 2 * page, 2 * page + 2)).as("page %d of %d", page, pages)
                    .containsExactly(halves);
            }
            assertThat(Arrays.stream(checksums).skip(2L * pages).allMatch((half) -> half == -1)).isTrue();
        }
    }

    @Test
    void shouldCalculateOtherChecksumsWithAnotherSeedAndOfOtherBytes()
    {
        final MemoryAnswers answers = answers((identity) -> { });
        final Set<Long> seen = new HashSet<>();
        final long[] checksums = new long[2 * PageChecksumsDescriptor.MAX_PAGES];
        for (int seed = 0; seed < 50; seed++)
        {
            answers.pageChecksums(ANN, PAGE, 2 * PAGE, seed, checksums);
            assertThat(checksums[0]).as("pages of zeros").isEqualTo(checksums[2]);
            assertThat(checksums[1]).isEqualTo(checksums[3]);
            assertThat(seen.add(checksums[0]) && seen.add(checksums[1])).isTrue();
        }
        for (final long at : new long[]{PAGE, PAGE + 2_048, 2 * PAGE - 1})
        {
            region.set(ValueLayout.JAVA_BYTE, at, (byte)1);
            answers.pageChecksums(ANN, PAGE, 2 * PAGE, 7, checksums);
            assertThat(seen.add(checksums[0]) && seen.add(checksums[1])).as("changed at %d", at).isTrue();
            assertThat(seen.contains(checksums[2]) && seen.contains(checksums[3])).isTrue();
        }
    }

    @Test
    void shouldRefuseChecksumsOfOtherMemoryAndToNobody()
    {
        final MemoryAnswers answers = answers((identity) -> { });
        final long[] checksums = new long[2 * PageChecksumsDescriptor.MAX_PAGES];
        final long end = region.byteSize() / PAGE * PAGE;
        answers.pageChecksums(ANN, end, (int)(region.byteSize() - end), 1, checksums);
        shouldBeRefused(() -> answers.pageChecksums(ANN, end, (int)(region.byteSize() - end) + 1, 1, checksums),
            ControlStatus.INVALID_REQUEST, "offset=" + end + " lengthBytes=513 are not inside the memory of ");
        for (final long offset : new long[]{-PAGE, end + PAGE, Long.MAX_VALUE, Long.MIN_VALUE})
        {
            shouldBeRefused(() -> answers.pageChecksums(ANN, offset, 1, 1, checksums), ControlStatus.INVALID_REQUEST,
                "offset=" + offset);
        }
        shouldBeRefused(() -> answers.pageChecksums(ANN, PAGE, 0, 1, checksums), ControlStatus.INVALID_REQUEST,
            "lengthBytes=0");
        shouldBeRefused(() -> answers.pageChecksums(META_SERVER, PAGE, PAGE, 1, checksums), ControlStatus.UNKNOWN_NODE,
            "register");
        shouldBeRefused(() -> answers.pageChecksums(BEN, PAGE, PAGE, 1, checksums), ControlStatus.FORBIDDEN,
            "it was fenced");
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
        public boolean fill(final View view)
        {
            return 1 == view.attempt();
        }

        @Override
        public boolean isLate(final PeerIdentity node, final int group)
        {
            return false;
        }

        @Override
        public boolean mayEnterLeases(final PeerIdentity node, final ViewAttempt of)
        {
            return mayReleaseLeases(node, of);
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
        public boolean mayReleaseLeases(final PeerIdentity node, final ViewAttempt of)
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
        return new MemoryAnswers(
            region, LENGTH, chunks, fence, () -> new NamedOnly(ANN, new ViewAttempt(7, 1, 1)));
    }
}
