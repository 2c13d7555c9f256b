package io.verbena.raas.identity;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecentNoncesTest
{
    private final RecentNonces nonces = new RecentNonces();

    @Test
    void shouldTakeEachNumberOnceInAnyOrder()
    {
        for (final long nonce : new long[]{7, 3, Long.MAX_VALUE, 1})
        {
            assertThat(nonces.use(nonce)).as("%d", nonce).isTrue();
            assertThat(nonces.use(nonce)).as("%d again", nonce).isFalse();
        }
        for (final long wrong : new long[]{0, -1, Long.MIN_VALUE})
        {
            assertThat(nonces.use(wrong)).as("%d", wrong).isFalse();
        }
    }

    @Test
    void shouldRememberTheLastOnesAndNoMore()
    {
        assertThat(RecentNonces.CAPACITY).as("as docs/security.md and docs/format/connect-data.md say")
            .isEqualTo(16_384);
        for (long nonce = 1; nonce <= RecentNonces.CAPACITY; nonce++)
        {
            assertThat(nonces.use(nonce)).isTrue();
        }
        assertThat(nonces.use(1)).as("the oldest of those that are kept").isFalse();
        assertThat(nonces.use(RecentNonces.CAPACITY + 1)).isTrue();
        assertThat(nonces.use(2)).as("the oldest now").isFalse();
        assertThat(nonces.use(1)).as("forgotten").isTrue();
        assertThat(nonces.use(RecentNonces.CAPACITY)).isFalse();
    }
}
