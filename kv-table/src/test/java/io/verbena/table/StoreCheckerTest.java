package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableWords;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SuperblockDescriptor;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A store of one memory node: each kind of damage planted and found, and a check that others write beside: at each of
 * its READs one of them may run an operation, on so little memory that blocks are used again all the time.
 */
class StoreCheckerTest
{
    private static final int CHUNK_BYTES = DisturbedStore.CHUNK_BYTES;
    private static final int HEADERS_AT = DisturbedStore.HEADERS_AT;
    private static final int FEW_GROUPS = 2;
    /** More than five READs. */
    private static final int MANY_GROUPS = 5 * TableWords.GROUPS_PER_READ + 1;
    private static final int SLOTS_PER_GROUP = BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKETS_PER_GROUP;
    private static final int RUNS = 10;
    private static final int SPLIT_RUNS = 40;
    private static final int CHECKS_BESIDE_SPLITS = 4;

    /** The word is what leads to the record: nobody takes its key for absent as long as that is sound. */
    @Test
    void shouldTellADamagedRecordFromADamagedWord()
    {
        try (DisturbedStore store = new DisturbedStore(1, FEW_GROUPS, true))
        {
            final int slot = store.find(true);
            final long word = store.word(slot);
            final int block = (int)SlotWord.blockOffset(word);
            final int hash = block + BlockDescriptor.KEY_HASH_OFFSET;
            final int lastOfKey = block + BlockDescriptor.KEY_OFFSET +
                BlockDescriptor.keyLength(store.memory(), block) - 1;
            assertDamage(store, block + BlockDescriptor.CHECKSUM_OFFSET, true);
            assertDamage(store, block + BlockDescriptor.VERSION_OFFSET, true);
            assertDamage(store, block + BlockDescriptor.KEY_LENGTH_OFFSET, true);
            assertDamage(store, block + BlockDescriptor.KEY_LENGTH_OFFSET + 1, true);
            assertDamage(store, block + BlockDescriptor.KEY_OFFSET, true);
            assertDamage(store, lastOfKey + 1, true);
            for (int at = 0; at < Long.BYTES; at++)
            {
                assertDamage(store, hash + at, false);
            }
            store.plant(slot, word ^ 1L << SlotWord.FINGERPRINT_SHIFT);
            assertThat(onlyTable(store).violation()).contains("its block is damaged");
            store.plant(slot, word ^ 1L << SlotWord.WINDOW_SHIFT);
            assertThat(onlyTable(store).violation()).contains("its block holds a key that does not belong");
            store.plant(slot, word ^ 1L << SlotWord.VERSION_SHIFT);
            assertThat(onlyTable(store).damagedRecords).isOne();
            store.plant(slot, SlotWord.EMPTY);
            assertNoRecordIsDamagedThatIsMisplaced(store, word);
        }
    }

    /** A lookup of its key does not come to other buckets. */
    private static void assertNoRecordIsDamagedThatIsMisplaced(final DisturbedStore store, final long word)
    {
        int misplaced = 0;
        for (int slot = 0; slot < FEW_GROUPS * SLOTS_PER_GROUP; slot++)
        {
            if (store.word(slot) == SlotWord.EMPTY)
            {
                store.plant(slot, word);
                final TableCheck check = onlyTable(store);
                assertThat(check.damagedRecords).isZero();
                misplaced += check.violation().contains("its key does not belong to this bucket") ? 1 : 0;
                store.plant(slot, SlotWord.EMPTY);
            }
        }
        assertThat(misplaced).isPositive();
    }

    private static TableCheck onlyTable(final DisturbedStore store)
    {
        final StoreCheck check = store.check();
        assertThat(check.problems()).isEmpty();
        return check.tables().values().iterator().next();
    }

