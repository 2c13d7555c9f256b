package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.check.OfflineGrowthRepair;
import io.verbena.table.check.RepairableStore;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.check.UnchangedStore;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationResult;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that stop after each single request of a split, of a table that was split before or not, and are repaired. */
class OfflineGrowthRepairTest
{
    private static final int GROUPS = 2;
    private static final int KEYS = 24;
    /** After how many requests the next one is stopped; a prime, so that other lanes are cut short each time. */
    private static final int STRIDE = ExplorationTotals.DEEP ? 1 : 3;
    private static final long LONG_NS = 1L << 40;

    /** A store whose processes have ended, as a tool sees it. */
    private record Stopped(DisturbedStore store, TableDescriptor table) implements RepairableStore, UnchangedStore
    {
        @Override
        public void read(
            final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
        {
            store.fixture.fabric.read(memoryNodeId, offset, target, lengthBytes);
        }

        @Override
        public void swap(final int memoryNodeId, final long offset, final long expected, final long desired)
        {
            assertThat(memoryNodeId).isEqualTo(EngineFixture.NODE);
            store.memory().compareAndSetLong((int)offset, expected, desired);
        }

        @Override
        public int finishSplits(final List<String> problems)
        {
            throw new UnsupportedOperationException("done by finish()");
        }

        @Override
        public List<TableDescriptor> tables()
        {
            return List.of(table);
        }

        StoreCheck check()
        {
            final StoreCheck check = new StoreChecker(this).check(List.of(EngineFixture.NODE));
            assertThat(check.isSound()).as("%s", check).isTrue();
            return check;
        }

        OfflineGrowthRepair.Finished finish()
        {
            return new OfflineGrowthRepair(this, Map.of(EngineFixture.NODE, (long)EngineFixture.MEMORY_BYTES),
                new LocalDomain(), LocalDomain.attributes(false)).finish(table);
        }
    }

    /** @return whether the split ended before so many requests, or answers to them. */
    private static boolean stopAfter(final DisturbedStore store, final int steps, final int splitsBefore)
    {
        for (int split = 0; split < splitsBefore; split++)
        {
            run(store, split, Integer.MAX_VALUE);
        }
        return run(store, splitsBefore, steps);
    }

    /** The subtables with suffix 0, each one the half of the one before, into chunks 1 and 2, 3 and 4, and so on. */
    private static boolean run(final DisturbedStore store, final int number, final int steps)
    {
        final int chunk = 1 + 2 * number;
        store.state(chunk, ChunkDescriptor.STATE_INDEX);
        store.state(chunk + 1, ChunkDescriptor.STATE_INDEX);
        final TableSplit split = store.fixture.engine.growth().begin(store.table, 0, DisturbedStore.chunkAt(chunk),
            DisturbedStore.chunkAt(chunk + 1), store.fixture.nowNs + LONG_NS);
        for (int step = 0; step < steps && !split.isFinished(); step++)
        {
            store.fixture.engine.poll();
            store.fixture.fabric.step();
        }
        return split.isFinished();
    }

