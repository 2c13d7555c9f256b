package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirrorAction;
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
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Leases of a group at a memory node that has others of the same group, since it was a member, or came in halfway. */
class EnteredAgainTest
{
    private static final int LENGTH = 1 << 16;
    private static final int CHUNKS = 4;
    private static final int HEADER = ChunkDescriptor.HEADER_BYTES;
    private static final long HEADERS = 4096 + (long)CHUNKS * LENGTH;
    private static final int JOURNAL_BYTES = 2 * Long.BYTES + HEADER;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);
    private static final PeerIdentity CAT = new PeerIdentity(8, 80);
    private static final ViewAttempt FIRST = new ViewAttempt(7, 4, 1);
    private static final ViewAttempt SECOND = new ViewAttempt(7, 4, 2);
    private static final ViewAttempt NEXT = new ViewAttempt(7, 5, 1);
    private static final MirroredChunk OLD = new MirroredChunk(7, 2, 1, LENGTH, 20);
    private static final MirroredChunk NEW = new MirroredChunk(7, 3, 1, LENGTH, 6);

    private MemorySegment region = Arena.ofAuto().allocate(HEADERS + CHUNKS * HEADER, 4096);
    private ChunkTable table = new ChunkTable(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS));
    private MirrorLeases leases = new MirrorLeases(table, LENGTH);

    private void enter(final ViewAttempt attempt, final EnteredLease lease)
    {
        leases.enter(attempt, lease, (_) -> true);
    }

    private void enter(final ViewAttempt attempt, final MirroredChunk chunk)
    {
        enter(attempt, new EnteredLease(chunk, EnteredLease.BLOCKS, 9, ANN, null));
    }

    private Outcome act(final MirrorAction action, final MirroredChunk chunk)
    {
        return leases.act(ANN, action, chunk, ChunkPurpose.BLOCKS, MirrorAction.RECORD == action ? 9 : 0).outcome();
    }

    private void restart()
    {
        table = ChunkTable.restore(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS), false);
        leases = new MirrorLeases(table, LENGTH);
    }

    /** What a header says: state, group, view, count, lease number, request id, nodes of owner and reaper. */
    private String shown(final int index)
    {
        final UnsafeBuffer header =
            new UnsafeBuffer(region.asSlice(HEADERS + (long)index * HEADER).address(), HEADER);
        ChunkDescriptor.check(header, 0);
        return ChunkDescriptor.stateName(ChunkDescriptor.state(header, 0)) + ' ' + ChunkDescriptor.group(header, 0) +
            '.' + ChunkDescriptor.view(header, 0) + '.' + ChunkDescriptor.count(header, 0) + " lease " +
            ChunkDescriptor.leaseNumber(header, 0) + " request " + ChunkDescriptor.requestId(header, 0) + " of " +
            ChunkDescriptor.ownerNodeId(header, 0) + ' ' + ChunkDescriptor.reaperNodeId(header, 0);
    }

    /** Chunks that are free, for blocks, indexes, and orphans. */
    private List<Integer> counts()
    {
        return List.of(table.freeCount(), table.blockCount(), table.indexCount(), table.orphanCount());
    }

    private static void shouldBeOver(final Runnable call, final ViewAttempt attempt, final ViewAttempt newest)
    {
        assertThatThrownBy(call::run).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.UNAVAILABLE))
            .hasMessageContaining(attempt + " is over: " + newest + " has begun here");
    }

    @Test
    void shouldTakeThePlaceOfAnyLeaseOfTheGroupAndCountItOnce()
    {
        final List<EnteredLease> kinds = List.of(
            new EnteredLease(NEW, EnteredLease.BLOCKS, 9, ANN, null),
            new EnteredLease(NEW.at(1, 7), EnteredLease.INDEX, 10, BEN, null),
            new EnteredLease(new MirroredChunk(7, 1, 1, LENGTH, 7), EnteredLease.INDEX, 11, null, null),
            new EnteredLease(NEW.at(1, 8), EnteredLease.ORPHAN, 0, BEN, CAT),
            new EnteredLease(OLD, EnteredLease.BLOCKS, 12, CAT, null));
        final List<String> shown = List.of(
            "blocks 7.3.6 lease N request 9 of 5 0", "index 7.3.7 lease N request 10 of 6 0",
            "index 7.1.7 lease N request 11 of 0 0", "orphan 7.3.8 lease N request 0 of 6 8",
            "blocks 7.2.20 lease N request 12 of 8 0");
        final List<List<Integer>> counts = List.of(
            List.of(3, 1, 0, 0), List.of(3, 0, 1, 0), List.of(3, 0, 1, 0), List.of(3, 0, 0, 1), List.of(3, 1, 0, 0));
        final List<Map<PeerIdentity, Integer>> owners =
            List.of(Map.of(ANN, 1), Map.of(), Map.of(), Map.of(BEN, 1), Map.of(CAT, 1));
        for (int from = 0; from < kinds.size(); from++)
        {
            for (int to = 0; to < kinds.size(); to++)
            {
                enter(FIRST, kinds.get(from));
                final long before = table.newestLease();
                final long version = SuperblockDescriptor.viewVersion(region);
                enter(FIRST, kinds.get(to));
                final boolean isSame = from == to;
                assertThat(table.newestLease()).as("%d to %d", from, to).isEqualTo(before + (isSame ? 0 : 1));
                assertThat(SuperblockDescriptor.viewVersion(region)).isEqualTo(version + (isSame ? 0 : 1));
                assertThat(shown(1)).isEqualTo(shown.get(to).replace("N", Long.toString(table.newestLease())));
                assertThat(counts()).as("%d to %d", from, to).isEqualTo(counts.get(to));
                assertThat(table.blockChunksByOwner()).isEqualTo(owners.get(to));
                restart();
                assertThat(counts()).as("%d to %d, read again", from, to).isEqualTo(counts.get(to));
            }
        }
    }

    /** By one part of what a header says at a time. */
    @Test
    void shouldShowWhateverThePrimaryShowsNow()
    {
        final List<EnteredLease> kinds = List.of(
            new EnteredLease(NEW, EnteredLease.BLOCKS, 9, ANN, null),
            new EnteredLease(NEW, EnteredLease.BLOCKS, 9, BEN, null),
            new EnteredLease(NEW, EnteredLease.BLOCKS, 10, BEN, null),
            new EnteredLease(NEW, EnteredLease.INDEX, 10, BEN, null),
            new EnteredLease(NEW, EnteredLease.INDEX, 10, null, null),
            new EnteredLease(NEW, EnteredLease.ORPHAN, 0, BEN, null),
            new EnteredLease(NEW, EnteredLease.ORPHAN, 0, BEN, CAT),
            new EnteredLease(NEW, EnteredLease.ORPHAN, 0, BEN, ANN));
        final List<String> shown = List.of("blocks 9 of 5 0", "blocks 9 of 6 0", "blocks 10 of 6 0", "index 10 of 6 0",
            "index 10 of 0 0", "orphan 0 of 6 0", "orphan 0 of 6 8", "orphan 0 of 6 5");
        for (int i = 0; i < kinds.size(); i++)
        {
            enter(FIRST, kinds.get(i));
            assertThat(shown(1).replaceFirst(" 7.3.6 lease " + (i + 1) + " request", "")).isEqualTo(shown.get(i));
        }
        final long version = SuperblockDescriptor.viewVersion(region);
        enter(FIRST, new EnteredLease(NEW, EnteredLease.ORPHAN, 99, BEN, ANN));
        assertThat(SuperblockDescriptor.viewVersion(region)).as("orphans are of no request").isEqualTo(version);
    }

    @Test
    void shouldNeverHaveAChunkOfTheGroupFree()
    {
        act(MirrorAction.RECORD, OLD);
        act(MirrorAction.RECORD, OLD.at(2, 20));
        table.lease(BEN, 1, ChunkPurpose.BLOCKS, 2, false);
        enter(FIRST, NEW);
        assertThatThrownBy(() -> table.lease(CAT, 2, ChunkPurpose.BLOCKS, 1, false))
            .isInstanceOf(ControlException.class).hasMessageContaining("0 of 4 are free");
        leases.release(FIRST);
        assertThat(shown(1)).startsWith("blocks 7.3.6 ");
        assertThat(shown(2)).startsWith("free 0.0.20 ");
        assertThat(table.lease(CAT, 2, ChunkPurpose.BLOCKS, 1, false)).isEqualTo(
            List.of(new ChunkRun(4096 + 2 * LENGTH, 1)));
    }

    @Test
    void shouldFreeOnlyWhatWasNotEnteredHoweverOftenItIsReleased()
    {
        act(MirrorAction.RECORD, OLD);
        act(MirrorAction.RECORD, OLD.at(2, 20));
        enter(FIRST, NEW);
        for (int i = 0; i < 3; i++)
        {
            leases.release(FIRST);
            assertThat(counts()).isEqualTo(List.of(3 - i, 1 + i, 0, 0));
            enter(FIRST, NEW);
            enter(FIRST, NEW.at(2 + i % 2, 30));
        }
        leases.release(FIRST);
        assertThat(counts()).as("all were entered in the attempt").isEqualTo(List.of(1, 3, 0, 0));
    }

    /** It may be that the group has returned since what was entered before. */
    @Test
    void shouldBeginALaterAttemptWithNothingEntered()
    {
        final List<ViewAttempt> attempts = List.of(FIRST, SECOND, NEXT);
        for (int i = 1; i < attempts.size(); i++)
        {
            final ViewAttempt later = attempts.get(i);
            enter(attempts.get(i - 1), NEW);
            enter(later, NEW.at(2, 6));
            assertThat(shown(1)).as("stays until the rest is released").startsWith("blocks 7.3.6 ");
            leases.release(later);
            assertThat(shown(1)).startsWith("free ");
            assertThat(shown(2)).startsWith("blocks ");
        }
    }

    @Test
    void shouldRefuseWhatComesLateOfAnEarlierAttempt()
    {
        enter(FIRST, NEW);
        enter(SECOND, NEW.at(2, 6));
        shouldBeOver(() -> leases.release(FIRST), FIRST, SECOND);
        shouldBeOver(() -> enter(FIRST, NEW.at(3, 6)), FIRST, SECOND);
        assertThat(counts()).isEqualTo(List.of(2, 2, 0, 0));
        leases.release(NEXT);
        for (final ViewAttempt late : List.of(FIRST, SECOND, new ViewAttempt(7, 4, 3)))
        {
            shouldBeOver(() -> leases.release(late), late, NEXT);
            shouldBeOver(() -> enter(late, NEW.at(3, 6)), late, NEXT);
        }
        assertThat(counts()).isEqualTo(List.of(4, 0, 0, 0));
        enter(new ViewAttempt(8, 1, 1), new MirroredChunk(8, 1, 0, LENGTH, 1));
        leases.release(new ViewAttempt(8, 1, 1));
        assertThat(counts()).as("of another group").isEqualTo(List.of(3, 1, 0, 0));
    }

    @Test
    void shouldNotLetAGroupFreeWhatAnotherOneEntered()
    {
        final ViewAttempt other = new ViewAttempt(8, 4, 1);
        enter(FIRST, NEW);
        enter(other, new MirroredChunk(8, 1, 0, LENGTH, 1));
        leases.release(FIRST);
        leases.release(other);
        assertThat(counts()).isEqualTo(List.of(2, 2, 0, 0));
    }

    /** What was entered by a request that was refused is not the group's. */
    @Test
    void shouldNotCountARefusedLeaseAsEntered()
    {
        act(MirrorAction.RECORD, new MirroredChunk(8, 1, 1, LENGTH, 1));
        assertThatThrownBy(() -> enter(FIRST, NEW)).isInstanceOf(ControlException.class)
            .hasMessageContaining("lease 1 of chunk 1 by group 8 in view 1 stands there");
        act(MirrorAction.RETURN, new MirroredChunk(8, 1, 1, LENGTH, 1));
        table.leaseNames().name(1, 7, 2, 40);
        table.leaseToGroup(1, ChunkDescriptor.STATE_BLOCKS, ANN, null, 9);
        leases.release(FIRST);
        assertThat(counts()).isEqualTo(List.of(4, 0, 0, 0));
    }

    @Test
    void shouldForgetNoCountOfALeaseThatWasReplaced()
    {
        act(MirrorAction.RECORD, OLD);
        enter(FIRST, NEW);
        assertThat(act(MirrorAction.RETURN, OLD)).as("late").isEqualTo(Outcome.DONE);
        assertThat(counts()).as("it is another lease").isEqualTo(List.of(3, 1, 0, 0));
        assertThat(act(MirrorAction.RETURN, NEW)).isEqualTo(Outcome.DONE);
        assertThat(shown(1)).startsWith("free 0.0.20 ");
        assertThat(act(MirrorAction.RECORD, new MirroredChunk(7, 5, 1, LENGTH, 20))).isEqualTo(Outcome.OUTDATED);
        assertThat(act(MirrorAction.RECORD, new MirroredChunk(7, 5, 1, LENGTH, 21))).isEqualTo(Outcome.DONE);
    }

    /** After each byte that it stores: the journal first, then the header. */
    @Test
    void shouldHaveTheOldLeaseOrTheNewOneWhenTheProcessIsKilledWhileOneIsReplaced()
    {
        act(MirrorAction.RECORD, OLD);
        final MemorySegment before = copy(region);
        enter(FIRST, new EnteredLease(NEW, EnteredLease.INDEX, 10, BEN, null));
        final MemorySegment after = copy(region);
        int replaced = 0;
        for (int stored = 0; stored <= JOURNAL_BYTES + HEADER; stored++)
        {
            region = copy(before);
            final int journalBytes = Math.min(stored, JOURNAL_BYTES);
            MemorySegment.copy(after, SuperblockDescriptor.JOURNAL_OFFSET, region, SuperblockDescriptor.JOURNAL_OFFSET,
                journalBytes);
            MemorySegment.copy(after, HEADERS + HEADER, region, HEADERS + HEADER, stored - journalBytes);
            restart();
            final boolean isNew = table.indexCount() == 1;
            replaced += isNew ? 1 : 0;
            assertThat(shown(1)).as("%d bytes", stored).isEqualTo(isNew ?
                "index 7.3.6 lease 2 request 10 of 6 0" : "blocks 7.2.20 lease 1 request 9 of 5 0");
            assertThat(counts()).as("%d bytes", stored).isEqualTo(isNew ? List.of(3, 0, 1, 0) : List.of(3, 1, 0, 0));
        }
        assertThat(replaced).as("from the moment on when the journal is whole").isBetween(HEADER, HEADER + Long.BYTES);
    }

    private static MemorySegment copy(final MemorySegment source)
    {
        return Arena.ofAuto().allocate(source.byteSize(), 4096).copyFrom(source);
    }
}