    private static void assertDamage(final DisturbedStore store, final int at, final boolean isOfRecord)
    {
        store.memory().putByte(at, (byte)~store.memory().getByte(at));
        final TableCheck check = onlyTable(store);
        assertThat(check.isSound()).isFalse();
        assertThat(check.problems()).singleElement().asString().contains("its block is damaged");
        assertThat(check.damagedRecords).as("byte %d", at).isEqualTo(isOfRecord ? 1 : 0);
        assertThat(check.violation()).isEqualTo(isOfRecord ? "" : check.problems().getFirst());
        store.memory().putByte(at, (byte)~store.memory().getByte(at));
    }

    @Test
    void shouldReportHowFarItIs()
    {
        try (DisturbedStore store = new DisturbedStore(1, MANY_GROUPS, true))
        {
            final List<Double> fractions = new ArrayList<>();
            final long[] slots = new long[1];
            final StoreChecker checker = new StoreChecker(store).listener((fraction, read) ->
            {
                fractions.add(fraction);
                assertThat(read).isGreaterThan(slots[0]);
                slots[0] = read;
            });
            for (int i = 0; i < 2; i++)
            {
                checker.check(List.of(EngineFixture.NODE));
                // Each piece of its groups once for its words and once for its blocks.
                assertThat(fractions).hasSize(2 * 6).isSorted().endsWith(1.0);
                assertThat(fractions.getFirst()).isBetween(0.01, 0.2);
                assertThat(slots[0]).isEqualTo(2L * MANY_GROUPS * SLOTS_PER_GROUP);
                fractions.clear();
                slots[0] = 0;
            }
        }
    }

    /** More words than can be read while writers wait: told so, and neither a lie nor a writer without memory. */
    @Test
    void shouldSayWhatItCannotJudgeWhenWritersWouldWait()
    {
        for (int run = 0; run < RUNS; run++)
        {
            try (DisturbedStore store = new DisturbedStore(run, MANY_GROUPS, true))
            {
                store.isLive = true;
                store.isBounded = false;
                store.shortHolds = Integer.MAX_VALUE;
                store.readsOfShortHold = 0;
                final StoreCheck check = store.check();
                assertThat(check.isSound()).as("%s", check).isTrue();
                assertThat(check.unjudged()).singleElement().asString()
                    .startsWith("memory node 7: whether each block has one word");
                assertThat(store.holds).isGreaterThanOrEqualTo(StoreChecker.MOST_HOLDS);
                assertThat(check.spaces()).singleElement().satisfies((space) ->
                    assertThat(space.leasedBytes).isEqualTo(CHUNK_BYTES));
            }
        }
    }

    @Test
    void shouldBeginAnewWhenWritersWouldWait()
    {
        for (int run = 0; run < RUNS; run++)
        {
            try (DisturbedStore store = new DisturbedStore(run, MANY_GROUPS, true))
            {
                store.isLive = true;
                store.shortHolds = 2;
                store.readsOfShortHold = 3;
                final StoreCheck check = store.check();
                assertThat(check.isSound()).as("%s", check).isTrue();
                assertThat(check.unjudged()).isEmpty();
                assertThat(store.holds).isGreaterThanOrEqualTo(3);
                assertThat(check.spaces()).singleElement().satisfies((space) ->
                    assertThat(space.namedBytes).isPositive().isLessThanOrEqualTo(space.leasedBytes));
            }
        }
    }

    /** What it is for: held as long as all words take, the epoch starves writers. */
    @Test
    void shouldLeaveWritersWithoutMemoryWhenItHoldsTooLong()
    {
        final int whenHeldForAll = writersWithoutMemory(Integer.MAX_VALUE);
        final int whenGivenUp = writersWithoutMemory(0);
        System.out.println("writers without memory: " + whenHeldForAll + ", given up in time " + whenGivenUp);
        assertThat(whenHeldForAll).isPositive();
        assertThat(whenGivenUp).isLessThan(whenHeldForAll / 2);
    }

    private static int writersWithoutMemory(final int readsOfHold)
    {
        int sum = 0;
        for (int run = 0; run < RUNS; run++)
        {
            try (DisturbedStore store = new DisturbedStore(run, MANY_GROUPS, true))
            {
                store.isLive = true;
                store.isBounded = false;
                store.shortHolds = Integer.MAX_VALUE;
                store.readsOfShortHold = readsOfHold;
                store.check();
                sum += store.withoutMemory;
            }
        }
        return sum;
    }

