package io.verbena.compute.maintenance;

import org.junit.jupiter.api.Test;

import java.util.BitSet;

import static org.assertj.core.api.Assertions.assertThat;

/** That nodes which agree on their number and on the round sweep each range once, and nodes that are alone, all. */
class SweepShareTest
{
    private static final int RANGES = 500;

    private static BitSet swept(final SweepShare share, final int suffix, final boolean hasDeadlines)
    {
        final BitSet swept = new BitSet();
        for (int range = share.first(7, suffix, hasDeadlines); range < RANGES; range += share.stride(hasDeadlines))
        {
            swept.set(range);
        }
        return swept;
    }

    @Test
    void shouldGiveEachRangeToOneOfTheNodes()
    {
        for (int nodes = 1; nodes <= 40; nodes++)
        {
            for (final long round : new long[]{0, 1, 29, 5_949_713, Long.MAX_VALUE / 1_000_000})
            {
                for (final int suffix : new int[]{0, 5, (1 << 20) - 1})
                {
                    final BitSet all = new BitSet();
                    for (int rank = 0; rank < nodes; rank++)
                    {
                        final BitSet share = swept(new SweepShare(rank, nodes, round), suffix, true);
                        assertThat(share.intersects(all)).isFalse();
                        assertThat(share.cardinality()).isBetween(RANGES / nodes, RANGES / nodes + 1);
                        all.or(share);
                    }
                    assertThat(all.cardinality()).isEqualTo(RANGES);
                }
            }
        }
    }

    @Test
    void shouldComeToAllRangesInAsManyRoundsAsThereAreNodes()
    {
        for (int nodes = 1; nodes <= 7; nodes++)
        {
            final BitSet all = new BitSet();
            for (long round = 1_000; round < 1_000 + nodes; round++)
            {
                all.or(swept(new SweepShare(nodes - 1, nodes, round), 3, true));
            }
            assertThat(all.cardinality()).isEqualTo(RANGES);
        }
    }

    @Test
    void shouldSampleASixteenthOfAShareAndComeToAllInSixteenTimesAsManyRounds()
    {
        for (int nodes = 1; nodes <= 7; nodes++)
        {
            final BitSet all = new BitSet();
            for (long round = 1_000; round < 1_000 + (nodes + 1) * SweepShare.SAMPLE; round++)
            {
                final SweepShare share = new SweepShare(0, nodes, round);
                final BitSet sample = swept(share, 3, false);
                assertThat(sample.cardinality()).isLessThanOrEqualTo(RANGES / nodes / SweepShare.SAMPLE + 1);
                final BitSet outside = (BitSet)sample.clone();
                outside.andNot(swept(share, 3, true));
                assertThat(outside.isEmpty()).isTrue();
                all.or(sample);
            }
            assertThat(all.cardinality()).isEqualTo(RANGES);
        }
    }

    @Test
    void shouldCountTheNodeItselfWhetherItIsListedOrNot()
    {
        final int[] others = {3, 8, 9};
        assertThat(SweepShare.of(3, others, 5)).isEqualTo(new SweepShare(0, 3, 5));
        assertThat(SweepShare.of(9, others, 5)).isEqualTo(new SweepShare(2, 3, 5));
        assertThat(SweepShare.of(1, others, 5)).isEqualTo(new SweepShare(0, 4, 5));
        assertThat(SweepShare.of(10, others, 5)).isEqualTo(new SweepShare(3, 4, 5));
        assertThat(SweepShare.of(10, new int[0], 5)).isEqualTo(new SweepShare(0, 1, 5));
    }

    @Test
    void shouldRoundTheRangesOfASubtableUp()
    {
        assertThat(SweepShare.ranges(1)).isOne();
        assertThat(SweepShare.ranges(12)).isOne();
        assertThat(SweepShare.ranges(13)).isEqualTo(2);
    }
}
