package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.allocation.BlockAllocator;
import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.expiry.ExpiryCondition;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.sweep.ExpirySweep;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a sweep takes away, what it leaves, and what it costs; one engine, requests in order. */
class EngineSweepTest
{
    private static final int GROUPS = 64;

    private EngineFixture fixture;
    private OpenTable table;
    private long clockMs = 5_000_000;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single(settings -> settings.expiryClock(() -> clockMs));
        table = fixture.createTable(0, GROUPS);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private Subtable part()
    {
        return table.subtable(0);
    }

    private void put(final String key, final String value, final long expiry)
    {
        assertThat(fixture.run(OperationKind.PUT, table, key, value, expiry, ExpiryCondition.ALWAYS, 0).result())
            .isEqualTo(OperationResult.STORED);
    }

    private int sweepOnce(final int group)
    {
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, part(), group, fixture.nowNs + 1_000_000);
        finish();
        return sweep.result();
    }

    private void finish()
    {
        while (fixture.engine.sweep().isRunning())
        {
            fixture.engine.poll();
            fixture.fabric.step();
            fixture.nowNs += 100;
        }
    }

    private void sweepAll()
    {
        for (int group = 0; group < GROUPS; group += ExpirySweep.GROUPS)
        {
            assertThat(sweepOnce(group)).isEqualTo(OperationResult.FOUND);
        }
    }

    private BlockAllocator allocator()
    {
        return fixture.engine.allocator(EngineFixture.NODE);
    }

    private void passEpochs()
    {
        for (int i = 0; i <= EpochTracker.REPEAT_EPOCHS + EpochTracker.REUSE_DISTANCE; i++)
        {
            fixture.engine.onEpoch(fixture.engine.epoch() + 1, fixture.engine.passedEpoch());
        }
    }

    /** Where the slot with a record is: the only committed one in the table. */
    private long onlySlot()
    {
        final List<Long> found = new ArrayList<>();
        for (int slot = 0; slot < GROUPS * BucketDescriptor.SLOTS_PER_GROUP; slot++)
        {
            final long offset = part().groupOffset(0) + BucketDescriptor.slotPosition(slot);
            if (SlotWord.isCommitted(word(offset)))
            {
                found.add(offset);
            }
        }
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private long word(final long offset)
    {
        return fixture.memory().getLong((int)offset, LITTLE_ENDIAN);
    }

    @Test
    void shouldTakeWhatIsBehindItsDeadlineAndNothingElseAndGiveItsMemoryBack()
    {
        for (int i = 0; i < 300; i++)
        {
            put("k" + i, "v".repeat(i), i % 3 == 0 ? Expiry.NONE : Expiry.in(i % 3 == 1 ? 10 : 20));
        }
        clockMs += 10;
        final long inUse = allocator().blocksInUse();
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(100);
        assertThat(fixture.engine.counters().sweepReads).isEqualTo(300);
        assertThat(fixture.engine.counters().sweepDamaged).isZero();
        assertThat(fixture.engine.counters().expiredRemoved).isZero();
        assertThat(allocator().blocksInUse()).isEqualTo(inUse - 100);
        assertThat(allocator().quarantinedBytes()).isPositive();
        assertThat(fixture.check(table).committed).isEqualTo(200);
        assertThat(fixture.check(table).problemCount).isZero();
        passEpochs();
        assertThat(allocator().quarantinedBytes()).isZero();
        for (int i = 0; i < 300; i++)
        {
            assertThat(fixture.get(table, "k" + i).result())
                .isEqualTo(i % 3 == 1 ? OperationResult.NOT_FOUND : OperationResult.FOUND);
        }
        // Not one of those reads met a record that was behind its deadline.
        assertThat(fixture.engine.counters().expiredRemoved).isZero();
        clockMs += 10;
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(200);
        assertThat(fixture.check(table).committed).isEqualTo(100);
    }

    @Test
    void shouldJudgeToTheMillisecond()
    {
        put("k", "v", Expiry.in(10));
        clockMs += 9;
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isZero();
        assertThat(fixture.get(table, "k").value()).isEqualTo("v");
        clockMs++;
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isOne();
    }

    @Test
    void shouldCostOneReadForEachRecordAndOneSwapForEachThatGoes()
    {
        put("k", "v".repeat(500), Expiry.in(10));
        put("other", "v".repeat(500), Expiry.in(1000));
        put("third", "v".repeat(500), Expiry.NONE);
        clockMs += 10;
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        int ranges = 0;
        for (int group = 0; group < GROUPS; group += ExpirySweep.GROUPS)
        {
            sweepOnce(group);
            ranges++;
        }
        final VerbCounters after = fixture.port.counters;
        assertThat(after.reads - before.reads).isEqualTo(ranges + 3 + 1);
        assertThat(after.compareSwaps - before.compareSwaps).isOne();
        assertThat(after.writes - before.writes).isZero();
        assertThat(after.payloadBytes - before.payloadBytes).isEqualTo(
            GROUPS * BucketDescriptor.GROUP_BYTES + 3 * BlockDescriptor.HEADER_BYTES +
            SizeClasses.lengthBytes(SizeClasses.classFor(BlockDescriptor.recordLength(1, 500))) + 8);
        // A range of groups without records is one doorbell.
        assertThat(after.doorbells - before.doorbells).isBetween((long)ranges + 3, (long)ranges + 5);
    }

    @Test
    void shouldSweepATableThatIsFullOfExpiredRecordsAndLetItTakeNewOnes()
    {
        int stored = 0;
        fixture.chunksLeft = 1;
        while (fixture.run(OperationKind.PUT, table, "k" + stored, "v".repeat(900), Expiry.in(10),
            ExpiryCondition.ALWAYS, 0).result() == OperationResult.STORED)
        {
            stored++;
        }
        assertThat(stored).isGreaterThan(30);
        clockMs += 10;
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(stored);
        assertThat(allocator().blocksInUse()).isZero();
        passEpochs();
        assertThat(allocator().freeBytes() + allocator().uncutBytes()).isEqualTo(allocator().leasedBytes());
        for (int i = 0; i < stored; i++)
        {
            put("new" + i, "v".repeat(900), Expiry.NONE);
        }
        assertThat(fixture.check(table).committed).isEqualTo(stored);
        assertThat(fixture.check(table).problemCount).isZero();
    }

    @Test
    void shouldClearTheMarksThatItLeaves()
    {
        put("k", "v", Expiry.in(10));
        final long slot = onlySlot();
        final long word = word(slot);
        clockMs += 10;
        sweepAll();
        assertThat(SlotWord.isTentative(word(slot))).isTrue();
        assertThat(SlotWord.blockOffset(word(slot))).isEqualTo(SlotWord.blockOffset(word));
        put("k2", "v", Expiry.in(10));
        passEpochs();
        clockMs += 10;
        sweepAll();
        assertThat(SlotWord.isEmpty(word(slot))).isTrue();
        assertThat(word(slot)).isNotEqualTo(SlotWord.EMPTY);
        assertThat(fixture.engine.counters().tombstonesCleared).isOne();
    }

    @Test
    void shouldPassDamagedRecordsByAndTakeTheOthers()
    {
        put("damaged", "v".repeat(100), Expiry.in(10));
        final long slot = onlySlot();
        final long block = SlotWord.blockOffset(word(slot));
        put("k", "v", Expiry.in(10));
        clockMs += 10;
        final byte value = fixture.memory().getByte((int)block + 80);
        fixture.memory().putByte((int)block + 80, (byte)~value);
        sweepAll();
        assertThat(fixture.engine.counters().sweepDamaged).isOne();
        assertThat(fixture.engine.counters().expiredSwept).isOne();
        assertThat(SlotWord.isCommitted(word(slot))).isTrue();
        fixture.memory().putByte((int)block + 80, value);
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(2);
    }

    @Test
    void shouldNotTakeARecordForADeadlineThatOnlyDamageHasGivenIt()
    {
        put("k", "v", Expiry.NONE);
        final long block = SlotWord.blockOffset(word(onlySlot()));
        fixture.memory().putLong((int)block + BlockDescriptor.EXPIRY_OFFSET, 1, LITTLE_ENDIAN);
        sweepAll();
        assertThat(fixture.engine.counters().sweepDamaged).isOne();
        assertThat(fixture.engine.counters().expiredSwept).isZero();
        assertThat(fixture.check(table).committed).isOne();
    }

    @Test
    void shouldPassWordsByThatNameMemoryThatTheNodeHasNot()
    {
        put("k", "v", Expiry.in(10));
        final long slot = onlySlot() == part().groupOffset(0) + BucketDescriptor.slotPosition(0) ?
            part().groupOffset(0) + BucketDescriptor.slotPosition(1) :
            part().groupOffset(0) + BucketDescriptor.slotPosition(0);
        clockMs += 10;
        for (final long offset : new long[]{EngineFixture.MEMORY_BYTES - 64, EngineFixture.MEMORY_BYTES, 1L << 36})
        {
            fixture.memory().putLong((int)slot, SlotWord.committed(1, 0, 1, 1, offset), LITTLE_ENDIAN);
            sweepAll();
        }
        assertThat(fixture.engine.counters().sweepDamaged).isEqualTo(3);
        assertThat(fixture.engine.counters().expiredSwept).isOne();
        // The last line that there is can be read, and holds no block.
        fixture.memory().putLong(
            (int)slot, SlotWord.committed(1, 0, 1, 0, EngineFixture.MEMORY_BYTES - 64), LITTLE_ENDIAN);
        assertThat(sweepOnce(0)).isEqualTo(OperationResult.FOUND);
    }

    @Test
    void shouldLeaveFrozenWordsToWhoFroze()
    {
        put("k", "v", Expiry.in(10));
        clockMs += 10;
        final long slot = onlySlot();
        final long frozen = SlotWord.frozen(word(slot));
        fixture.memory().putLong((int)slot, frozen, LITTLE_ENDIAN);
        sweepAll();
        assertThat(word(slot)).isEqualTo(frozen);
        assertThat(fixture.engine.counters().expiredSwept).isZero();
        assertThat(fixture.engine.counters().sweepDamaged).isZero();
    }

    @Test
    void shouldLeaveAGroupOfWhichAnyHeaderIsAnother()
    {
        put("k", "v", Expiry.in(10));
        clockMs += 10;
        final long groupAt = part().groupOffset(group(onlySlot()));
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            final long header = groupAt + bucket * BucketDescriptor.BUCKET_BYTES;
            final long own = word(header);
            fixture.memory().putLong((int)header, BucketDescriptor.header(0x4321, 0, 0), LITTLE_ENDIAN);
            sweepAll();
            assertThat(fixture.engine.counters().expiredSwept).isZero();
            fixture.memory().putLong((int)header, own, LITTLE_ENDIAN);
        }
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isOne();
    }

    @Test
    void shouldLeaveABlockOfAnotherTable()
    {
        put("k", "v", Expiry.in(10));
        clockMs += 10;
        final long word = word(onlySlot());
        final int block = (int)SlotWord.blockOffset(word);
        fixture.memory().putInt(block + BlockDescriptor.TABLE_ID_OFFSET, 0x4321, LITTLE_ENDIAN);
        BlockDescriptor.seal(fixture.memory(), block, word);
        sweepAll();
        assertThat(fixture.engine.counters().sweepDamaged).isOne();
        assertThat(fixture.engine.counters().expiredSwept).isZero();
    }

    @Test
    void shouldCountAWordThatNamesNoBlockAsDamaged()
    {
        final long slot = part().groupOffset(0) + BucketDescriptor.slotPosition(0);
        fixture.memory().putLong((int)slot, (long)SlotWord.KIND_COMMITTED << SlotWord.KIND_SHIFT, LITTLE_ENDIAN);
        sweepAll();
        assertThat(fixture.engine.counters().sweepDamaged).isOne();
        assertThat(fixture.engine.counters().sweepReads).isZero();
    }

    /** Records that live count as well: by them a node knows that a table has deadlines. */
    @Test
    void shouldCountDeadlinesOfEachRangeAndBeInFlightOnlyWhileItIs()
    {
        put("k", "v", Expiry.in(10));
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, part(), group(onlySlot()), fixture.nowNs + 1_000_000);
        assertThat(sweep.isInFlightAt(table.link(0))).isFalse();
        fixture.engine.poll();
        assertThat(sweep.isInFlightAt(table.link(0))).isTrue();
        finish();
        assertThat(sweep.isInFlightAt(table.link(0))).isFalse();
        assertThat(sweep.deadlines()).isOne();
        put("k", "v", Expiry.NONE);
        sweepOnce(group(onlySlot()));
        assertThat(sweep.deadlines()).isZero();
    }

    @Test
    void shouldLeaveTheBlockOfARecordThatSomebodyReplacedMeanwhile()
    {
        put("k", "old", Expiry.in(10));
        clockMs += 10;
        final ExpirySweep sweep = fixture.engine.sweep();
        for (int steps = 0; steps < 12; steps++)
        {
            put("k", "old", Expiry.in(10));
            clockMs += 10;
            final int group = group(onlySlot());
            sweep.begin(table, part(), group, fixture.nowNs + 1_000_000);
            for (int i = 0; i < steps && sweep.isRunning(); i++)
            {
                fixture.engine.poll();
                fixture.fabric.step();
            }
            put("k", "new", Expiry.NONE);
            finish();
            assertThat(sweep.result()).isEqualTo(OperationResult.FOUND);
            assertThat(fixture.get(table, "k").value()).isEqualTo("new");
            assertThat(allocator().blocksInUse()).isOne();
            assertThat(fixture.check(table).problemCount).isZero();
        }
    }

    private int group(final long slot)
    {
        return (int)((slot - part().groupOffset(0)) / BucketDescriptor.GROUP_BYTES);
    }

    @Test
    void shouldHoldTheEpochWhileItRunsAndNoLonger()
    {
        put("k", "v", Expiry.in(10));
        passEpochs();
        final long passed = fixture.engine.passedEpoch();
        fixture.engine.sweep().begin(table, part(), 0, fixture.nowNs + 1_000_000);
        fixture.engine.onEpoch(fixture.engine.epoch() + 3, 0);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(passed);
        finish();
        assertThat(fixture.engine.passedEpoch()).isEqualTo(passed + 3);
    }

    @Test
    void shouldCountBlocksAsUnknownWhoseSwapWasLostAndTakeNoBlockTwice()
    {
        put("k", "v", Expiry.in(10));
        clockMs += 10;
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, part(), group(onlySlot()), fixture.nowNs + 1_000_000);
        while (fixture.port.counters.compareSwaps == countOfSwaps(sweep))
        {
            fixture.engine.poll();
            fixture.fabric.step();
        }
        fixture.engine.detach(EngineFixture.NODE);
        assertThat(sweep.isRunning()).isFalse();
        assertThat(sweep.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        assertThat(fixture.engine.counters().unknownBlocks).isOne();
        assertThat(fixture.engine.counters().expiredSwept).isZero();
        assertThat(fixture.engine.passedEpoch()).isEqualTo(fixture.engine.epoch() - 1);
        sweep.begin(table, part(), 0, fixture.nowNs + 1_000_000);
        finish();
        assertThat(sweep.result()).as("no port").isEqualTo(OperationResult.NODE_UNAVAILABLE);
    }

    private long swaps = -1;

    private long countOfSwaps(final ExpirySweep sweep)
    {
        assertThat(sweep.isRunning()).isTrue();
        swaps = swaps < 0 ? fixture.port.counters.compareSwaps : swaps;
        return swaps;
    }

    @Test
    void shouldEndAtItsDeadlineAndInATableThatWasClosed()
    {
        final ExpirySweep sweep = fixture.engine.sweep();
        sweep.begin(table, part(), 0, fixture.nowNs);
        finish();
        assertThat(sweep.result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        table.close();
        sweep.begin(table, part(), 0, fixture.nowNs + 1_000_000);
        finish();
        assertThat(sweep.result()).isEqualTo(OperationResult.TABLE_CHANGED);
    }

    @Test
    void shouldRefuseGroupsThatTheTableHasNotAndASecondRange()
    {
        final ExpirySweep sweep = fixture.engine.sweep();
        for (final int group : new int[]{-1, GROUPS, Integer.MAX_VALUE})
        {
            assertThatThrownBy(() -> sweep.begin(table, part(), group, fixture.nowNs + 1_000_000))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("from=" + group);
        }
        sweep.begin(table, part(), GROUPS - 1, fixture.nowNs + 1_000_000);
        assertThatThrownBy(() -> sweep.begin(table, part(), 0, fixture.nowNs + 1_000_000))
            .isInstanceOf(IllegalStateException.class).hasMessageContaining("one range at a time");
        finish();
    }

    @Test
    void shouldKeepToTheRoomOfItsPort()
    {
        for (int i = 0; i < 200; i++)
        {
            put("k" + i, "v", Expiry.in(10));
        }
        clockMs += 10;
        fixture.port.maxBatchRequests = 9;
        sweepAll();
        assertThat(fixture.engine.counters().expiredSwept).isEqualTo(200);
    }
}
