package io.verbena.memory;

import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirrorAnswer.Outcome;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.test.Mutation;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** One member's part of leases by groups. */
class MirrorLeasesTest
{
    private static final int LENGTH = 1 << 16;
    private static final int CHUNKS = 4;
    private static final long HEADERS = 4096 + (long)CHUNKS * LENGTH;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);
    private static final MirroredChunk LEASE = new MirroredChunk(7, 2, 1, LENGTH, 3);
    private static final List<ChunkRun> RUN = List.of(new ChunkRun(4096 + LENGTH, 1));

    private final MemorySegment region = Arena.ofAuto().allocate(HEADERS + CHUNKS * ChunkDescriptor.HEADER_BYTES, 4096);
    private ChunkTable table = new ChunkTable(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS));
    private MirrorLeases leases = new MirrorLeases(table, LENGTH);

    private MirrorAnswer ask(
        final PeerIdentity caller, final MirrorAction action, final MirroredChunk chunk, final long requestId)
    {
        return leases.act(caller, action, chunk, ChunkPurpose.BLOCKS, requestId);
    }

    private Outcome act(final PeerIdentity caller, final MirrorAction action, final MirroredChunk chunk)
    {
        return ask(caller, action, chunk, MirrorAction.RECORD == action ? 9 : 0).outcome();
    }

    private void restart(final boolean acceptsDamage)
    {
        table = ChunkTable.restore(4096, LENGTH, CHUNKS, new ChunkHeaders(region, HEADERS, CHUNKS), acceptsDamage);
        leases = new MirrorLeases(table, LENGTH);
    }

    private UnsafeBuffer header()
    {
        return new UnsafeBuffer(region.asSlice(HEADERS + ChunkDescriptor.HEADER_BYTES).address(),
            ChunkDescriptor.HEADER_BYTES);
    }

    @Test
    void shouldRecordALeaseOnceForOneRequestAndShowItInTheHeader()
    {
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).isEqualTo(Outcome.DONE);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).as("asked again").isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.RECORD, LEASE)).isEqualTo(Outcome.TAKEN);
        assertThat(ask(ANN, MirrorAction.RECORD, LEASE, 10).outcome()).as("another request").isEqualTo(Outcome.TAKEN);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE.at(1, 4))).isEqualTo(Outcome.TAKEN);

        assertThat(table.blockCount()).isEqualTo(1);
        assertThat(ChunkDescriptor.group(header(), 0)).isEqualTo(7);
        assertThat(ChunkDescriptor.view(header(), 0)).isEqualTo(2);
        assertThat(ChunkDescriptor.count(header(), 0)).isEqualTo(3);
        assertThat(header().getByte(ChunkDescriptor.FORMAT_OFFSET)).isEqualTo((byte)ChunkDescriptor.FORMAT_VERSION);
        assertThat(table.newestLease()).isEqualTo(1);
    }

    @Test
    void shouldChooseWhatIsFreeAndChangeNothing()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        assertThat(ask(ANN, MirrorAction.CHOOSE, LEASE.at(1, 0), 0)).isEqualTo(new MirrorAnswer(Outcome.DONE, 2, 0));
        assertThat(ask(ANN, MirrorAction.CHOOSE, LEASE.at(0, 0), 0)).isEqualTo(new MirrorAnswer(Outcome.DONE, 0, 0));
        act(ANN, MirrorAction.RETURN, LEASE);
        assertThat(ask(ANN, MirrorAction.CHOOSE, LEASE.at(1, 0), 0)).isEqualTo(new MirrorAnswer(Outcome.DONE, 1, 3));
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
        table.lease(BEN, 1, ChunkPurpose.BLOCKS, CHUNKS, false);
        assertThat(ask(ANN, MirrorAction.CHOOSE, LEASE.at(0, 0), 0)).isEqualTo(new MirrorAnswer(Outcome.TAKEN, -1, 0));
    }

    @Test
    void shouldNeverRecordWhatWasReturnedOrRefused()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        act(ANN, MirrorAction.RETURN, LEASE);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).as("late").isEqualTo(Outcome.OUTDATED);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE.at(1, 2))).as("earlier").isEqualTo(Outcome.OUTDATED);
        restart(false);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).as("by the header").isEqualTo(Outcome.OUTDATED);

        assertThat(act(BEN, MirrorAction.REFUSE, LEASE.at(2, 8))).isEqualTo(Outcome.DONE);
        assertThat(ask(ANN, MirrorAction.RECORD, LEASE.at(2, 8), 9)).isEqualTo(
            new MirrorAnswer(Outcome.OUTDATED, 2, 8));
        assertThat(act(ANN, MirrorAction.RETURN, LEASE.at(3, 8))).isEqualTo(Outcome.DONE);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE.at(3, 8))).as("returned first").isEqualTo(Outcome.OUTDATED);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE.at(3, 9))).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldRefuseWhileAnotherLeaseStandsThere()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).isEqualTo(Outcome.RECORDED);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE.at(1, 5))).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.REFUSE, new MirroredChunk(8, 2, 1, LENGTH, 3))).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.REFUSE, new MirroredChunk(7, 3, 1, LENGTH, 3))).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).as("stands still").isEqualTo(Outcome.RECORDED);
        act(ANN, MirrorAction.RETURN, LEASE);
        assertThat(act(BEN, MirrorAction.RECORD, LEASE.at(1, 5))).isEqualTo(Outcome.OUTDATED);
        assertThat(act(BEN, MirrorAction.RECORD, LEASE.at(1, 6))).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldReturnByExactLeaseOnly()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        assertThat(act(ANN, MirrorAction.RETURN, LEASE.at(1, 2))).as("counts as returned").isEqualTo(Outcome.DONE);
        assertThat(table.blockCount()).isEqualTo(1);
        assertThatThrownBy(() -> act(BEN, MirrorAction.RETURN, LEASE)).isInstanceOf(ControlException.class)
            .hasMessageContaining("lease 3 of chunk 1 by group 7 in view 2 is not");
        assertThat(act(ANN, MirrorAction.RETURN, LEASE)).isEqualTo(Outcome.DONE);
        assertThat(act(ANN, MirrorAction.RETURN, LEASE)).as("again").isEqualTo(Outcome.DONE);
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
        assertThat(ChunkDescriptor.group(header(), 0)).isZero();
        assertThat(ChunkDescriptor.count(header(), 0)).isEqualTo(3);

        leases.act(ANN, MirrorAction.RECORD, LEASE.at(1, 4), ChunkPurpose.INDEX, 11);
        assertThat(table.indexCount()).isEqualTo(1);
        assertThat(act(BEN, MirrorAction.RETURN, LEASE.at(1, 4))).as("an index").isEqualTo(Outcome.DONE);
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
    }

    @Test
    void shouldKeepLeasesOfGroupsFromWhoeverAsksThisNodeAlone()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        assertThat(table.claim(ANN, RUN)).isEmpty();
        assertThatThrownBy(() -> table.takeBack(ANN, RUN, 0)).isInstanceOf(ControlException.class);
        table.orphan(ANN);
        assertThat(table.claim(BEN, RUN)).isEmpty();
        act(BEN, MirrorAction.CLAIM, LEASE);
        assertThatThrownBy(() -> table.adopt(BEN, RUN)).isInstanceOf(ControlException.class);
        assertThatThrownBy(() -> table.takeBack(BEN, RUN, 0)).isInstanceOf(ControlException.class);
        assertThat(table.orphanCount()).isEqualTo(1);
    }

    @Test
    void shouldBeClaimedByOneNodeAndAdopted()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE)).as("its node has not ended").isEqualTo(Outcome.TAKEN);
        assertThat(act(BEN, MirrorAction.ADOPT, LEASE)).isEqualTo(Outcome.TAKEN);
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE.at(1, 4))).isEqualTo(Outcome.ABSENT);
        table.orphan(ANN);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).as("it is closed").isEqualTo(Outcome.TAKEN);
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE)).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE)).as("again").isEqualTo(Outcome.DONE);
        final PeerIdentity other = new PeerIdentity(8, 61);
        assertThat(act(other, MirrorAction.CLAIM, LEASE)).isEqualTo(Outcome.TAKEN);
        assertThatThrownBy(() -> act(other, MirrorAction.RETURN, LEASE)).isInstanceOf(ControlException.class);
        assertThat(act(BEN, MirrorAction.ADOPT, LEASE.at(1, 4))).isEqualTo(Outcome.ABSENT);
        assertThat(act(BEN, MirrorAction.ADOPT, LEASE)).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.ADOPT, LEASE)).as("again").isEqualTo(Outcome.DONE);
        assertThat(table.blockChunksByOwner()).containsOnlyKeys(BEN);

        table.orphan(BEN);
        assertThat(act(other, MirrorAction.RETURN, LEASE)).as("an orphan, by its lease").isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldFindLeasesAgainAfterARestart()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        restart(false);
        assertThat(act(ANN, MirrorAction.RECORD, LEASE)).as("the same request").isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).isEqualTo(Outcome.RECORDED);
        assertThatThrownBy(() -> act(ANN, MirrorAction.RECORD, new MirroredChunk(7, 1, 2, LENGTH, 1)))
            .as("an old view").isInstanceOf(ControlException.class).hasMessageContaining("the group is in view 2 here");
        // A request to this node alone with that number is another one.
        assertThat(table.lease(ANN, 9, ChunkPurpose.BLOCKS, 1, false)).isNotEqualTo(RUN);
        table.orphanUnless((node) -> false);
        restart(false);
        assertThat(act(BEN, MirrorAction.CLAIM, LEASE)).isEqualTo(Outcome.DONE);
        assertThat(act(BEN, MirrorAction.RETURN, LEASE)).isEqualTo(Outcome.DONE);
    }

    @Test
    void shouldTellNothingOfALeaseWhoseHeaderWasDamaged()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        header().putByte(ChunkDescriptor.COUNT_OFFSET, (byte)99);
        region.asSlice(SuperblockDescriptor.JOURNAL_OFFSET, 128).fill((byte)0);
        restart(true);
        assertThat(table.quarantinedCount()).isEqualTo(1);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).as("it may be complete").isEqualTo(Outcome.TAKEN);
        assertThat(act(BEN, MirrorAction.RECORD, LEASE.at(1, 100))).isEqualTo(Outcome.TAKEN);
    }

    @Test
    void shouldRefuseChunksThatItDoesNotHave()
    {
        for (final MirrorAction action : MirrorAction.values())
        {
            if (MirrorAction.CHOOSE != action)
            {
                assertThatThrownBy(() -> act(ANN, action, LEASE.at(CHUNKS, 1))).isInstanceOf(ControlException.class)
                    .hasMessageContaining("has chunks 0 to 3 of 65536 bytes");
            }
            assertThatThrownBy(() -> act(ANN, action, new MirroredChunk(7, 2, 1, LENGTH * 2, 1)))
                .isInstanceOf(ControlException.class).hasMessageContaining("chunks of equal length");
        }
        assertThat(ask(ANN, MirrorAction.CHOOSE, LEASE.at(CHUNKS, 0), 0)).as("the end of a search")
            .isEqualTo(new MirrorAnswer(Outcome.TAKEN, -1, 0));
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
    }

    /** Choosing reserves nothing: all of these asked for the lease of this name, and one was recorded. */
    @Test
    void shouldKeepALeaseFromRequestsOfTheSameNameThatAreReturned()
    {
        for (final ChunkPurpose purpose : ChunkPurpose.values())
        {
            final MirroredChunk lease = LEASE.at(ChunkPurpose.INDEX == purpose ? 2 : 1, 3);
            leases.act(ANN, MirrorAction.RECORD, lease, purpose, 9);
            assertThat(ask(BEN, MirrorAction.RETURN, lease, 9).outcome()).isEqualTo(Outcome.DONE);
            assertThat(ask(ANN, MirrorAction.RETURN, lease, 8).outcome()).as("her own").isEqualTo(Outcome.DONE);
            assertThat(table.freeCount()).isEqualTo(CHUNKS - 1);
            assertThat(ask(BEN, MirrorAction.RECORD, lease, 9).outcome()).as("late").isEqualTo(Outcome.TAKEN);
            table.orphan(ANN);
            assertThat(ask(BEN, MirrorAction.RETURN, lease, 9).outcome()).as("fenced").isEqualTo(Outcome.DONE);
            assertThat(ask(ANN, MirrorAction.RETURN, lease, 9).outcome()).as("fenced").isEqualTo(Outcome.DONE);
            assertThat(table.freeCount()).isEqualTo(CHUNKS - 1);
            assertThat(act(BEN, MirrorAction.RETURN, lease)).as("a reaper's").isEqualTo(Outcome.DONE);
            assertThat(ask(BEN, MirrorAction.RECORD, lease, 9).outcome()).as("late").isEqualTo(Outcome.OUTDATED);
            assertThat(table.freeCount()).isEqualTo(CHUNKS);
        }
        ask(ANN, MirrorAction.RECORD, LEASE.at(1, 4), 9);
        assertThat(ask(ANN, MirrorAction.RETURN, LEASE.at(1, 4), 9).outcome()).isEqualTo(Outcome.DONE);
        assertThat(table.freeCount()).as("by its request").isEqualTo(CHUNKS);
    }

    @Test
    void shouldKeepWhatANodeHasAdoptedFromItsOwnRequestOfThatNumber()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        table.orphan(ANN);
        act(BEN, MirrorAction.CLAIM, LEASE);
        act(BEN, MirrorAction.ADOPT, LEASE);
        assertThat(ask(BEN, MirrorAction.RETURN, LEASE, 9).outcome()).isEqualTo(Outcome.DONE);
        assertThat(table.blockCount()).isEqualTo(1);
        restart(false);
        assertThat(ask(BEN, MirrorAction.RETURN, LEASE, 9).outcome()).isEqualTo(Outcome.DONE);
        assertThat(table.blockCount()).isEqualTo(1);
    }

    @Test
    void shouldKeepLeasesOfGroupsWhenALeaseOfThisNodeAloneIsMadeAnew()
    {
        table.lease(ANN, 9, ChunkPurpose.BLOCKS, 1, false);
        act(ANN, MirrorAction.RECORD, LEASE);
        table.lease(ANN, 9, ChunkPurpose.BLOCKS, 2, false);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).isEqualTo(Outcome.RECORDED);
        assertThat(table.blockCount()).isEqualTo(3);
    }

    /** A table has a subtable in it: the chunk is an index again, and no longer quarantined. */
    @Test
    void shouldTellNothingOfAnIndexWhoseHeaderWasDamagedUntilItIsReturned()
    {
        leases.act(ANN, MirrorAction.RECORD, LEASE, ChunkPurpose.INDEX, 9);
        header().putByte(ChunkDescriptor.COUNT_OFFSET, (byte)99);
        region.asSlice(SuperblockDescriptor.JOURNAL_OFFSET, 128).fill((byte)0);
        restart(true);
        final BitSet indexes = new BitSet();
        indexes.set(1);
        table.acceptDamaged(indexes);
        for (int i = 0; i < 2; i++)
        {
            assertThat(table.indexCount()).isEqualTo(1);
            assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).as("it may be complete").isEqualTo(Outcome.TAKEN);
            assertThat(act(BEN, MirrorAction.RECORD, LEASE.at(1, 100))).isEqualTo(Outcome.TAKEN);
            restart(false);
        }
        table.takeBack(BEN, RUN, 0);
        assertThat(act(BEN, MirrorAction.RECORD, LEASE)).as("late").isEqualTo(Outcome.OUTDATED);
        table.lease(BEN, 1, ChunkPurpose.INDEX, CHUNKS, false);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).as("its header is known").isEqualTo(Outcome.DONE);
        restart(false);
        assertThat(act(BEN, MirrorAction.REFUSE, LEASE)).isEqualTo(Outcome.DONE);
    }

    /** The chunk was refused, so that it may be another's at the other members: its late request must not get it. */
    @Test
    void shouldRecordWhatWasRefusedWhenCountsAreNotCompared()
    {
        act(BEN, MirrorAction.REFUSE, LEASE);
        try (Mutation.Opened _ = MirrorLeaseMutation.LARGER_COUNT.open())
        {
            assertThat(act(ANN, MirrorAction.RECORD, LEASE)).isEqualTo(Outcome.DONE);
        }
    }

    @Test
    void shouldLoseOneCopyWhenAMemberDoesAloneWhatAGroupDoes()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        try (Mutation.Opened _ = MirrorLeaseMutation.GROUPS_CHUNK.open())
        {
            table.takeBack(ANN, RUN, 0);
        }
        assertThat(table.freeCount()).isEqualTo(CHUNKS);
    }

    @Test
    void shouldFreeWhatAnotherRequestHasWhenRequestsAreNotCompared()
    {
        leases.act(ANN, MirrorAction.RECORD, LEASE, ChunkPurpose.INDEX, 9);
        try (Mutation.Opened _ = MirrorLeaseMutation.OF_THE_REQUEST.open())
        {
            assertThat(ask(BEN, MirrorAction.RETURN, LEASE, 9).outcome()).isEqualTo(Outcome.DONE);
        }
        assertThat(table.freeCount()).as("it is in use").isEqualTo(CHUNKS);
    }

    @Test
    void shouldRecordInAnOldViewWhenViewsAreNotCompared()
    {
        act(ANN, MirrorAction.RECORD, LEASE);
        try (Mutation.Opened _ = MirrorLeaseMutation.NEWEST_VIEW.open())
        {
            assertThat(act(ANN, MirrorAction.RECORD, new MirroredChunk(7, 1, 2, LENGTH, 1))).isEqualTo(Outcome.DONE);
        }
    }
}
