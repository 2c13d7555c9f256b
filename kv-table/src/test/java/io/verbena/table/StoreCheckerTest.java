package io.verbena.table;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/**
 * A store of one memory node: each kind of damage planted and found, and a check that others write beside: at each of
 * its READs one of them may run an operation, on so little memory that blocks are used again all the time.
 */
class StoreCheckerTest
{
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int CHUNKS_AT = CHUNK_BYTES;
    private static final int CHUNK_COUNT = 62;
    private static final int HEADERS_AT = CHUNKS_AT + CHUNK_COUNT * CHUNK_BYTES;
    private static final int KEYS = 24;
    private static final int FEW_GROUPS = 2;
    /** More than five READs. */
    private static final int MANY_GROUPS = 5 * TableWords.GROUPS_PER_READ + 1;
    private static final int RUNS = 10;
    /** Between two READs of slots as many operations as use all blocks again. */
    private static final int OPERATIONS_BESIDE_SLOTS = 60;
    /** Operations that find memory while an epoch is held up. */
    private static final int MOST_WHILE_HELD = 24;

    /** The store, with who writes to it. */
    private static final class Store implements CheckedStore, AutoCloseable
    {
        private final EngineFixture fixture = EngineFixture.single(settings -> { });
        private final OpenTable table;
        private final SplittableRandom random;
        private final boolean isHolding;
        private boolean isLive;
        private boolean isHeld;
        private long heldEpoch;
        private long epoch = 1;
        private int sinceHeld;
        private int holds;
        /** Holds, the first ones, that get so many READs only. */
        private int shortHolds;
        private int readsOfShortHold;
        private int readsSinceHeld;
        private boolean isBounded = true;
        private int withoutMemory;

        Store(final long seed, final int groups, final boolean isHolding)
        {
            this.isHolding = isHolding;
            random = new SplittableRandom(seed);
            fixture.chunkBytes = 1024;
            fixture.chunksLeft = 8;
            table = fixture.createTable(
                TablePlan.ofShape("t", 0x1234, 42, 0, groups, new int[]{EngineFixture.NODE}), CHUNKS_AT);
            final MemorySegment superblock = MemorySegment.ofArray(new long[SuperblockDescriptor.LENGTH / Long.BYTES]);
            SuperblockDescriptor.write(superblock, new Superblock(EngineFixture.NODE, 1,
                EngineFixture.MEMORY_BYTES, CHUNKS_AT, CHUNK_BYTES, CHUNK_COUNT, HEADERS_AT));
            fixture.memory().putBytes(0, superblock.toArray(ValueLayout.JAVA_BYTE));
            for (int i = 0; i < CHUNK_COUNT; i++)
            {
                state(i, i == 0 ? ChunkDescriptor.STATE_INDEX :
                    i == (EngineFixture.BLOCKS_AT - CHUNKS_AT) / CHUNK_BYTES ? ChunkDescriptor.STATE_BLOCKS :
                    ChunkDescriptor.STATE_FREE);
            }
            for (int i = 0; i < KEYS; i++)
            {
                fixture.put(table, "key-" + i, "v");
            }
        }

        void state(final int chunk, final int state)
        {
            ChunkDescriptor.write(fixture.memory(), HEADERS_AT + chunk * ChunkDescriptor.HEADER_BYTES,
                state, 1, 1, 0, 0, 1);
        }

        StoreCheck check()
        {
            return new StoreChecker(this).check(List.of(EngineFixture.NODE));
        }

        List<String> problems()
        {
            final StoreCheck check = check();
            final List<String> problems = new ArrayList<>(check.problems());
            check.tables().values().forEach((found) -> problems.addAll(found.problems()));
            return problems;
        }

        /** Another node's operation, and an epoch if nobody holds it up. */
        private void disturb()
        {
            final String key = "key-" + random.nextInt(KEYS);
            if (random.nextInt(4) == 0)
            {
                fixture.run(OperationKind.DELETE, table, key, null, 0);
            }
            else
            {
                withoutMemory += OperationResult.NO_MEMORY ==
                    fixture.run(OperationKind.PUT, table, key, "v" + random.nextInt(9), 0, 20_000).result() ? 1 : 0;
            }
            final long passed = isHeld && isHolding ? heldEpoch - 1 : epoch;
            if (passed >= epoch - 1)
            {
                epoch++;
            }
            fixture.engine.onEpoch(epoch, Math.min(passed, fixture.engine.passedEpoch()));
        }

