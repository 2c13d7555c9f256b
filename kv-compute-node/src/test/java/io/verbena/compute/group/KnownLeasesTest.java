package io.verbena.compute.group;

import io.verbena.protocol.message.MirroredChunk;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KnownLeasesTest
{
    private static final int GROUP = 9;

    private static MirroredChunk lease(final long count)
    {
        return new MirroredChunk(GROUP, 1, 4, 64 << 10, count);
    }

    private static KnownLeases of(final long node, final long newest)
    {
        return KnownLeases.ofNodes((id) -> id == node ? newest : 0);
    }

    @Test
    void shouldKnowOfBothMomentsTheLaterLease()
    {
        final KnownLeases older = KnownLeases.ofGroup(GROUP, (offset) -> lease(2)).and(of(3, 17));
        final KnownLeases newer = KnownLeases.ofGroup(GROUP, (offset) -> lease(5)).and(of(3, 11));
        assertThat(older.and(newer).lease(GROUP, 0)).isEqualTo(lease(5));
        assertThat(newer.and(older).lease(GROUP, 0)).isEqualTo(lease(5));
        assertThat(older.and(newer).newest(3)).isEqualTo(17);
        assertThat(newer.and(older).newest(3)).isEqualTo(17);
    }

    @Test
    void shouldKnowNothingOfOthers()
    {
        final KnownLeases known = KnownLeases.ofGroup(GROUP, (offset) -> offset == 0 ? lease(2) : null).and(of(3, 17));
        assertThat(known.lease(GROUP, 64 << 10)).isNull();
        assertThat(known.lease(GROUP + 1, 0)).isNull();
        assertThat(known.newest(4)).isZero();
        assertThat(KnownLeases.NONE.and(known).lease(GROUP, 0)).isEqualTo(lease(2));
        assertThat(known.and(KnownLeases.NONE).lease(GROUP, 0)).isEqualTo(lease(2));
    }
}
