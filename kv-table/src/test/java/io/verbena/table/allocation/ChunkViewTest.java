package io.verbena.table.allocation;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.Superblock;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

class ChunkViewTest
{
    private static final int GROUP = 7;

    private final ChunkView view = new ChunkView(new Superblock(1, 1, 1 << 16, 0, 1 << 14, 4, 0));
    private final UnsafeBuffer header = new UnsafeBuffer(ByteBuffer.allocateDirect(ChunkDescriptor.HEADER_BYTES));

    private boolean isUnread(final int state, final int group, final long count)
    {
        ChunkDescriptor.write(header, 0, state, 3, 1, 0, 0, 1, 0, group, group == 0 ? 0 : 2, count);
        assertThat(view.read(1, header, 0)).isTrue();
        return view.isUnread(1);
    }

    @Test
    void shouldSayWhoHasAChunkAndWhoReclaimsIt()
    {
        ChunkDescriptor.write(header, 0, ChunkDescriptor.STATE_ORPHAN, 3, 1, 4, 2, 1, 0);
        assertThat(view.read(1, header, 0)).isTrue();
        assertThat(view.owner(1)).isEqualTo(new PeerIdentity(3, 1));
        assertThat(view.reaper(1)).isEqualTo(new PeerIdentity(4, 2));
        assertThat(view.owner(0)).isNull();
        assertThat(view.reaper(0)).isNull();
    }

    @Test
    void shouldSayWhereALeaseOfAGroupMayHaveStood()
    {
        assertThat(isUnread(ChunkDescriptor.STATE_QUARANTINED, 0, 0)).isTrue();
        assertThat(isUnread(ChunkDescriptor.STATE_INDEX, 0, ChunkDescriptor.UNREAD_COUNT)).isTrue();
        // It was freed since.
        assertThat(isUnread(ChunkDescriptor.STATE_FREE, 0, ChunkDescriptor.UNREAD_COUNT + 1)).isFalse();
        assertThat(isUnread(ChunkDescriptor.STATE_INDEX, GROUP, ChunkDescriptor.UNREAD_COUNT)).isFalse();
        assertThat(isUnread(ChunkDescriptor.STATE_BLOCKS, 0, 5)).isFalse();
        assertThat(isUnread(ChunkDescriptor.STATE_INDEX, 0, 0)).isFalse();
    }
}