        @Override
        public void read(
            final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
        {
            final int operations = lengthBytes > BucketDescriptor.GROUP_BYTES ? OPERATIONS_BESIDE_SLOTS :
                lengthBytes == ChunkDescriptor.HEADER_BYTES ? 0 : random.nextInt(3);
            for (int i = 0; isLive && i < operations && isAllowed(); i++)
            {
                disturb();
            }
            readsSinceHeld++;
            fixture.fabric.read(memoryNodeId, offset, target, lengthBytes);
        }

        private boolean isAllowed()
        {
            return !isHolding || !isHeld || sinceHeld++ < MOST_WHILE_HELD || !isBounded;
        }

        @Override
        public boolean mayHoldOn()
        {
            return holds > shortHolds || readsSinceHeld < readsOfShortHold;
        }

        @Override
        public List<TableDescriptor> tables()
        {
            return List.of(table.descriptor());
        }

        @Override
        public boolean isLive()
        {
            return isLive;
        }

        @Override
        public void hold()
        {
            isHeld = true;
            holds++;
            sinceHeld = 0;
            readsSinceHeld = 0;
            heldEpoch = epoch;
        }

        @Override
        public void release()
        {
            isHeld = false;
            for (int i = 0; i <= EpochTracker.REUSE_DISTANCE; i++)
            {
                epoch++;
                fixture.engine.onEpoch(epoch, fixture.engine.passedEpoch());
            }
        }

        @Override
        public boolean awaitOthers()
        {
            return true;
        }

        UnsafeBuffer memory()
        {
            return fixture.memory();
        }

        int slot(final int index)
        {
            return (int)DirectoryEntry.subtableOffset(table.descriptor().entry(0)) + SubtableDescriptor.GROUPS_OFFSET +
                index / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
                BucketDescriptor.SLOTS_OFFSET + index % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
        }

        long word(final int slot)
        {
            return memory().getLong(slot(slot), LITTLE_ENDIAN);
        }

        /** First slot that is committed, or that is empty, in a bucket that has one of both. */
        int find(final boolean isCommitted)
        {
            for (int bucket = 0; bucket < table.groupCount * BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
            {
                int committed = -1;
                int empty = -1;
                for (int i = 0; i < BucketDescriptor.SLOTS_PER_BUCKET; i++)
                {
                    final int slot = bucket * BucketDescriptor.SLOTS_PER_BUCKET + i;
                    committed = SlotWord.isCommitted(word(slot)) ? slot : committed;
                    empty = word(slot) == SlotWord.EMPTY ? slot : empty;
                }
                if (committed >= 0 && empty >= 0)
                {
                    return isCommitted ? committed : empty;
                }
            }
            throw new AssertionError("no such bucket");
        }

        void plant(final int slot, final long word)
        {
            memory().putLong(slot(slot), word, LITTLE_ENDIAN);
        }

        @Override
        public void close()
        {
            fixture.close();
        }
    }

    /** More words than can be read while writers wait: told so, and neither a lie nor a writer without memory. */
    @Test
    void shouldSayWhatItCannotJudgeWhenWritersWouldWait()
    {
        for (int run = 0; run < RUNS; run++)
        {
            try (Store store = new Store(run, MANY_GROUPS, true))
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
            try (Store store = new Store(run, MANY_GROUPS, true))
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
            try (Store store = new Store(run, MANY_GROUPS, true))
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
        try (Store store = new Store(1, FEW_GROUPS, true))
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
        try (Store store = new Store(1, FEW_GROUPS, true))
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
        try (Store store = new Store(1, FEW_GROUPS, true))
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
            try (Store store = new Store(seed, MANY_GROUPS, true))
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
            try (Store store = new Store(seed, MANY_GROUPS, true))
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
            try (Store store = new Store(seed, MANY_GROUPS, false))
            {
                store.isLive = true;
                misled += store.problems().isEmpty() ? 0 : 1;
            }
        }
        assertThat(misled).isPositive();
    }
}
