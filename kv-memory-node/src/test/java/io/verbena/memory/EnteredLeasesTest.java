package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirrorAnswer.Outcome;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The leases of a group at a memory node that comes into it. */
class EnteredLeasesTest
{
    private static final int LENGTH = 1 << 16;
    private static final int CHUNKS = 4;
    private static final long HEADERS = 4096 + (long)CHUNKS * LENGTH;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);
    private static final ViewAttempt ATTEMPT = new ViewAttempt(7, 4, 1);
    private static final ViewAttempt NEXT_ATTEMPT = new ViewAttempt(7, 4, 2);
    private static final MirroredChunk LEASE = new MirroredChunk(7, 2, 1, LENGTH, 3);

    private final MemorySegment region = Arena.ofAuto().allocate(HEADERS + CHUNKS * ChunkDescriptor.HEADER_BYTES, 4096);
    private final Set<PeerIdentity> alive = new HashSet<>(Set.of(ANN, BEN));
    private ChunkTable table = new ChunkTable(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS));
    private MirrorLeases leases = new MirrorLeases(table, LENGTH);

    private void enter(
        final MirroredChunk chunk, final int state, final long requestId, final PeerIdentity owner,
        final PeerIdentity reaper)
    {
        leases.enter(ATTEMPT, new EnteredLease(chunk, state, requestId, owner, reaper),
            (node) -> alive.contains(Objects.requireNonNull(node)));
    }

    private void enter(
        final ViewAttempt attempt, final MirroredChunk chunk, final int state, final PeerIdentity owner)
    {
        leases.enter(attempt, new EnteredLease(chunk, state, 9, owner, null), alive::contains);
    }

    private void enter(final MirroredChunk chunk)
    {
        enter(chunk, EnteredLease.BLOCKS, 9, ANN, null);
    }

    private Outcome act(final PeerIdentity caller, final MirrorAction action, final MirroredChunk chunk)
    {
        return leases.act(caller, action, chunk, ChunkPurpose.BLOCKS, MirrorAction.RECORD == action ? 9 : 0).outcome();
    }

    private void restart(final boolean acceptsDamage)
    {
        table = ChunkTable.restore(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS), acceptsDamage);
        leases = new MirrorLeases(table, LENGTH);
    }

    private UnsafeBuffer header(final int index)
    {
        final UnsafeBuffer header = new UnsafeBuffer(
            region.asSlice(HEADERS + (long)index * ChunkDescriptor.HEADER_BYTES).address(),
            ChunkDescriptor.HEADER_BYTES);
        ChunkDescriptor.check(header, 0);
        return header;
    }

    /** What a header says: state, group, view, count, request id, owner and reaper. */
    private String shown(final int index)
    {
        final UnsafeBuffer header = header(index);
        return ChunkDescriptor.stateName(ChunkDescriptor.state(header, 0)) + ' ' + ChunkDescriptor.group(header, 0) +
            '.' + ChunkDescriptor.view(header, 0) + '.' + ChunkDescriptor.count(header, 0) + " request " +
            ChunkDescriptor.requestId(header, 0) + " owner " + ChunkDescriptor.ownerNodeId(header, 0) + '.' +
            ChunkDescriptor.ownerIncarnation(header, 0) + " reaper " + ChunkDescriptor.reaperNodeId(header, 0) + '.' +
            ChunkDescriptor.reaperIncarnation(header, 0);
    }

    private static void shouldBeRefused(final Runnable call, final ControlStatus status, final String... texts)
    {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(status)).hasMessageContainingAll(texts);
    }

    /** What was restored of the group, and not taken, is settled by who fills this node. */
    @Test
    void shouldGiveUpNothingThatWasEntered()
    {
        enter(LEASE);
        leases.giveUp(LEASE.group());
        assertThat(table.state(LEASE.index())).isEqualTo(ChunkDescriptor.STATE_BLOCKS);
        restart(false);
        leases.giveUp(LEASE.group() + 1);
        assertThat(table.state(LEASE.index())).isEqualTo(ChunkDescriptor.STATE_BLOCKS);
        leases.giveUp(LEASE.group());
        assertThat(table.state(LEASE.index())).isEqualTo(ChunkDescriptor.STATE_FREE);
    }

    /** The group has given that subtable up while this node was away: it must not look as if it counted. */
    @Test
    void shouldLeaveNoSubtableInWhatIsReleased()
    {
        enter(LEASE);
        final long offset = 4096 + (long)LEASE.index() * LENGTH;
        region.set(ValueLayout.JAVA_LONG, offset, 5);
        leases.release(ATTEMPT);
        assertThat(region.get(ValueLayout.JAVA_LONG, offset)).as("it was entered").isEqualTo(5);
        leases.release(NEXT_ATTEMPT);
        assertThat(table.state(LEASE.index())).isEqualTo(ChunkDescriptor.STATE_FREE);
        assertThat(region.get(ValueLayout.JAVA_LONG, offset)).isZero();
    }

    @Test
    void shouldNameStatesAsHeadersDo()
    {
        assertThat(List.of(EnteredLease.BLOCKS, EnteredLease.INDEX, EnteredLease.ORPHAN)).containsExactly(
            ChunkDescriptor.STATE_BLOCKS, ChunkDescriptor.STATE_INDEX, ChunkDescriptor.STATE_ORPHAN);
    }

    @Test
    void shouldRecordEachLeaseAsItIsGivenAndShowIt()
    {
        enter(LEASE);
        enter(LEASE.at(0, 8), EnteredLease.INDEX, 10, BEN, null);
        enter(LEASE.at(2, 1), EnteredLease.ORPHAN, 0, ANN, BEN);
        enter(new MirroredChunk(7, 4, 3, LENGTH, 5), EnteredLease.INDEX, 0, null, null);
        final String first = "blocks 7.2.3 request 9 owner 5.50 reaper 0.0";
        for (int i = 0; i < 2; i++)
        {
            assertThat(shown(1)).isEqualTo(first);
            assertThat(shown(0)).isEqualTo("index 7.2.8 request 10 owner 6.60 reaper 0.0");
            assertThat(shown(2)).isEqualTo("orphan 7.2.1 request 0 owner 5.50 reaper 6.60");
            assertThat(shown(3)).isEqualTo("index 7.4.5 request 0 owner 0.0 reaper 0.0");
            assertThat(table.freeCount()).isZero();
            assertThat(table.indexCount()).isEqualTo(2);
            restart(false);
        }
        enter(LEASE);
        assertThat(shown(1)).as("recorded again").isEqualTo(first);
        enter(LEASE, EnteredLease.ORPHAN, 0, ANN, BEN);
        assertThat(shown(1)).as("what the primary shows now").isEqualTo(
            "orphan 7.2.3 request 0 owner 5.50 reaper 6.60");
    }

    /** From then on it is a lease as those of any member. */
    @Test
    void shouldGoOnWithALeaseAsAMember()
    {
        enter(LEASE);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).isEqualTo(Outcome.RECORDED);
        assertThat(leases.act(ANN, MirrorAction.RETURN, LEASE, ChunkPurpose.BLOCKS, 8).outcome()).isEqualTo(
            Outcome.DONE);
        assertThat(table.blockCount()).as("another request's").isEqualTo(1);
        assertThat(leases.act(ANN, MirrorAction.RETURN, LEASE, ChunkPurpose.BLOCKS, 9).outcome()).isEqualTo(
            Outcome.DONE);
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
        enter(LEASE, EnteredLease.ORPHAN, 0, ANN, BEN);
        assertThat(act(ANN, MirrorAction.CLAIM, LEASE)).as("claimed by another").isEqualTo(Outcome.TAKEN);
        assertThat(act(BEN, MirrorAction.ADOPT, LEASE)).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldLeaveBehindAtOnceWhatIsOfNodesThatHaveEnded()
    {
        alive.remove(ANN);
        enter(LEASE);
        enter(LEASE.at(0, 8), EnteredLease.INDEX, 10, ANN, null);
        enter(LEASE.at(2, 1), EnteredLease.ORPHAN, 0, BEN, ANN);
        enter(LEASE.at(3, 1), EnteredLease.ORPHAN, 0, ANN, BEN);
        assertThat(shown(1)).isEqualTo("orphan 7.2.3 request 0 owner 5.50 reaper 0.0");
        assertThat(shown(0)).isEqualTo("index 7.2.8 request 10 owner 0.0 reaper 0.0");
        assertThat(shown(2)).isEqualTo("orphan 7.2.1 request 0 owner 6.60 reaper 0.0");
        assertThat(shown(3)).isEqualTo("orphan 7.2.1 request 0 owner 5.50 reaper 6.60");
        enter(LEASE);
        assertThat(shown(1)).as("again").isEqualTo("orphan 7.2.3 request 0 owner 5.50 reaper 0.0");
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE)).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldRefuseWhereSomethingElseStands()
    {
        enter(LEASE);
        table.lease(BEN, 1, ChunkPurpose.BLOCKS, 1, false);
        final String wayOut =
            "cannot come into the group until that is free: drop that table, or take another memory node";
        final MirroredChunk other = new MirroredChunk(8, 2, 1, LENGTH, 3);
        shouldBeRefused(() -> leases.enter(new ViewAttempt(8, 4, 1),
            new EnteredLease(other, EnteredLease.BLOCKS, 9, ANN, null), alive::contains),
            ControlStatus.EXHAUSTED, other + " cannot be recorded", LEASE + " stands there", wayOut);
        shouldBeRefused(() -> enter(LEASE.at(0, 3)), ControlStatus.EXHAUSTED, "lease 3 of chunk 0",
            "a chunk of this memory node alone (blocks) of node 6 incarnation 60 stands there", wayOut);
        assertThat(shown(0)).isEqualTo("blocks 0.0.0 request 1 owner 6.60 reaper 0.0");
        assertThat(shown(1)).isEqualTo("blocks 7.2.3 request 9 owner 5.50 reaper 0.0");
    }

    @Test
    void shouldRefuseWhereAHeaderWasDamaged()
    {
        enter(LEASE);
        header(1).putByte(ChunkDescriptor.COUNT_OFFSET, (byte)99);
        region.asSlice(SuperblockDescriptor.JOURNAL_OFFSET, 128).fill((byte)0);
        restart(true);
        shouldBeRefused(() -> enter(LEASE), ControlStatus.EXHAUSTED, "a chunk with a damaged header stands there");
        leases.release(ATTEMPT);
        assertThat(table.quarantinedCount()).as("nobody knows whose").isEqualTo(1);
        final BitSet indexes = new BitSet();
        indexes.set(1);
        table.acceptDamaged(indexes);
        shouldBeRefused(() -> enter(LEASE), ControlStatus.EXHAUSTED,
            "a chunk of this memory node alone (index) stands there");
        table.takeBack(BEN, List.of(new ChunkRun(4096 + LENGTH, 1)), 0);
        final long unread = ChunkDescriptor.count(header(1), 0);
        assertThat(unread).isGreaterThan(1L << 40);
        enter(LEASE);
        act(ANN, MirrorAction.RETURN, LEASE);
        assertThat(ChunkDescriptor.count(header(1), 0)).as("what the damaged header said is not known still")
            .isEqualTo(unread);
    }

    @Test
    void shouldRefuseChunksThatItDoesNotHaveAndLeasesOfLaterViews()
    {
        shouldBeRefused(() -> enter(LEASE.at(CHUNKS, 1)), ControlStatus.INVALID_REQUEST, "has chunks 0 to 3");
        shouldBeRefused(() -> enter(new MirroredChunk(7, 2, 1, LENGTH * 2, 3)), ControlStatus.INVALID_REQUEST,
            "of 131072 bytes", "chunks of equal length");
        shouldBeRefused(() -> enter(new MirroredChunk(7, 5, 1, LENGTH, 3)), ControlStatus.INVALID_REQUEST,
            "in view 5 cannot be recorded", "of a later view");
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
        enter(new MirroredChunk(7, 4, 1, LENGTH, 3));
        assertThat(table.blockCount()).as("of the view that is over").isEqualTo(1);
    }

    @Test
    void shouldFreeWhatTheGroupHasAndNothingElse()
    {
        enter(LEASE);
        enter(LEASE.at(3, 2), EnteredLease.INDEX, 0, null, null);
        table.lease(BEN, 1, ChunkPurpose.INDEX, 1, false);
        leases.act(BEN, MirrorAction.RECORD, new MirroredChunk(8, 1, 2, LENGTH, 1), ChunkPurpose.BLOCKS, 9);
        for (int i = 0; i < 2; i++)
        {
            leases.release(NEXT_ATTEMPT);
            assertThat(shown(0)).isEqualTo("index 0.0.0 request 1 owner 6.60 reaper 0.0");
            assertThat(shown(1)).startsWith("free 0.0.3").endsWith("owner 0.0 reaper 0.0");
            assertThat(shown(2)).isEqualTo("blocks 8.1.1 request 9 owner 6.60 reaper 0.0");
            assertThat(shown(3)).startsWith("free 0.0.2");
            assertThat(table.freeCount()).isEqualTo(2);
        }
        enter(NEXT_ATTEMPT, LEASE, EnteredLease.BLOCKS, ANN);
        assertThat(shown(1)).as("under the count that it had").startsWith("blocks 7.2.3");
    }

    /** It was a member before, and knows larger counts than the group has now. */
    @Test
    void shouldRecordUnderTheGroupsCountAndForgetNoLargerOne()
    {
        act(ANN, MirrorAction.RECORD, LEASE.at(1, 20));
        act(ANN, MirrorAction.RETURN, LEASE.at(1, 20));
        act(BEN, MirrorAction.REFUSE, LEASE.at(2, 30));
        act(BEN, MirrorAction.REFUSE, LEASE);
        enter(LEASE);
        enter(LEASE.at(2, 3));
        enter(LEASE.at(3, 40));
        assertThat(shown(1)).startsWith("blocks 7.2.3 ");
        assertThat(shown(2)).startsWith("blocks 7.2.3 ");
        for (int i = 1; i < CHUNKS; i++)
        {
            final long standing = 3 == i ? 40 : 3;
            final long largest = 10L + 10 * i;
            assertThat(leases.act(BEN, MirrorAction.REFUSE, LEASE.at(i, standing), ChunkPurpose.BLOCKS, 0))
                .isEqualTo(new MirrorAnswer(Outcome.RECORDED, -1, largest));
            assertThat(act(ANN, MirrorAction.RETURN, LEASE.at(i, standing))).isEqualTo(Outcome.DONE);
            assertThat(leases.act(ANN, MirrorAction.CHOOSE, LEASE.at(i, 0), ChunkPurpose.BLOCKS, 0).count())
                .isEqualTo(largest);
            assertThat(record(i, largest)).as("a late request").isEqualTo(Outcome.OUTDATED);
            assertThat(record(i, largest + 1)).isEqualTo(Outcome.DONE);
        }
    }

    /** In the view after that in which the node came in. */
    private Outcome record(final int index, final long count)
    {
        return act(ANN, MirrorAction.RECORD, new MirroredChunk(7, 5, index, LENGTH, count));
    }

    @Test
    void shouldShowTheLargestCountOfAChunkThatIsFreeAgain()
    {
        act(ANN, MirrorAction.RECORD, LEASE.at(1, 20));
        act(ANN, MirrorAction.RETURN, LEASE.at(1, 20));
        restart(false);
        enter(LEASE);
        assertThat(ChunkDescriptor.count(header(1), 0)).isEqualTo(3);
        leases.release(NEXT_ATTEMPT);
        assertThat(ChunkDescriptor.count(header(1), 0)).isEqualTo(20);
        restart(false);
        assertThat(record(1, 20)).isEqualTo(Outcome.OUTDATED);
        assertThat(record(1, 21)).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldRecordNothingLateOfTheViewThatIsOver()
    {
        leases.release(ATTEMPT);
        final MirroredChunk late = new MirroredChunk(7, 4, 2, LENGTH, 50);
        shouldBeRefused(() -> act(ANN, MirrorAction.RECORD, late), ControlStatus.INVALID_REQUEST,
            "the group is in view 5 here");
        shouldBeRefused(() -> leases.release(new ViewAttempt(7, 3, 9)), ControlStatus.UNAVAILABLE, "is over");
        shouldBeRefused(() -> act(ANN, MirrorAction.RECORD, late), ControlStatus.INVALID_REQUEST,
            "view 5");
        assertThat(act(ANN, MirrorAction.RECORD, new MirroredChunk(8, 1, 2, LENGTH, 1))).as("of another group")
            .isEqualTo(Outcome.DONE);
        assertThat(record(3, 1)).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldNotKeepTheNextViewFromRecordingAfterALeaseAlone()
    {
        enter(LEASE);
        shouldBeRefused(() -> act(ANN, MirrorAction.RECORD, new MirroredChunk(7, 4, 2, LENGTH, 50)),
            ControlStatus.INVALID_REQUEST, "the group is in view 5 here");
        assertThat(record(2, 1)).isEqualTo(Outcome.DONE);
    }

    /** A call that comes when the next view has begun would free what is in use. */
    @Test
    void shouldChangeNothingWhenTheNextViewHasBegun()
    {
        enter(LEASE);
        record(2, 1);
        final ViewAttempt later = new ViewAttempt(7, 5, 1);
        shouldBeRefused(() -> leases.release(ATTEMPT), ControlStatus.UNAVAILABLE, "is over: the group is in view 5");
        shouldBeRefused(() -> enter(LEASE.at(3, 1)), ControlStatus.UNAVAILABLE, "is over");
        assertThat(table.blockCount()).isEqualTo(2);
        leases.release(later);
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
    }
}
