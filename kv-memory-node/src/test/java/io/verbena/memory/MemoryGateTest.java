package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.sim.SimWorld;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.table.format.ChunkDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who may bring the leases of a group to this memory node, and whose they are. */
class MemoryGateTest
{
    private static final int LENGTH = 1 << 16;
    private static final int CHUNKS = 4;
    private static final long HEADERS = 4096 + (long)CHUNKS * LENGTH;
    private static final int INCARNATION = 20;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 10);
    private static final PeerIdentity ENDED_BEFORE = new PeerIdentity(8, 11);
    private static final View FIRST = View.first(7, List.of(new PeerIdentity(1, 1), new PeerIdentity(2, 2)));
    private static final View CLOSING = FIRST.filling(new PeerIdentity(3, INCARNATION), ANN).filled();
    private static final ViewAttempt ATTEMPT = ViewAttempt.of(CLOSING);

    private final SimWorld world = new SimWorld(1, new SimFabricOptions());
    private final RaasContext raas = RaasContext.open(world.addNode("memory").device(), new RaasConfiguration());
    private final MemoryRegion region = raas.protectionDomain().allocateRegistered(
        HEADERS + CHUNKS * ChunkDescriptor.HEADER_BYTES, AccessFlags.LOCAL_WRITE);
    private final ChunkTable chunks =
        new ChunkTable(4096, LENGTH, CHUNKS, new ChunkHeaders(region.segment(), HEADERS, CHUNKS));
    private final MemoryAnswers answers =
        new MemoryAnswers(region.segment(), LENGTH, chunks, this::fence, this::views);
    private final MemoryGate gate = new MemoryGate(raas, region, 2, answers, null, () -> "joining");

    private void fence(final PeerIdentity identity)
    {
        gate.fence(identity);
    }

    private MemoryAnswers.Views views()
    {
        return gate;
    }

    @AfterEach
    void close()
    {
        gate.close();
        world.close();
    }

    private void enter(final PeerIdentity caller, final ViewAttempt attempt, final int index)
    {
        answers.enterLease(caller, attempt, new EnteredLease(
            new MirroredChunk(7, 1, index, LENGTH, 3), EnteredLease.BLOCKS, 9, caller, null));
    }

    private void enter(final PeerIdentity caller, final int index, final PeerIdentity owner)
    {
        answers.enterLease(caller, ATTEMPT, new EnteredLease(
            new MirroredChunk(7, 1, index, LENGTH, 3), EnteredLease.BLOCKS, 9, owner, null));
    }

    private void shouldBeRefused(final PeerIdentity caller)
    {
        for (final Runnable call : List.<Runnable>of(() -> enter(caller, 1, ANN),
            () -> answers.releaseLeases(caller, ATTEMPT), () -> answers.reconcilerKey(caller, ATTEMPT)))
        {
            assertThatThrownBy(call::run).isInstanceOfSatisfying(ControlException.class,
                (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.UNAVAILABLE))
                .hasMessageContaining(caller.toString());
        }
    }

    @Test
    void shouldTakeLeasesFromWhoIsNamedWhileItIsLetIn()
    {
        gate.close(CLOSING);
        shouldBeRefused(ANN);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        shouldBeRefused(BEN);
        enter(ANN, 1, ANN);
        assertThat(chunks.blockCount()).isEqualTo(1);
        answers.fence(PeerIdentity.META_SERVER, ANN);
        shouldBeRefused(ANN);
        assertThat(chunks.orphanCount()).isEqualTo(1);
    }

    /** Its keys may stay for a while, since a requester that stopped may be inside. */
    @Test
    void shouldLetNobodyInOnceItIsToBeClosed()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        gate.close(CLOSING);
        assertThat(gate.isAdmitted(ANN)).isTrue();
        gate.beginToClose(5);
        assertThat(gate.isClosing()).isTrue();
        assertThat(gate.isDue(4)).isFalse();
        assertThat(gate.isDue(5)).isTrue();
        assertThat(gate.isAdmitted(ANN)).isFalse();
        shouldBeRefused(ANN);
    }

    /** Of a node and its earlier lives. */
    @Test
    void shouldLetNobodyInWhoWasFenced()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        gate.close(CLOSING);
        assertThat(gate.name(ANN, List.of())).as("what it has not left").hasSize(1);
        gate.fence(new PeerIdentity(5, 51));
        gate.fence(ANN);
        assertThat(gate.isAdmitted(ANN)).isFalse();
        assertThat(gate.name(ANN, List.of())).as("nothing that it has to hear of").isEmpty();
        assertThat(gate.isAdmitted(new PeerIdentity(5, 51))).as("fenced before").isFalse();
        assertThat(gate.isAdmitted(new PeerIdentity(5, 52))).isTrue();
        assertThat(gate.isAdmitted(BEN)).isTrue();
    }

    @Test
    void shouldTakeNoLeasesBeforeTheViewIsClosedAndInTheNextAttempt()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        shouldBeRefused(ANN);
        gate.close(CLOSING);
        enter(ANN, 1, ANN);
        gate.close(CLOSING.closing(1, ANN));
        shouldBeRefused(ANN);
        assertThat(chunks.blockCount()).isEqualTo(1);
        shouldKeepItsLeases(new ViewAttempt(7, 1, 3));
    }

    /** Beside the work nothing is freed: what is written there late must not land in memory of somebody else. */
    @Test
    void shouldTakeLeasesAndReleaseNoneFromWhoFillsIt()
    {
        final View filling = FIRST.filling(new PeerIdentity(3, INCARNATION), ANN);
        final ViewAttempt attempt = ViewAttempt.of(filling);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        enterRefused(ANN, attempt);
        answers.fillView(PeerIdentity.META_SERVER, filling);
        answers.fillView(PeerIdentity.META_SERVER, filling);
        enterRefused(BEN, attempt);
        enterRefused(ANN, new ViewAttempt(7, 1, 2));
        enter(ANN, attempt, 1);
        assertThat(chunks.blockCount()).isEqualTo(1);
        assertThatThrownBy(() -> answers.releaseLeases(ANN, attempt)).isInstanceOf(ControlException.class);
        assertThatThrownBy(() -> answers.reconcilerKey(ANN, attempt)).isInstanceOf(ControlException.class);

        final View again = filling.filling(filling.entering(), BEN);
        answers.fillView(PeerIdentity.META_SERVER, again);
        enterRefused(ANN, attempt);
        enter(BEN, ViewAttempt.of(again), 1);
        assertThatThrownBy(() -> answers.fillView(PeerIdentity.META_SERVER, filling)).as("an earlier one")
            .isInstanceOf(ControlException.class).hasMessageContaining("a later record is known here");

        gate.close(again.filled());
        enterRefused(BEN, ViewAttempt.of(again));
        enter(BEN, ViewAttempt.of(again.filled()), 2);
        assertThatThrownBy(() -> answers.fillView(PeerIdentity.META_SERVER, again)).as("it is closed")
            .isInstanceOf(ControlException.class);
    }

    /** A member's request that is late: the chunk would be free while pages are written there. */
    @Test
    void shouldReturnNothingWhileItIsFilled()
    {
        final View filling = FIRST.filling(new PeerIdentity(3, INCARNATION), ANN);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        answers.fillView(PeerIdentity.META_SERVER, filling);
        enter(ANN, ViewAttempt.of(filling), 1);
        final MirroredChunk chunk = new MirroredChunk(7, 1, 1, LENGTH, 3);
        shouldBeLate(ANN, chunk);
        gate.close(filling.filled());
        shouldBeLate(ANN, chunk);
        gate.name(ANN, List.of(new LeftView(7, 1)));
        shouldReturn(ANN, chunk);
    }

    private void shouldBeLate(final PeerIdentity caller, final MirroredChunk chunk)
    {
        final int taken = chunks.blockCount();
        for (final MirrorAction action : MirrorAction.values())
        {
            assertThatThrownBy(() -> answers.mirrorChunk(caller, action, chunk, ChunkPurpose.BLOCKS, 0))
                .isInstanceOfSatisfying(ControlException.class,
                    (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.UNAVAILABLE))
                .hasMessageContaining("the leases of group 7 are not changed for " + caller);
        }
        assertThat(chunks.blockCount()).isEqualTo(taken);
    }

    private void shouldReturn(final PeerIdentity caller, final MirroredChunk chunk)
    {
        assertThat(answers.mirrorChunk(caller, MirrorAction.RETURN, chunk, ChunkPurpose.BLOCKS, 0).outcome())
            .isEqualTo(MirrorAnswer.Outcome.DONE);
        assertThat(chunks.blockCount()).isZero();
    }

    /**
     * A survivor, too: its chunk would be free, and soon another node's, while who makes the copies equal writes there
     * what the source has.
     */
    @Test
    void shouldReturnNothingInAViewThatItHasClosed()
    {
        final MirroredChunk chunk = new MirroredChunk(7, 1, 1, LENGTH, 3);
        final MirroredChunk ofAnotherGroup = new MirroredChunk(8, 1, 2, LENGTH, 3);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(ANN, BEN)));
        answers.mirrorChunk(ANN, MirrorAction.RECORD, chunk, ChunkPurpose.BLOCKS, 9);
        answers.mirrorChunk(ANN, MirrorAction.RECORD, ofAnotherGroup, ChunkPurpose.BLOCKS, 10);
        gate.close(FIRST.closing(1, BEN));
        shouldBeLate(ANN, chunk);
        gate.name(BEN, List.of(new LeftView(7, 1)));
        gate.name(ANN, List.of(new LeftView(8, 1)));
        shouldBeLate(ANN, chunk);
        answers.mirrorChunk(ANN, MirrorAction.RETURN, ofAnotherGroup, ChunkPurpose.BLOCKS, 0);
        assertThat(chunks.blockCount()).isEqualTo(1);
        gate.name(ANN, List.of(new LeftView(7, 1)));
        shouldReturn(ANN, chunk);
    }

    @Test
    void shouldBeFilledAsTheMetaServerSaysAndUnderItsIncarnation()
    {
        final View filling = FIRST.filling(new PeerIdentity(3, INCARNATION + 1), ANN);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        assertThatThrownBy(() -> answers.fillView(ANN, filling)).hasMessageContaining("only the meta server may");
        assertThatThrownBy(() -> answers.fillView(PeerIdentity.META_SERVER, FIRST))
            .hasMessageContaining("fills no memory node");
        answers.fillView(PeerIdentity.META_SERVER, filling);
        enterRefused(ANN, ViewAttempt.of(filling));
    }

    /** It may have a connection still, and another node may fill already. */
    @Test
    void shouldNotBeFilledByWhoWasFenced()
    {
        final View filling = FIRST.filling(new PeerIdentity(3, INCARNATION), ANN);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        answers.fillView(PeerIdentity.META_SERVER, filling);
        enter(ANN, ViewAttempt.of(filling), 1);
        answers.fence(PeerIdentity.META_SERVER, ANN);
        enterRefused(ANN, ViewAttempt.of(filling));
    }

    /** Nor by anybody before it knows who it is, or once it is to be closed. */
    @Test
    void shouldNotBeFilledWhileNobodyIsLetIn()
    {
        final View filling = FIRST.filling(new PeerIdentity(3, INCARNATION), ANN);
        answers.fillView(PeerIdentity.META_SERVER, filling);
        enterRefused(ANN, ViewAttempt.of(filling));
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        enter(ANN, ViewAttempt.of(filling), 1);
        gate.beginToClose(5);
        enterRefused(ANN, ViewAttempt.of(filling));
    }

    /** Before who makes copies equal can write, the checkpointer has to see that it may. */
    @Test
    void shouldCountAChangeWithEachKeyToMakeCopiesEqual()
    {
        final GroupCoverage coverage = new GroupCoverage();
        gate.cover(coverage);
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        gate.close(CLOSING);
        assertThat(coverage.awaitsView()).isTrue();
        assertThat(coverage.changes(7)).as("closed is as it was").isZero();
        assertThat(gate.reconcilerKey(BEN, ATTEMPT)).isNull();
        assertThat(coverage.changes(7)).isZero();
        gate.reconcilerKey(ANN, ATTEMPT);
        assertThat(coverage.changes(7)).isEqualTo(1);
        gate.reconcilerKey(ANN, ATTEMPT);
        assertThat(coverage.changes(7)).isEqualTo(2);
        assertThat(coverage.changes(8)).isZero();
    }

    /** The change is counted before anything that lets somebody write, so that it is seen if that is. */
    @Test
    void shouldCountAChangeBeforeAnybodyMayWrite()
    {
        final List<String> steps = new ArrayList<>();
        gate.cover(new GroupCoverage()
        {
            @Override
            void changed(final int group, final long number)
            {
                final ViewAttempt filling = ViewAttempt.of(FIRST.filling(new PeerIdentity(3, INCARNATION), ANN));
                steps.add(group + " in view " + number + (gate.mayEnterLeases(ANN, filling) ? ": late" : ""));
                throw new IllegalStateException("counted");
            }

            @Override
            void lost()
            {
                steps.add("lost" + (gate.isClosing() ? ": late" : ""));
            }
        });
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        assertThatThrownBy(() -> gate.fill(FIRST.filling(new PeerIdentity(3, INCARNATION), ANN)))
            .hasMessage("counted");
        gate.close(CLOSING);
        assertThatThrownBy(() -> gate.reconcilerKey(ANN, ATTEMPT)).as("before it has a key").hasMessage("counted");
        assertThat(gate.reconcilerKeys()).isZero();
        gate.beginToClose(5);
        assertThat(steps).containsExactly("7 in view 1", "7 in view 1", "lost");
    }

    private void enterRefused(final PeerIdentity caller, final ViewAttempt attempt)
    {
        assertThatThrownBy(() -> enter(caller, attempt, 1)).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.UNAVAILABLE));
    }

    /** Whoever is named may write to a member, but what the member has recorded stays. */
    @Test
    void shouldKeepTheLeasesOfAMember()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        gate.close(CLOSING);
        enter(ANN, 1, ANN);
        final View next = CLOSING.reconciling().next();
        gate.close(next.closing(1, ANN));
        shouldKeepItsLeases(new ViewAttempt(7, 2, 1));
        gate.close(next.closing(1, ANN).reconciling().next()
            .filling(new PeerIdentity(9, INCARNATION + 1), ANN).filled());
        shouldKeepItsLeases(new ViewAttempt(7, 3, 2));
        assertThat(answers.reconcilerKey(ANN, new ViewAttempt(7, 3, 2)).lengthBytes())
            .isEqualTo(region.segment().byteSize());
    }

    private void shouldKeepItsLeases(final ViewAttempt attempt)
    {
        assertThatThrownBy(() -> answers.releaseLeases(ANN, attempt)).isInstanceOf(ControlException.class)
            .hasMessageContaining("does not come in");
        assertThat(chunks.blockCount()).isEqualTo(1);
    }

    /** Their ends were reported before the leases come, if at all. */
    @Test
    void shouldLeaveBehindWhatIsOfNodesThatHaveEnded()
    {
        gate.admit(new ComputeAdmission(INCARNATION, Set.of(BEN)));
        gate.close(CLOSING);
        enter(ANN, 0, BEN);
        assertThat(chunks.blockChunksByOwner()).containsOnlyKeys(BEN);
        answers.fence(PeerIdentity.META_SERVER, BEN);
        enter(ANN, 1, BEN);
        enter(ANN, 2, ENDED_BEFORE);
        enter(ANN, 3, ANN);
        assertThat(chunks.orphanCount()).isEqualTo(3);
        assertThat(chunks.state(3)).isEqualTo(ChunkDescriptor.STATE_BLOCKS);
    }
}
