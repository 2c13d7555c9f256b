package io.verbena.table.moving;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.format.SlotWord;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Groups of any words: what was reserved is enough whatever comes, and each word goes where its key may lie. */
class MergePlacementPropertyTest
{
    private static final int SLOTS = MergePlacement.SLOTS;
    private static final int PER_BUCKET = 7;
    private static final long SEED = 20261122;

    private final Random random = new Random(SEED);
    private long nextBlock = 64;

    private long committed(final int depth)
    {
        nextBlock += 64;
        return SlotWord.committed(
            random.nextInt(1 << SlotWord.FINGERPRINT_BITS), random.nextInt(16), depth, 1, nextBlock);
    }

    private long[] group(final int takenOf100)
    {
        final long[] old = new long[2 * SLOTS];
        for (int i = 0; i < old.length; i++)
        {
            final int choice = random.nextInt(100);
            old[i] = choice < takenOf100 ? committed(1) :
                choice < takenOf100 + 10 ? SlotWord.withKind(committed(1), SlotWord.KIND_TENTATIVE) :
                choice < takenOf100 + 15 ? SlotWord.RESERVED :
                choice % 2 == 0 ? SlotWord.EMPTY : SlotWord.emptied(1, i);
        }
        return old;
    }

    @Test
    void shouldReserveEnoughForWhateverComes()
    {
        int fitting = 0;
        int full = 0;
        for (int i = 0; i < 20_000; i++)
        {
            final long[] old = group(random.nextInt(60));
            final boolean fits = MergePlacement.fits(old);
            int reserved = 0;
            for (int slot = MergePlacement.toReserve(old); slot >= 0; slot = MergePlacement.toReserve(old))
            {
                assertThat(SlotWord.namesBlock(old[slot])).as("seed %d", SEED).isFalse();
                old[slot] = SlotWord.RESERVED;
                assertThat(++reserved).isLessThanOrEqualTo(old.length);
            }
            assertThat(MergePlacement.fits(old)).isEqualTo(fits);
            if (fits)
            {
                fitting++;
                changeOpenSlots(old);
                checkPlacement(old);
            }
            else
            {
                full++;
            }
        }
        assertThat(fitting).isGreaterThan(5_000);
        assertThat(full).isGreaterThan(1_000);
    }

    @Test
    void shouldChooseTheSameSlotsWhereSomebodyHasEmptiedThem()
    {
        for (int i = 0; i < 2_000; i++)
        {
            final long[] old = group(random.nextInt(60));
            final long[] formatted =
                LongStream.of(old).map(word -> SlotWord.isEmpty(word) ? SlotWord.EMPTY : word).toArray();
            for (int slot = MergePlacement.toReserve(old); slot >= 0; slot = MergePlacement.toReserve(old))
            {
                assertThat(MergePlacement.toReserve(formatted)).as("seed %d", SEED).isEqualTo(slot);
                old[slot] = SlotWord.RESERVED;
                formatted[slot] = SlotWord.RESERVED;
            }
        }
    }

    /** Inserts and deletes until the slots are frozen. */
    private void changeOpenSlots(final long[] old)
    {
        final int takenOf10 = random.nextInt(11);
        for (int i = 0; i < old.length; i++)
        {
            if (old[i] != SlotWord.RESERVED)
            {
                old[i] = random.nextInt(10) < takenOf10 ? committed(1) : SlotWord.EMPTY;
            }
            old[i] = SlotWord.frozen(old[i]);
        }
    }

    private static void checkPlacement(final long[] old)
    {
        final long[] placed = new long[SLOTS];
        assertThat(MergePlacement.place(old, 1, 0, placed)).as("seed %d", SEED).isTrue();
        final Set<Long> all = new HashSet<>();
        int records = 0;
        for (int i = 0; i < old.length; i++)
        {
            if (SlotWord.namesBlock(old[i]))
            {
                records++;
                all.add(SlotWord.withKind(old[i], SlotWord.KIND_COMMITTED));
                assertThat(bucketOf(placed, SlotWord.withKind(old[i], SlotWord.KIND_COMMITTED))).as("seed %d", SEED)
                    .isIn(i % SLOTS / PER_BUCKET, 1);
            }
        }
        int words = 0;
        for (final long word : placed)
        {
            assertThat(word == SlotWord.EMPTY || all.contains(word)).as("seed %d", SEED).isTrue();
            words += word == SlotWord.EMPTY ? 0 : 1;
        }
        assertThat(words).as("seed %d", SEED).isEqualTo(records);
    }

    private static int bucketOf(final long[] placed, final long word)
    {
        for (int slot = 0; slot < SLOTS; slot++)
        {
            if (placed[slot] == word)
            {
                return slot / PER_BUCKET;
            }
        }
        return -1;
    }

    @Test
    void shouldGiveEachWordTheWindowOfTheLesserDepth()
    {
        final long[] old = new long[2 * SLOTS];
        old[3] = SlotWord.frozen(SlotWord.withWindow(committed(1), 0xA));
        old[SLOTS + 5] = SlotWord.frozen(SlotWord.withWindow(committed(1), 0xB));
        final long[] placed = new long[SLOTS];
        // Depth 3, suffix 101: those of depth 4 have suffixes 0101 and 1101, which is all of the window.
        MergePlacement.place(old, 3, 0b101, placed);
        assertThat(SlotWord.window(placed[3])).isEqualTo(0b0101);
        assertThat(SlotWord.window(placed[5])).isEqualTo(0b1101);
        MergePlacement.place(old, 2, 0b01, placed);
        assertThat(SlotWord.window(placed[3])).isEqualTo(0xA);
        assertThat(SlotWord.window(placed[5])).isEqualTo(0xB);
        // Depth 7, suffix 1100101: bits 4 to 7 of the old suffixes.
        MergePlacement.place(old, 7, 0b1100101, placed);
        assertThat(SlotWord.window(placed[3])).isEqualTo(0b0110);
        assertThat(SlotWord.window(placed[5])).isEqualTo(0b1110);
    }
}