    /** Depths 0, 1 and 3: the last one begins a window, for which hashes are read. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void shouldFinishASplitThatStoppedAfterAnyRequest(final int splitsBefore)
    {
        boolean isOver = false;
        int runs = 0;
        int finished = 0;
        for (int steps = 0; !isOver; steps += STRIDE)
        {
            try (DisturbedStore store = new DisturbedStore(steps, GROUPS, true))
            {
                isOver = stopAfter(store, steps, splitsBefore);
                final Stopped stopped = new Stopped(store, store.table.descriptor());
                final StoreCheck before = stopped.check();
                final long records = before.tables().get("t").committed;
                final boolean isUnderWay = before.tables().get("t").splitsUnderWay > 0;

                final OfflineGrowthRepair.Finished done = stopped.finish();
                assertThat(done.failure()).isNull();
                assertThat(done.finishedCount()).as("steps %d", steps).isEqualTo(isUnderWay ? 1 : 0);
                finished += done.finishedCount();

                final Stopped repaired = new Stopped(store, done.growth().descriptor());
                final StoreCheck after = repaired.check();
                assertThat(after.tables().get("t").committed).isEqualTo(records).isEqualTo(KEYS);
                assertThat(after.tables().get("t").splitsUnderWay).isZero();
                assertThat(after.tables().get("t").restructuring).isZero();
                assertNothingLost(after, repaired.table, 3 + 2 * splitsBefore);
                assertReadable(store, repaired.table);
            }
            runs++;
        }
        System.out.println("splits before " + splitsBefore + ": stopped after " + runs + " numbers of steps, " +
            finished + " finished by the repair");
        assertThat(finished).isGreaterThan(runs / 2);
    }

    /** Of the two halves of a table that was split once; proposed, decided or under way. */
    @Test
    void shouldFinishAMergeThatStoppedAfterAnyRequest()
    {
        boolean isOver = false;
        int merged = 0;
        for (int steps = 0; !isOver; steps += STRIDE)
        {
            try (DisturbedStore store = new DisturbedStore(steps, GROUPS, true))
            {
                run(store, 0, Integer.MAX_VALUE);
                store.state(3, ChunkDescriptor.STATE_INDEX);
                final TableMerge merge = store.fixture.engine.growth().beginMerge(
                    store.table, 0, DisturbedStore.chunkAt(3), store.fixture.nowNs + LONG_NS);
                for (int step = 0; step < steps && !merge.isFinished(); step++)
                {
                    store.fixture.engine.poll();
                    store.fixture.fabric.step();
                }
                isOver = merge.isFinished();
                assertThat(merge.failure()).isNull();
                final Stopped stopped = new Stopped(store, store.table.descriptor());
                assertThat(stopped.check().tables().get("t").committed).isEqualTo(KEYS);

                final OfflineGrowthRepair.Finished done = stopped.finish();
                assertThat(done.failure()).as("steps %d", steps).isNull();
                final Stopped repaired = new Stopped(store, done.growth().descriptor());
                final StoreCheck after = repaired.check();
                assertThat(after.tables().get("t").committed).isEqualTo(KEYS);
                assertThat(after.tables().get("t").splitsUnderWay).as("steps %d", steps).isZero();
                assertThat(after.tables().get("t").restructuring).isZero();
                assertReadable(store, repaired.table);
                merged += repaired.table.subtableCount() == 1 ? 1 : 0;
            }
        }
        System.out.println("merges of stopped tables finished: " + merged);
        assertThat(merged).isGreaterThan(10 / STRIDE);
    }

    /** Every chunk is free, for blocks, or an index that is named, or told as unnamed. */
    private static void assertNothingLost(final StoreCheck check, final TableDescriptor table, final int indexChunks)
    {
        final TreeSet<Long> named = new TreeSet<>();
        Subtable.of(table).forEach((subtable) -> named.add(subtable.offset()));
        assertThat(check.spaces()).singleElement().satisfies((space) ->
        {
            assertThat(space.indexBytes).isEqualTo((long)indexChunks * DisturbedStore.CHUNK_BYTES);
            assertThat(space.unnamedIndexBytes / DisturbedStore.CHUNK_BYTES).isEqualTo(indexChunks - named.size());
            assertThat(space.unnamedChunks.cardinality()).isEqualTo(indexChunks - named.size());
        });
    }

    /** By a node that knows nothing but the new descriptor; it writes as well. */
    private static void assertReadable(final DisturbedStore store, final TableDescriptor descriptor)
    {
        try (EngineFixture next = new EngineFixture(store.fixture.fabric, settings -> settings.writerNumber(2)))
        {
            next.nextBlocksAt = EngineFixture.BLOCKS_AT + (1 << 19);
            final OpenTable table = next.engine.openTable(descriptor);
            for (int i = 0; i < KEYS; i++)
            {
                assertThat(next.get(table, "key-" + i).value()).isEqualTo("v");
                assertThat(next.put(table, "key-" + i, "w").result()).isEqualTo(OperationResult.STORED);
                assertThat(next.get(table, "key-" + i).value()).isEqualTo("w");
            }
        }
    }

    /** What dead inserters left does not get in the way, and is not carried on. */
    @ParameterizedTest
    @ValueSource(ints = {20, 60, 90, 120})
    void shouldLeaveTentativeWordsOfTheDeadBehind(final int steps)
    {
        try (DisturbedStore store = new DisturbedStore(steps, GROUPS, true))
        {
            store.plant(store.find(false), SlotWord.withKind(
                SlotWord.committed(1, 0, 1, 0, EngineFixture.BLOCKS_AT + 4096), SlotWord.KIND_TENTATIVE));
            stopAfter(store, steps, 0);
            final Stopped stopped = new Stopped(store, store.table.descriptor());
            final OfflineGrowthRepair.Finished done = stopped.finish();
            final StoreCheck after = new Stopped(store, done.growth().descriptor()).check();
            assertThat(after.tables().get("t").committed).isEqualTo(KEYS);
            assertThat(after.tables().get("t").tentative).isEqualTo(done.growth().replaced().isEmpty() ? 1 : 0);
        }
    }
}
