package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.directory.TombstoneQueue;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.sweep.ExpirySweep;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Sweeps at their limits: long blocks, many tombstones, several memory nodes, subtables that others split. */
class EngineSweepLimitsTest
{
    private static final int TABLE_ID = 0x77;
    private static final long TABLE_AT = 4096;
    private static final long SPLIT_AT = 512 * 1024;
    /** The queue of tombstones of a memory node has room for as many again. */
    private static final int MANY = 1 << 15;

    private long clockMs = 5_000_000;
    private final EngineFixture fixture = EngineFixture.single(settings -> settings.expiryClock(() -> clockMs));

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private OpenTable createTable(final int depth, final int groups, final int... nodes)
    {
        return fixture.createTable(TablePlan.ofShape("t", TABLE_ID, 42, depth, groups, nodes), TABLE_AT);
    }

    private void put(final OpenTable table, final String key, final int valueBytes, final long expiry)
    {
        assertThat(fixture.run(OperationKind.PUT, table, key, "v".repeat(valueBytes), expiry, ExpiryCondition.ALWAYS,
            0).result()).isEqualTo(OperationResult.STORED);
    }

    private int sweep(final OpenTable table, final int suffix)
    {
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, table.subtable(suffix), 0, fixture.nowNs + 10_000_000);
        while (sweep.isRunning())
        {
            fixture.engine.poll();
            fixture.fabric.step();
            fixture.nowNs += 100;
        }
        return sweep.result();
    }

    private void passEpochs()
    {
        for (int i = 0; i <= EpochTracker.REPEAT_EPOCHS + EpochTracker.REUSE_DISTANCE; i++)
        {
            fixture.engine.onEpoch(fixture.engine.epoch() + 1, fixture.engine.passedEpoch());
        }
    }

    @Test
    void shouldReadLongBlocksInAsManyBatchesAsTheyNeed()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        final int records = 11;
        for (int i = 0; i < records; i++)
        {
            put(table, "k" + i, 16_000, Expiry.in(10));
        }
        clockMs += 10;
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(records);
        assertThat(fixture.engine.counters().sweepDamaged).isZero();
        assertThat(fixture.check(table).committed).isZero();
    }

    @Test
    void shouldTakeAllRecordsOfARangeThatIsFull()
    {
        final OpenTable table = createTable(0, ExpirySweep.GROUPS, EngineFixture.NODE);
        int records = 0;
        while (fixture.run(OperationKind.PUT, table, "k" + records, "v", Expiry.in(10), ExpiryCondition.ALWAYS, 0)
            .result() == OperationResult.STORED)
        {
            records++;
        }
        assertThat(records).isGreaterThan(150);
        assertThat(fixture.check(table).committed).isEqualTo(records);
        clockMs += 10;
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(records);
        assertThat(fixture.engine.sweep().deadlines()).isEqualTo(records);
        assertThat(fixture.engine.counters().sweepRanges).isOne();
        // Tombstones make room where they are in the way; a pair of buckets may be full earlier than before.
        for (int i = 0; i < records / 2; i++)
        {
            put(table, "k" + i, 1, Expiry.NONE);
        }
        assertThat(fixture.check(table).problemCount).isZero();
        assertThat(fixture.check(table).committed).isEqualTo(records / 2);
    }

    @Test
    void shouldSweepTheMemoryNodeThatASubtableIsOn()
    {
        final OpenTable table = createTable(1, 4, EngineFixture.NODE, EngineFixture.OTHER_NODE);
        for (int i = 0; i < 20; i++)
        {
            put(table, "k" + i, 10, Expiry.in(10));
        }
        clockMs += 10;
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        final long first = fixture.engine.counters().expiredSwept;
        assertThat(first).isBetween(1L, 19L);
        assertThat(fixture.engine.allocator(EngineFixture.OTHER_NODE).blocksInUse()).isEqualTo(20 - first);
        assertThat(sweep(table, 1)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(20);
        assertThat(fixture.engine.allocator(EngineFixture.OTHER_NODE).blocksInUse()).isZero();
    }

    @Test
    void shouldLeaveNoMoreTombstonesThanCanBeCleared()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        put(table, "k", 10, Expiry.in(10));
        clockMs += 10;
        final TombstoneQueue queue = table.link(0).tombstones;
        for (int i = 0; i < MANY; i++)
        {
            // Of slots in which something else is by now: to clear them does nothing.
            queue.offsets.addLong(table.subtable(0).groupOffset(0) + Long.BYTES);
            queue.words.addLong(SlotWord.tombstone(1, SlotWord.committed(1, 0, 1, 0, 64)));
            queue.epochs.addLong(fixture.engine.epoch());
            queue.tableIds.addInt(TABLE_ID);
        }
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.NO_MEMORY);
        assertThat(fixture.engine.counters().sweepRangesLeft).isOne();
        assertThat(fixture.engine.counters().expiredSwept).isZero();
        assertThat(fixture.engine.sweep().wantsEpochs()).isTrue();
        assertThat(fixture.engine.wantsEpochs()).isTrue();
        passEpochs();
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).isOne();
        assertThat(fixture.engine.sweep().wantsEpochs()).isFalse();
        assertThat(fixture.engine.wantsEpochs()).isFalse();
        assertThat(queue.words.size()).isEqualTo(MANY - 64 + 1);
    }

    @Test
    void shouldHearOfASplitAndSweepWhatTookThePlaceOfTheSubtable()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        for (int i = 0; i < 20; i++)
        {
            put(table, "k" + i, 10, Expiry.in(10));
        }
        clockMs += 10;
        try (EngineFixture other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2)))
        {
            final OpenTable same = other.engine.openTable(table.descriptor());
            final TableSplit split = other.engine.growth().begin(same, 0, SPLIT_AT,
                SPLIT_AT + SubtableDescriptor.lengthBytes(4), Long.MAX_VALUE / 2);
            while (!split.isFinished())
            {
                other.engine.poll();
                fixture.fabric.step();
            }
        }
        final Subtable before = table.subtable(0);
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).as("in " + before).isZero();
        assertThat(fixture.engine.counters().sweepReads).isZero();
        assertThat(table.subtables()).hasSize(2);
        assertThat(sweep(table, 0)).isEqualTo(OperationResult.FOUND);
        assertThat(sweep(table, 1)).isEqualTo(OperationResult.FOUND);
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(20);
        assertThat(fixture.get(table, "k0").result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldForgetWhereARecordWasThatItTookAway()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        put(table, "k", 10, Expiry.in(10));
        clockMs += 10;
        sweep(table, 0);
        final EngineFixture.Outcome outcome = fixture.get(table, "k");
        assertThat(outcome.result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(outcome.roundTrips()).isOne();
        assertThat(fixture.engine.counters().cacheStale).isZero();
    }

    @Test
    void shouldTellOnceThatWritesOfTheEngineHaveNamedDeadlines()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        put(table, "k", 10, Expiry.NONE);
        put(table, "k", 10, Expiry.KEEP);
        fixture.get(table, "k");
        assertThat(table.takeDeadlinesWritten()).isFalse();
        put(table, "k", 10, Expiry.in(10));
        assertThat(table.takeDeadlinesWritten()).isTrue();
        assertThat(table.takeDeadlinesWritten()).isFalse();
        fixture.run(OperationKind.EXPIRE, table, "k", null, Expiry.at(clockMs + 1), ExpiryCondition.ALWAYS, 0);
        assertThat(table.takeDeadlinesWritten()).isTrue();
    }

    @Test
    void shouldEndWithItsEngine()
    {
        final OpenTable table = createTable(0, 4, EngineFixture.NODE);
        put(table, "k", 10, Expiry.in(10));
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, table.subtable(0), 0, fixture.nowNs + 10_000_000);
        fixture.engine.poll();
        fixture.engine.close();
        assertThat(sweep.isRunning()).isFalse();
        assertThat(sweep.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        fixture.fabric.step();
        assertThat(sweep.isRunning()).isFalse();
    }
}