    @Test
    void shouldFindEachDamage()
    {
        try (DisturbedStore store = new DisturbedStore(1, FEW_GROUPS, true))
        {
            assertThat(store.problems()).isEmpty();
            final int used = store.find(true);
            final int free = store.find(false);
            final long word = store.word(used);

            store.plant(free, word);
            assertThat(store.problems()).anyMatch((problem) -> problem.contains("its key is also in slot"))
                .anyMatch((problem) -> problem.contains("names memory that another word names"));
            store.plant(free, 5);
            assertThat(store.problems()).singleElement().asString().contains("there is no such word");
            store.plant(free, SlotWord.committed(1, 0, 1, 0, 1L << 36));
            assertThat(store.problems()).hasSize(2).allMatch((problem) -> problem.contains("outside"));
            store.plant(free, SlotWord.committed(1, 0, 1, 0, EngineFixture.BLOCKS_AT + 4 * CHUNK_BYTES));
            assertThat(store.problems()).anyMatch((problem) -> problem.endsWith("which is free"))
                .anyMatch((problem) -> problem.contains("its block is damaged"));
            store.plant(free, SlotWord.EMPTY);
            assertThat(store.problems()).isEmpty();

            final int valueAt = (int)SlotWord.blockOffset(word) + 64;
            store.memory().putByte(valueAt, (byte)(store.memory().getByte(valueAt) ^ 1));
            assertThat(store.problems()).singleElement().asString().contains("its block is damaged");
            store.memory().putByte(valueAt, (byte)(store.memory().getByte(valueAt) ^ 1));
            final int headerAt = store.slot(7) - BucketDescriptor.SLOTS_OFFSET;
            final long header = store.memory().getLong(headerAt, LITTLE_ENDIAN);
            store.memory().putLong(headerAt, header + 1, LITTLE_ENDIAN);
            assertThat(store.problems()).singleElement().asString().contains("bucket 1 of group 0", "wrong header");
            store.memory().putLong(headerAt, header, LITTLE_ENDIAN);
            store.state(0, ChunkDescriptor.STATE_BLOCKS);
            assertThat(store.problems()).singleElement().asString().contains("its chunk 0 is blocks");
            store.state(0, ChunkDescriptor.STATE_INDEX);
            store.memory().putByte(HEADERS_AT + 70, (byte)9);
            assertThat(store.problems()).singleElement().asString().contains("chunk 1: ");
            store.state(1, ChunkDescriptor.STATE_FREE);
            store.memory().putByte(SuperblockDescriptor.CHUNK_COUNT_OFFSET, (byte)9);
            assertThat(store.problems()).isNotEmpty().first().asString().startsWith("memory node 7: ");
        }
    }

    @Test
    void shouldFindAKeyInAnotherBucketThanItsOwn()
    {
        try (DisturbedStore store = new DisturbedStore(1, FEW_GROUPS, true))
        {
            final long word = store.word(store.find(true));
            int misplaced = 0;
            for (int slot = 0; slot < 6 * BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                if (store.word(slot) == SlotWord.EMPTY)
                {
                    store.plant(slot, word);
                    misplaced += store.problems().stream().anyMatch(
                        (problem) -> problem.contains("its key does not belong to this bucket")) ? 1 : 0;
                    store.plant(slot, SlotWord.EMPTY);
                }
            }
            assertThat(misplaced).isPositive();
        }
    }

    @Test
    void shouldTellWhichUndecidedInsertsAreLeftBehind()
    {
        try (DisturbedStore store = new DisturbedStore(1, FEW_GROUPS, true))
        {
            final int free = store.find(false);
            final long word = SlotWord.withKind(store.word(store.find(true)), SlotWord.KIND_TENTATIVE);
            store.plant(free, word);
            assertThat(store.check().leftovers())
                .containsExactly(new StoreCheck.Leftover(EngineFixture.NODE, "t", store.slot(free), word));
            assertThat(store.check().isSound()).isTrue();
        }
    }

