package io.verbena.table.mirror;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ByteRangesTest
{
    private static void shouldBe(final ByteRanges ranges, final long... offsetsAndLengths)
    {
        assertThat(ranges.count()).isEqualTo(offsetsAndLengths.length / 2);
        long totalBytes = 0;
        for (int i = 0; i < ranges.count(); i++)
        {
            assertThat(ranges.offset(i)).isEqualTo(offsetsAndLengths[2 * i]);
            assertThat(ranges.lengthBytes(i)).isEqualTo(offsetsAndLengths[2 * i + 1]);
            totalBytes += ranges.lengthBytes(i);
        }
        assertThat(ranges.totalBytes()).isEqualTo(totalBytes);
    }

    private static void shouldRefuse(final long[] offsets, final long[] lengthsBytes, final String text)
    {
        assertThatThrownBy(() -> ByteRanges.of(offsets, lengthsBytes)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(text);
    }

    @Test
    void shouldBeInOrderAndOneWhereTheyMeet()
    {
        shouldBe(ByteRanges.of(new long[]{300, 0, 100, 220}, new long[]{7, 10, 100, 80}), 0, 10, 100, 100, 220, 87);
        shouldBe(ByteRanges.of(new long[]{8, 4, 0}, 4), 0, 12);
        shouldBe(ByteRanges.of(new long[]{0, 5}, 4), 0, 4, 5, 4);
        shouldBe(ByteRanges.of(new long[]{Long.MAX_VALUE - 9, 0}, new long[]{9, Integer.MAX_VALUE + 1L}),
            0, Integer.MAX_VALUE + 1L, Long.MAX_VALUE - 9, 9);
    }

    @Test
    void shouldBeNone()
    {
        shouldBe(ByteRanges.NONE);
        assertThat(ByteRanges.of(new long[0], 4)).isEqualTo(ByteRanges.NONE);
        assertThat(ByteRanges.NONE).hasToString("0 bytes in 0 ranges");
    }

    /** Both arrays are the caller's. */
    @Test
    void shouldKeepWhatItWasGiven()
    {
        final long[] offsets = {100, 0};
        final long[] lengthsBytes = {1, 2};
        final ByteRanges ranges = ByteRanges.of(offsets, lengthsBytes);
        assertThat(offsets).containsExactly(100, 0);
        assertThat(lengthsBytes).containsExactly(1, 2);
        offsets[0] = 50;
        lengthsBytes[0] = 9;
        shouldBe(ranges, 0, 2, 100, 1);
    }

    @Test
    void shouldRefuseWhatIsNoRange()
    {
        shouldRefuse(new long[]{0}, new long[]{0}, "offset=0 lengthBytes=0");
        shouldRefuse(new long[]{0}, new long[]{-1}, "lengthBytes=-1");
        shouldRefuse(new long[]{-1}, new long[]{1}, "offset=-1");
        shouldRefuse(new long[]{Long.MAX_VALUE}, new long[]{1}, "offset=9223372036854775807");
        shouldRefuse(new long[]{0, 1}, new long[]{1}, "2 offsets and 1 lengths");
        shouldRefuse(new long[]{8, 0}, new long[]{1, 9}, "what begins at 8 is in what ends at 9");
        shouldRefuse(new long[]{8, 8}, new long[]{1, 1}, "what begins at 8");
        shouldRefuse(new long[]{0, 2, 5}, new long[]{4, 1, 1}, "what begins at 2 is in what ends at 4");
    }

    @Test
    void shouldBeEqualByWhatTheyAre()
    {
        final ByteRanges one = ByteRanges.of(new long[]{0, 8}, 4);
        assertThat(one).isEqualTo(ByteRanges.of(new long[]{8, 0}, new long[]{4, 4}))
            .hasSameHashCodeAs(ByteRanges.of(new long[]{8, 0}, 4))
            .isNotEqualTo(ByteRanges.of(new long[]{0, 9}, 4)).isNotEqualTo(ByteRanges.of(new long[]{0, 8}, 5))
            .isNotEqualTo(null).hasToString("8 bytes in 2 ranges");
    }
}
