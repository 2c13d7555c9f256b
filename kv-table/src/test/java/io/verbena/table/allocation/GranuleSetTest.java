package io.verbena.table.allocation;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.util.BitSet;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs of granules against a set of bits that is known to be right, and more of them than an int can count. */
class GranuleSetTest
{
    private static final int GRANULES = 300;

    @Test
    void shouldAgreeWithASetOfBits()
    {
        try (Arena arena = Arena.ofConfined())
        {
            final GranuleSet set = new GranuleSet(arena, GRANULES);
            final GranuleSet other = new GranuleSet(arena, GRANULES);
            other.add(70, 200);
            final BitSet bits = new BitSet();
            final Random random = new Random(1);
            for (int i = 0; i < 5_000; i++)
            {
                final int first = random.nextInt(GRANULES);
                final int end = first + random.nextInt(GRANULES - first + 1);
                final BitSet part = bits.get(first, end);
                final int free = part.nextSetBit(0);
                assertThat(set.isAnyTaken(first, end)).isEqualTo(!part.isEmpty());
                assertThat(set.freeFrom(first, end)).isEqualTo(free < 0 ? end - first : free);
                assertThat(set.takenFrom(first, end)).isEqualTo(Math.min(end - first, part.nextClearBit(0)));
                assertThat(set.takenHereOr(null, first, end)).isEqualTo(part.cardinality());
                final BitSet both = new BitSet();
                both.set(70, 200);
                both.or(bits);
                assertThat(set.takenHereOr(other, first, end)).isEqualTo(both.get(first, end).cardinality());
                if (random.nextBoolean())
                {
                    set.add(first, Math.min(end, first + 100));
                    bits.set(first, Math.min(end, first + 100));
                }
                else
                {
                    set.remove(first, end);
                    bits.clear(first, end);
                }
            }
        }
    }
}
