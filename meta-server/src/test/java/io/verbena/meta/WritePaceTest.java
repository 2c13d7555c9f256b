package io.verbena.meta;

import org.junit.jupiter.api.Test;

import static io.verbena.meta.WritePace.STORM_JOINS;
import static io.verbena.meta.WritePace.STORM_NS;
import static io.verbena.meta.WritePace.STORM_WRITES;
import static org.assertj.core.api.Assertions.assertThat;

class WritePaceTest
{
    private static final long LONG_NS = STORM_NS / STORM_WRITES;

    private final WritePace pace = new WritePace();
    /** Before 0, as a clock may be. */
    private long nowNs = -5 * STORM_NS;

    private void write(final int joined, final long lengthNs)
    {
        pace.begin(joined, nowNs);
        nowNs += lengthNs;
        pace.poll(nowNs);
        assertThat(pace.lengthNs()).isEqualTo(lengthNs);
    }

    @Test
    void shouldNotPauseBeforeTheFirstWriteNorAfterOneOfFewNodes()
    {
        assertThat(pace.isPausing(nowNs)).isFalse();
        write(STORM_JOINS - 1, LONG_NS);
        assertThat(pace.isPausing(nowNs)).isFalse();
    }

    @Test
    void shouldPauseFromTheBeginningOfAWriteOfSeveralNodes()
    {
        final long beganNs = nowNs;
        write(STORM_JOINS, LONG_NS);
        assertThat(pace.isPausing(nowNs)).isTrue();
        assertThat(pace.isPausing(beganNs + STORM_NS - 1)).isTrue();
        assertThat(pace.isPausing(beganNs + STORM_NS)).isFalse();
    }

    @Test
    void shouldPauseForSoManyLengthsOfTheLastWriteWhereItIsShort()
    {
        final long beganNs = nowNs;
        write(STORM_JOINS, 1_000);
        assertThat(pace.isPausing(beganNs + STORM_WRITES * 1_000 - 1)).isTrue();
        assertThat(pace.isPausing(beganNs + STORM_WRITES * 1_000)).isFalse();
    }

    @Test
    void shouldPauseForNoneThatTakesNoTime()
    {
        write(STORM_JOINS, 0);
        assertThat(pace.isPausing(nowNs)).isFalse();
    }

    /** As where each write is over before there is another node. */
    @Test
    void shouldCountNodesOfWritesThatFollowEachOther()
    {
        for (int i = 1; i < STORM_JOINS; i++)
        {
            write(1, LONG_NS);
            assertThat(pace.isPausing(nowNs)).isFalse();
        }
        write(1, LONG_NS);
        assertThat(pace.isPausing(nowNs)).isTrue();
    }

    @Test
    void shouldForgetNodesOfLongAgo()
    {
        final long beganNs = nowNs;
        write(STORM_JOINS - 1, LONG_NS);
        nowNs = beganNs + STORM_NS;
        write(1, LONG_NS);
        assertThat(pace.isPausing(nowNs)).isFalse();
        nowNs = beganNs + 2 * STORM_NS - 1;
        write(STORM_JOINS - 1, LONG_NS);
        assertThat(pace.isPausing(nowNs)).as("in one window").isTrue();
    }

    @Test
    void shouldTakeAPauseForTheEndOfAWriteOnce()
    {
        write(1, LONG_NS);
        nowNs += STORM_NS;
        pace.poll(nowNs);
        assertThat(pace.lengthNs()).isEqualTo(LONG_NS);
    }
}