    @Test
    void shouldFindNothingBesideWriters()
    {
        for (int seed = 1; seed <= RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, MANY_GROUPS, true))
            {
                store.isLive = true;
                assertThat(store.problems()).as("seed %d", seed).isEmpty();
                assertThat(store.check().isSound()).as("seed %d", seed).isTrue();
            }
        }
    }

    @Test
    void shouldFindDamageBesideWriters()
    {
        for (int seed = 1; seed <= RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, MANY_GROUPS, true))
            {
                final int free = store.find(false);
                store.plant(free, SlotWord.committed(1, 0, 1, 0, EngineFixture.BLOCKS_AT + 4 * CHUNK_BYTES));
                store.isLive = true;
                assertThat(store.problems()).as("seed %d", seed)
                    .anyMatch((problem) -> problem.contains("its block is damaged"));
            }
        }
    }

    @Test
    void shouldTellOfWhatIsNoDamageWhenItDoesNotHoldTheEpoch()
    {
        int misled = 0;
        for (int seed = 1; seed <= RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, MANY_GROUPS, false))
            {
                store.isLive = true;
                misled += store.problems().isEmpty() ? 0 : 1;
            }
        }
        assertThat(misled).isPositive();
    }

    /** Whatever stage splits are at when a READ of the check comes, and whoever has their memory by then. */
    @Test
    void shouldFindNothingBesideSplits()
    {
        long splits = 0;
        long reused = 0;
        for (int seed = 1; seed <= SPLIT_RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, FEW_GROUPS, true))
            {
                final SubtableSplitter splitter = store.splitSubtables();
                store.isLive = true;
                for (int check = 0; check < CHECKS_BESIDE_SPLITS; check++)
                {
                    assertThat(store.problems()).as("seed %d", seed).isEmpty();
                }
                splits += splitter.splits();
                reused += splitter.returned();
            }
        }
        System.out.println("splits beside checks: " + splits + ", subtables used again: " + reused);
        assertThat(splits).isGreaterThan(SPLIT_RUNS);
        assertThat(reused).isPositive();
    }

    @Test
    void shouldFindDamageBesideSplits()
    {
        for (int seed = 1; seed <= RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, FEW_GROUPS, true))
            {
                store.splitSubtables();
                store.plant(
                    store.find(false), SlotWord.committed(1, 0, 1, 0, EngineFixture.BLOCKS_AT + 4 * CHUNK_BYTES));
                store.isLive = true;
                assertThat(store.problems()).as("seed %d", seed)
                    .anyMatch((problem) -> problem.contains("its block is damaged"));
            }
        }
    }

    /** What was noted before it began anew is forgotten: each damage is told, and told once. */
    @Test
    void shouldTellEachDamageOnceWhenItBeganAnew()
    {
        for (int seed = 1; seed <= RUNS; seed++)
        {
            try (DisturbedStore store = new DisturbedStore(seed, MANY_GROUPS, true))
            {
                final long word = SlotWord.committed(1, 0, 1, 0, 1L << 36);
                store.plant(store.find(false), word);
                final long dead = SlotWord.withKind(word, SlotWord.KIND_TENTATIVE);
                final int deadAt = store.find(false);
                store.plant(deadAt, dead);
                store.isLive = true;
                store.shortHolds = 2;
                store.readsOfShortHold = 3;
                final StoreCheck check = store.check();
                assertThat(store.holds).isGreaterThanOrEqualTo(3);
                assertThat(check.problems()).as("seed %d", seed).singleElement().asString()
                    .contains("names memory outside of a chunk");
                assertThat(check.leftovers().stream().filter((left) -> left.slotOffset() == store.slot(deadAt)))
                    .as("seed %d", seed).hasSizeLessThanOrEqualTo(1);
                assertThat(check.unjudged()).isEmpty();
            }
        }
    }
}
