package io.verbena.compute.group;

import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.allocation.ChunkView;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.FormatException;
import io.verbena.table.format.Superblock;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a memory node that comes in is to record, of what the primary shows. */
class EnteringLeasesTest
{
    private static final int GROUP = 7;
    private static final int OTHER_GROUP = 8;
    private static final int LENGTH = 1 << 14;
    private static final PeerIdentity ANN = new PeerIdentity(5, 50);
    private static final PeerIdentity BEN = new PeerIdentity(6, 60);
    private static final PeerIdentity NOBODY = new PeerIdentity(0, 0);

    private final ChunkView look = new ChunkView(new Superblock(1, 1, 8 * LENGTH, 0, LENGTH, 8, 0));
    private final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));

    private void show(
        final int index, final int state, final PeerIdentity owner, final PeerIdentity reaper, final long requestId,
        final int group, final long count)
    {
        ChunkDescriptor.write(header, 0, state, owner.nodeId(), owner.incarnation(), reaper.nodeId(),
            reaper.incarnation(), 1, requestId, group, group == 0 ? 0 : 3, count);
        assertThat(look.read(index, header, 0)).isTrue();
    }

    private static MirroredChunk chunk(final int index, final long count)
    {
        return new MirroredChunk(GROUP, 3, index, LENGTH, count);
    }

    @Test
    void shouldBeThoseOfTheGroupAlone()
    {
        show(0, ChunkDescriptor.STATE_INDEX, ANN, NOBODY, 9, 0, 0);
        show(1, ChunkDescriptor.STATE_BLOCKS, ANN, NOBODY, 10, GROUP, 4);
        show(2, ChunkDescriptor.STATE_BLOCKS, ANN, NOBODY, 11, OTHER_GROUP, 5);
        show(3, ChunkDescriptor.STATE_INDEX, NOBODY, NOBODY, 12, GROUP, 6);
        show(4, ChunkDescriptor.STATE_ORPHAN, ANN, BEN, 0, GROUP, 7);
        show(5, ChunkDescriptor.STATE_FREE, NOBODY, NOBODY, 0, 0, 8);
        assertThat(EnteringMember.leases(look, GROUP)).containsExactly(
            new EnteredLease(chunk(1, 4), EnteredLease.BLOCKS, 10, ANN, null),
            new EnteredLease(chunk(3, 6), EnteredLease.INDEX, 12, null, null),
            new EnteredLease(chunk(4, 7), EnteredLease.ORPHAN, 0, ANN, BEN));
        assertThat(EnteringMember.leases(look, GROUP + 2)).isEmpty();
    }

    /** It may have been one of the group's: who comes in would not have it. */
    @Test
    void shouldNotBeKnownWhereAHeaderWasDamaged()
    {
        show(1, ChunkDescriptor.STATE_BLOCKS, ANN, NOBODY, 10, GROUP, 4);
        show(2, ChunkDescriptor.STATE_QUARANTINED, NOBODY, NOBODY, 0, 0, 0);
        assertThatThrownBy(() -> EnteringMember.leases(look, GROUP)).isInstanceOf(FormatException.class)
            .hasMessageContaining("the header of chunk 2 of the primary was damaged");
        show(2, ChunkDescriptor.STATE_INDEX, NOBODY, NOBODY, 0, 0, ChunkDescriptor.UNREAD_COUNT);
        assertThatThrownBy(() -> EnteringMember.leases(look, GROUP)).isInstanceOf(FormatException.class);
        show(2, ChunkDescriptor.STATE_FREE, NOBODY, NOBODY, 0, 0, ChunkDescriptor.UNREAD_COUNT + 1);
        assertThat(EnteringMember.leases(look, GROUP)).hasSize(1);
    }
}
