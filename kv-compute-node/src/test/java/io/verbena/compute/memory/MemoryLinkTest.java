package io.verbena.compute.memory;

import io.verbena.compute.MemoryRig;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.view.KnownViews;
import io.verbena.protocol.view.View;
import io.verbena.raas.BatchListener;
import io.verbena.raas.OneSidedPort;
import io.verbena.raas.directory.PeerListing;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLinkTest
{
    private static final long SECOND_NS = 1_000_000_000;
    private static final long LONGEST_PAUSE_NS = 128_000_000;
    private static final PeerIdentity OTHER = new PeerIdentity(8, 8);

    private final MemoryRig rig = new MemoryRig();

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldTryAgainAfterPausesThatGrow()
    {
        final MemoryLink link = rig.connect();
        final Set<Long> attempts = new LinkedHashSet<>();
        rig.meta.run((nowNs) ->
        {
            assertThat(link.retryAtNs()).as("an attempt that was due").isGreaterThan(nowNs - SECOND_NS / 100);
            attempts.add(link.retryAtNs());
            return 0;
        });
        rig.meta.runFor(SECOND_NS);
        assertThat(link.failure()).contains("not registered").contains("nodeId=2");
        assertThat(attempts).as("in one second").hasSizeBetween(8, 24);

        rig.register();
        rig.meta.runFor(LONGEST_PAUSE_NS + SECOND_NS / 100);
        assertThat(link.isReady()).isTrue();
        assertThat(link.failure()).isEmpty();
        assertThat(link.retryAtNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldBeginWithShortPausesAgainWhenItWasReached()
    {
        final MemoryLink link = rig.connect();
        rig.meta.runFor(SECOND_NS);
        rig.register();
        rig.meta.runUntil(link::isReady);

        rig.stop();
        rig.pass(1);
        rig.meta.runUntil(() -> Long.MAX_VALUE != link.retryAtNs());
        assertThat(link.isReady()).isFalse();
        assertThat(link.retryAtNs() - rig.meta.nowNs()).isBetween(0L, 2_000_000L);
        rig.start();
        rig.register();
        rig.meta.runUntil(link::isReady);
    }

    @Test
    void shouldReadARecordAgainThatWasListedAndIsOfAnIncarnationThatEnded()
    {
        rig.register();
        final PeerListing listing = rig.meta.link.directory().list(0, SECOND_NS);
        rig.meta.runUntil(() -> PeerListing.State.LISTED == listing.state());
        rig.register(2);
        final MemoryLink link = rig.connect();
        rig.meta.runUntil(() -> !link.failure().isEmpty());
        assertThat(link.failure()).contains("incarnation 2 by now").contains("looked up as 1");
        rig.meta.runUntil(link::isReady);
        assertThat(link.identity().incarnation()).isEqualTo(2);
        assertThat(rig.meta.link.directory().reads()).as("the list, and the record once").isEqualTo(2);
    }

    @Test
    void shouldPassNoEpochBeforeTheHeadersWereReadInIt()
    {
        final MemoryLink link = rig.reach();
        rig.meta.runUntil(() -> 10 == link.passableEpoch());
        rig.pass(1);
        assertThat(link.passableEpoch()).as("read in the epoch before").isEqualTo(10);
        rig.meta.runUntil(() -> 11 == link.passableEpoch());
    }

    @Test
    void shouldEndWhenTheMemoryWasRestoredWhileThisNodeLived()
    {
        rig.restored(rig.parts.identity().incarnation());
        rig.register();
        final MemoryLink link = rig.connect();
        rig.meta.runUntil(link::isReady);
        assertThat(link.isRestored()).as("restored before this node was registered").isFalse();
        rig.stop();
        rig.pass(1);
        rig.meta.runUntil(() -> !link.isReady());
        rig.start();
        rig.restored(rig.parts.identity().incarnation() + 1L);
        rig.register();
        rig.meta.runUntil(link::isRestored);
        assertThat(link.failure()).contains("registers anew");
        assertThat(link.isReady()).isFalse();
    }

    @Test
    void shouldLeaseChunksForBlocksAndTwiceAsManyTheNextTime()
    {
        final MemoryLink link = rig.reach();
        rig.answer("leaseChunks", (arguments) ->
            new ChunkLease(MemoryRig.CHUNK_BYTES, 1, List.of(new ChunkRun(MemoryRig.offset(0), (int)arguments[3]))));
        link.maintenance().requestChunk();
        rig.meta.runUntil(() -> rig.engine.heldBytes(MemoryRig.MEMORY_NODE) == MemoryRig.CHUNK_BYTES);
        assertThat(link.isWaiting()).isFalse();
        rig.refuse("leaseChunks", ControlStatus.EXHAUSTED);
        link.maintenance().requestChunk();
        rig.meta.runUntil(() -> 3 == rig.count("leaseChunks"));
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.count("leaseChunks")).as("two chunks, then one, then nobody asks").isEqualTo(3);
    }

    @Test
    void shouldAskAMemoryNodeThatCannotLeaseAFewTimesASecond()
    {
        final MemoryLink link = rig.reach();
        rig.refuse("leaseChunks", ControlStatus.UNAVAILABLE);
        link.maintenance().requestChunk();
        rig.meta.runFor(SECOND_NS);
        assertThat(rig.count("leaseChunks")).as("in one second").isBetween(8L, 24L);
        rig.answer("leaseChunks", (arguments) ->
            new ChunkLease(MemoryRig.CHUNK_BYTES, 1, List.of(new ChunkRun(MemoryRig.offset(0), (int)arguments[3]))));
        rig.meta.runUntil(() -> rig.engine.heldBytes(MemoryRig.MEMORY_NODE) == MemoryRig.CHUNK_BYTES);
    }

    /** A request that came after the fence would break the queue pair for everybody. */
    @Test
    void shouldPostNothingWhenTheLeaseIsOverUntilItIsRenewed()
    {
        rig.leaseEndsAt(rig.meta.world.clock().nanoTime() + SECOND_NS);
        rig.register();
        final MemoryLink link = rig.connect();
        rig.meta.runUntil(link::isReady);
        assertThat(isRead(link)).isTrue();
        rig.meta.runFor(SECOND_NS);
        assertThat(isRead(link)).isFalse();
        rig.leaseEndsAt(rig.meta.world.clock().nanoTime() + SECOND_NS);
        assertThat(isRead(link)).isFalse();
        link.onLeaseRenewed();
        assertThat(isRead(link)).isTrue();
    }

    @Test
    void shouldPostNothingMoreToALostIncarnationAndLetEndWhatWasPosted()
    {
        final MemoryLink link = rig.reach();
        final List<Integer> pieces = new ArrayList<>();
        final OneSidedPort port = link.port();
        final PeerIdentity lost = link.identity();
        final KnownViews views = new KnownViews();
        assertThat(rig.links().left(views)).isEmpty();
        link.observerAccess().read(port, 0, 8, (buffer, lengthBytes, offset) -> pieces.add(lengthBytes));
        rig.links().leave(List.of(lost, OTHER));
        assertThat(link.isReady()).isFalse();
        assertThat(link.passableEpoch()).as("what is under way began in an epoch").isLessThan(Long.MAX_VALUE);
        assertThat(rig.links().left(views)).as("a READ is under way").containsExactly(OTHER);
        link.onLeaseRenewed();
        port.begin();
        port.read(rig.local(), 0, 8, 0);
        assertThat(port.complete(MemoryLink.OBSERVER_COOKIE)).isEqualTo(PostStatus.INVALID_STATE);
        rig.meta.runUntil(() -> rig.links().left(views).contains(lost));
        assertThat(pieces).as("what was posted has ended before").containsExactly(8);
        assertThat(port.isFailed()).isTrue();
        assertThat(link.failure()).contains("memory node 2 is lost");

        final View view = View.first(7, List.of(lost));
        views.hear(view);
        assertThat(rig.links().left(views)).as("a port of a group may be open").containsExactly(OTHER);
        views.hear(view.closing(1, PeerIdentity.UNREGISTERED));
        assertThat(rig.links().left(views)).containsExactly(lost, OTHER);
        rig.links().leave(List.of());
        assertThat(rig.links().left(views)).as("nobody asks any more").isEmpty();
    }

    @Test
    void shouldReachTheNextIncarnationAndNoneThatWasLeft()
    {
        final MemoryLink link = rig.reach();
        rig.links().leave(List.of(new PeerIdentity(MemoryRig.MEMORY_NODE, 3)));
        rig.meta.runFor(SECOND_NS);
        rig.register(2);
        rig.meta.runFor(SECOND_NS);
        assertThat(link.isReady()).isFalse();
        rig.register(3);
        rig.meta.runFor(SECOND_NS);
        assertThat(link.isReady()).isFalse();
        assertThat(link.failure()).contains("memory node 2 is lost");
        rig.register(4);
        rig.meta.runUntil(link::isReady);
        assertThat(link.identity().incarnation()).isEqualTo(4);
        assertThat(link.hasLeft()).isTrue();
    }

    /** Tables that are opened later may name it, too. */
    @Test
    void shouldNotReachWhatWasLeftBeforeThereWasALink()
    {
        rig.register();
        rig.links().leave(List.of(new PeerIdentity(MemoryRig.MEMORY_NODE, 1)));
        final MemoryLink link = rig.connect();
        rig.meta.runFor(SECOND_NS);
        assertThat(link.isReady()).isFalse();
        rig.register(2);
        rig.meta.runUntil(link::isReady);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89})
    void shouldLeaveWhileItConnects(final int steps)
    {
        rig.register();
        final MemoryLink link = rig.connect();
        for (int i = 0; i < steps; i++)
        {
            rig.meta.runFor(1_000);
        }
        rig.links().leave(List.of(new PeerIdentity(MemoryRig.MEMORY_NODE, 1)));
        rig.meta.runFor(SECOND_NS);
        assertThat(link.isReady()).isFalse();
        assertThat(rig.links().left(new KnownViews())).hasSize(1);
    }

    /** Its process has not heard of the registration, and cut off nobody. */
    @Test
    void shouldNotUseMemoryOfAnEarlierIncarnationThanItsRecord()
    {
        rig.register();
        rig.publish(2);
        final MemoryLink link = rig.connect();
        rig.meta.runFor(SECOND_NS / 1_000);
        assertThat(link.isReady()).isFalse();
        assertThat(link.isConnecting()).as("it may be about to hear of it").isTrue();
        rig.meta.runUntil(() -> !link.failure().isEmpty());
        assertThat(link.failure()).contains("incarnation 1 still").contains("looked up as 2");
        rig.meta.runFor(SECOND_NS);
        assertThat(link.isReady()).isFalse();
        rig.register(2);
        rig.meta.runUntil(link::isReady);
    }

    private boolean isRead(final MemoryLink link)
    {
        final List<Integer> pieces = new ArrayList<>();
        link.observerAccess().read(link.port(), 0, 8, (buffer, lengthBytes, offset) -> pieces.add(lengthBytes));
        rig.meta.runFor(SECOND_NS / 1_000);
        assertThat(link.observerAccess().hasFailed()).isEqualTo(pieces.isEmpty());
        return !pieces.isEmpty();
    }

    @Test
    void shouldNotCountWhatWasReadOverDcWhenTheLeaseIsOver()
    {
        assertThat(CountedStatus.of(false, WorkCompletionStatus.SUCCESS, () -> false))
            .isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(CountedStatus.of(false, WorkCompletionStatus.SUCCESS, () -> true))
            .isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldTakeAnUnknownOutcomeAsALostConnection()
    {
        assertThat(CountedStatus.of(true, BatchListener.OUTCOME_UNKNOWN, () -> true))
            .isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void shouldAskForTheLeaseOnlyAfterReadsOverDc()
    {
        assertThat(CountedStatus.of(true, WorkCompletionStatus.SUCCESS, () ->
        {
            throw new AssertionError("a queue pair is closed when its node is fenced");
        })).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(CountedStatus.of(false, WorkCompletionStatus.RETRY_EXC_ERR, () -> false))
            .isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }
}
