package io.verbena.table;

import io.verbena.table.check.TableCheck;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.operation.TableRequest;
import io.verbena.test.Mutation;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How operations end when something is in the way: deadlines, failed connections, full tables, no memory, damage. */
class EngineOutcomeTest
{
    private static final int TABLE_AT = 4096;

    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 1);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private void begin(final int kind, final String key, final String value)
    {
        fixture.begin(kind, table, key, value, 0, fixture.nowNs + 10_000);
    }

    private void passDeadline()
    {
        fixture.nowNs += 20_000;
        fixture.engine.poll();
    }

    private static int slotAt(final int bucket, final int slot)
    {
        return TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + bucket * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot * BucketDescriptor.SLOT_BYTES;
    }

    private void fillEmptySlots(final long word)
    {
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                if (fixture.memory().getLong(slotAt(bucket, slot), LITTLE_ENDIAN) == SlotWord.EMPTY)
                {
                    fixture.memory().putLong(slotAt(bucket, slot), word, LITTLE_ENDIAN);
                }
            }
        }
    }

    private long onlyWord()
    {
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                final long word = fixture.memory().getLong(slotAt(bucket, slot), LITTLE_ENDIAN);
                if (word != SlotWord.EMPTY)
                {
                    return word;
                }
            }
        }
        throw new AssertionError("no word");
    }

    @Test
    void shouldSayNotAppliedWhenDeadlinePassesBeforeDecisiveRequest()
    {
        fixture.port.deaf = true;
        begin(OperationKind.PUT, "k", "v");
        passDeadline();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        fixture.port.deaf = false;
        fixture.finish();
        // It stays without effect, and its block and slot come back.
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.engine.freeSlots()).isEqualTo(8);
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isZero();
    }

    @Test
    void shouldSayUnknownWhenDeadlinePassesDuringDecisiveRequest()
    {
        fixture.put(table, "k", "old");
        fixture.port.deaf = true;
        begin(OperationKind.PUT, "k", "new");
        passDeadline();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        fixture.port.deaf = false;
        fixture.finish();
        // Here it did happen, and the replaced block was retired nevertheless.
        assertThat(fixture.get(table, "k").value()).isEqualTo("new");
        assertThat(fixture.engine.allocator(EngineFixture.NODE).quarantinedBytes()).isEqualTo(128);
        assertThat(fixture.engine.counters().unknownBlocks).isZero();
    }

    @Test
    void shouldTakeTentativeWordBackWhenDeadlinePassesDuringClaim()
    {
        begin(OperationKind.PUT, "k", "v");
        fixture.engine.poll();
        while (fixture.port.counters.compareSwaps == 0)
        {
            fixture.fabric.step();
        }
        fixture.port.deaf = true;
        passDeadline();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        fixture.port.deaf = false;
        fixture.finish();
        final TableCheck check = fixture.check(table);
        assertThat(check.tentative + check.committed).isZero();
        assertThat(fixture.engine.allocator(EngineFixture.NODE).blocksInUse()).isZero();
    }

    @Test
    void shouldTellUnknownFromUnavailableWhenConnectionBreaks()
    {
        fixture.put(table, "k", "old");
        fixture.port.deaf = true;
        begin(OperationKind.PUT, "k", "new");
        fixture.port.fail(true);
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        // Neither the new nor the old block may be used again: nobody knows which one the slot names.
        assertThat(fixture.engine.counters().unknownBlocks).isEqualTo(2);
        assertThat(fixture.engine.counters().unknownBytes).isEqualTo(256);

        fixture.connect();
        fixture.port.deaf = true;
        begin(OperationKind.GET, "k", null);
        fixture.port.fail(true);
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);

        fixture.connect();
        assertThat(fixture.get(table, "k").value()).isEqualTo("old");
    }

    @Test
    void shouldReportFromPollWhenConnectionHasFailedAlready()
    {
        fixture.port.fail(true);
        begin(OperationKind.GET, "k", null);
        assertThat(fixture.outcome).isNull();
        fixture.engine.poll();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
    }

    @Test
    void shouldWaitForPortAndGoOnWhenItComes()
    {
        fixture.engine.detach(EngineFixture.NODE);
        begin(OperationKind.PUT, "k", "v");
        fixture.engine.poll();
        assertThat(fixture.outcome).isNull();
        fixture.connect();
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("v");
    }

    @Test
    void shouldNotWaitForANodeThatIsUnreachable()
    {
        fixture.engine.detach(EngineFixture.NODE);
        fixture.engine.unreachable(EngineFixture.NODE, true);
        fixture.engine.suspend(EngineFixture.NODE, true);
        for (final int kind : new int[]{OperationKind.GET, OperationKind.DELETE, OperationKind.PUT})
        {
            begin(kind, "k", OperationKind.PUT == kind ? "v".repeat(9_000) : null);
            fixture.engine.poll();
            assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        }
        fixture.engine.unreachable(EngineFixture.NODE, false);
        fixture.engine.suspend(EngineFixture.NODE, false);
        begin(OperationKind.GET, "k", null);
        assertThat(fixture.outcome).as("waits for the port").isNull();
        fixture.connect();
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    /** What has read nothing yet holds no epoch back, and reads what is there when the port comes. */
    @Test
    void shouldHoldNoEpochBackWhileItWaitsForTheFirstPort()
    {
        fixture.put(table, "k", "v");
        fixture.engine.detach(EngineFixture.NODE);
        fixture.engine.onEpoch(10, 8);
        begin(OperationKind.DELETE, "other", null);
        fixture.engine.poll();
        fixture.engine.onEpoch(20, 18);
        fixture.engine.poll();
        assertThat(fixture.engine.passedEpoch()).isEqualTo(19);
        fixture.connect();
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.get(table, "k").value()).isEqualTo("v");
    }

    @Test
    void shouldFailBatchesUnderWayWhenDetached()
    {
        fixture.port.deaf = true;
        begin(OperationKind.GET, "k", null);
        fixture.engine.detach(EngineFixture.NODE);
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        assertThat(fixture.engine.active()).isZero();
    }

    @Test
    void shouldEndEverythingWhenClosed()
    {
        fixture.port.deaf = true;
        begin(OperationKind.GET, "k", null);
        fixture.engine.close();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.NODE_UNAVAILABLE);
        assertThatThrownBy(() -> begin(OperationKind.GET, "k", null)).hasMessageContaining("closed");
    }

    @Test
    void shouldSayTableFullWhenPairsHoldOnlyRecords()
    {
        int stored = 0;
        while (fixture.put(table, "key" + stored, "v").result() == OperationResult.STORED)
        {
            stored++;
        }
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.TABLE_FULL);
        assertThat(stored).isBetween(14, BucketDescriptor.SLOTS_PER_GROUP);
        assertThat(fixture.put(table, "key0", "update").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.check(table).isSound()).isTrue();
    }

    @Test
    void shouldKillDeadInsertersWhenPairIsFull()
    {
        fillEmptySlots(SlotWord.withKind(SlotWord.committed(1, 0, 0, 0, 64), SlotWord.KIND_TENTATIVE));
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.STORED);
        assertThat(fixture.get(table, "k").value()).isEqualTo("v");
    }

    @Test
    void shouldSayTableFullWhenFullPairsAreNotRelieved()
    {
        fillEmptySlots(SlotWord.withKind(SlotWord.committed(1, 0, 0, 0, 64), SlotWord.KIND_TENTATIVE));
        try (Mutation.Opened _ = TableMutation.KILL_WHEN_FULL.open())
        {
            assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.TABLE_FULL);
        }
    }

    @Test
    void shouldGetPastDeadInserterOfSameKeyAtLowerSlot()
    {
        assertThat(insertBehindDeadInserter().result()).isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldWaitForTheDeadWhenTentativeWordsSeenAgainAreNotKilled()
    {
        try (Mutation.Opened _ = TableMutation.KILL_SEEN_AGAIN.open())
        {
            assertThat(insertBehindDeadInserter().result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        }
    }

    private static EngineFixture.Outcome insertBehindDeadInserter()
    {
        try (EngineFixture other = EngineFixture.single())
        {
            final OpenTable small = other.createTable(0, 1);
            other.put(small, "k", "v");
            long word = 0;
            for (int i = 0; i < BucketDescriptor.SLOTS_PER_GROUP && word == 0; i++)
            {
                word = other.memory().getLong(slotAt(i / 7, i % 7), LITTLE_ENDIAN);
                other.memory().putLong(slotAt(i / 7, i % 7), 0, LITTLE_ENDIAN);
            }
            // The words of a dead inserter of this key stand below every free slot.
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
            {
                final long dead = SlotWord.withKind(word, SlotWord.KIND_TENTATIVE);
                other.memory().putLong(slotAt(0, slot), dead, LITTLE_ENDIAN);
                other.memory().putLong(slotAt(1, slot), slot < 5 ? dead : 0, LITTLE_ENDIAN);
            }
            other.engine.onEpoch(10, 0);
            other.begin(OperationKind.PUT, small, "k", "w", 0, other.nowNs + 3_000_000);
            return other.finish();
        }
    }

    @Test
    void shouldNeverAnswerAbsentOverFrozenOrUninitialisedWords()
    {
        final long version = fixture.put(table, "there", "v").version();
        for (final long strange : new long[]{
            SlotWord.UNINITIALISED, SlotWord.withKind(0, SlotWord.KIND_FROZEN),
            SlotWord.withKind(SlotWord.committed(5, 0, 0, 0, 64), SlotWord.KIND_FROZEN)})
        {
            final long before = onlyWord();
            fillEmptySlots(strange);
            fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
            // Found is found, whatever else is seen.
            assertThat(fixture.get(table, "there").version()).isEqualTo(version);
            assertThat(fixture.get(table, "absent").result()).isEqualTo(OperationResult.RESTRUCTURING);
            assertThat(fixture.put(table, "absent", "v").result()).isEqualTo(OperationResult.RESTRUCTURING);
            assertThat(fixture.run(OperationKind.DELETE, table, "absent", null, 0).result())
                .isEqualTo(OperationResult.RESTRUCTURING);
            clear(strange);
            assertThat(onlyWord()).isEqualTo(before);
        }
    }

    private void clear(final long word)
    {
        for (int i = 0; i < BucketDescriptor.SLOTS_PER_GROUP; i++)
        {
            if (fixture.memory().getLong(slotAt(i / 7, i % 7), LITTLE_ENDIAN) == word)
            {
                fixture.memory().putLong(slotAt(i / 7, i % 7), 0, LITTLE_ENDIAN);
            }
        }
    }

    @Test
    void shouldAnswerAbsentFalselyWhenFrozenWordsAreOverlooked()
    {
        fillEmptySlots(SlotWord.UNINITIALISED);
        try (Mutation.Opened _ = TableMutation.RESTRUCTURING.open())
        {
            assertThat(fixture.get(table, "moved").result()).isEqualTo(OperationResult.NOT_FOUND);
        }
    }

    @Test
    void shouldNeverTakeFrozenWordForCachedOne()
    {
        fixture.put(table, "k", "v");
        for (int i = 0; i < BucketDescriptor.SLOTS_PER_GROUP; i++)
        {
            final long word = fixture.memory().getLong(slotAt(i / 7, i % 7), LITTLE_ENDIAN);
            if (word != 0)
            {
                fixture.memory().putLong(slotAt(i / 7, i % 7), SlotWord.withKind(word, SlotWord.KIND_FROZEN),
                    LITTLE_ENDIAN);
            }
        }
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.RESTRUCTURING);
        assertThat(fixture.put(table, "k", "w").result()).isEqualTo(OperationResult.RESTRUCTURING);
    }

    @Test
    void shouldNoticeThatBucketsBelongToAnotherTable()
    {
        fixture.memory().putLong(slotAt(1, 0) - BucketDescriptor.SLOTS_OFFSET,
            BucketDescriptor.header(0x4321, 0, 0), LITTLE_ENDIAN);
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(fixture.check(table).problems().getFirst()).contains("wrong header");
    }

    /** Bytes of a block, read as the headers of an index that was never formatted; both low bits of some are set. */
    @ParameterizedTest
    @CsvSource({
        "-1, -1, -1", "7, 7, 7", "-1, 7, 9", "9, -1, 7", "0x6363636363636363, 0x6363636363636363, 0x6363636363636363",
        "0x0001000200000803, 0x0001000200000803, 0x0001000200000803"})
    void shouldNoticeThatHeadersAreNoLinksThoughTheyLookLikeSome(final String first, final String second,
        final String third)
    {
        final OpenTable sound = fixture.createTable(
            TablePlan.ofShape("sound", 0x4321, 42, 0, 1, new int[]{EngineFixture.NODE}), 2 * TABLE_AT);
        final String[] headers = {first, second, third};
        for (int bucket = 0; bucket < BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            fixture.memory().putLong(slotAt(bucket, 0) - BucketDescriptor.SLOTS_OFFSET,
                Long.decode(headers[bucket]), LITTLE_ENDIAN);
        }
        for (int i = 0; i < 20; i++)
        {
            assertThat(fixture.get(table, "k" + i).result()).isEqualTo(OperationResult.TABLE_CHANGED);
            assertThat(fixture.put(table, "k" + i, "v").result()).isEqualTo(OperationResult.TABLE_CHANGED);
        }
        assertThat(fixture.put(sound, "k", "v").result()).isEqualTo(OperationResult.STORED);
        fixture.engine.onEpoch(5, 4);
        assertThat(fixture.engine.passedEpoch()).isEqualTo(4);
    }

    /** Where a word names memory that the node has not, only the operation that follows it ends, and typed. */
    @Test
    void shouldEndOnlyTheOperationWhoseRequestIsRefused()
    {
        try (EngineFixture cold = EngineFixture.single(s -> s.locationCacheEntries(0)))
        {
            final OpenTable its = cold.createTable(0, 1);
            cold.put(its, "k", "v");
            for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_GROUP; slot++)
            {
                final long word = cold.memory().getLong(slotAt(slot / 7, slot % 7), LITTLE_ENDIAN);
                final long beyond = SlotWord.committed(SlotWord.fingerprint(word), SlotWord.window(word), 1, 0,
                    4L * EngineFixture.MEMORY_BYTES);
                cold.memory().putLong(slotAt(slot / 7, slot % 7), word == 0 ? 0 : beyond, LITTLE_ENDIAN);
            }
            cold.put(its, "other", "w");
            cold.engine.beginGroup();
            cold.begin(OperationKind.GET, its, "other", null, 0, cold.nowNs + 1_000_000);
            cold.begin(OperationKind.GET, its, "k", null, 0, cold.nowNs + 1_000_000);
            cold.begin(OperationKind.GET, its, "other", null, 0, cold.nowNs + 1_000_000);
            cold.engine.endGroup();
            cold.finish();
            final EngineCounters counters = cold.engine.counters();
            assertThat(counters.results[OperationResult.CORRUPT]).isOne();
            assertThat(counters.results[OperationResult.FOUND]).isEqualTo(2);
            assertThat(counters.refusedSteps).isOne();
            assertThat(cold.put(its, "k", "v").result()).isEqualTo(OperationResult.CORRUPT);
            assertThat(cold.put(its, "other", "v").result()).isEqualTo(OperationResult.STORED);
            cold.engine.onEpoch(5, 4);
            assertThat(cold.engine.passedEpoch()).isEqualTo(4);
        }
    }

    @Test
    void shouldHoldTheEpochWhileAnOperationIsUnderWay()
    {
        fixture.port.deaf = true;
        begin(OperationKind.GET, "k", null);
        fixture.engine.onEpoch(9, 0);
        assertThat(fixture.engine.passedEpoch()).isZero();
        fixture.port.deaf = false;
        fixture.finish();
        assertThat(fixture.engine.passedEpoch()).isEqualTo(8);
    }

    @Test
    void shouldSayCorruptWhenBlockOfStandingWordIsDamaged()
    {
        fixture.put(table, "k", "v");
        final int block = (int)SlotWord.blockOffset(onlyWord());
        fixture.memory().putByte(block + BlockDescriptor.KEY_OFFSET + 1, (byte)'x');
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.CORRUPT);
        assertThat(fixture.check(table).problems().getFirst()).contains("damaged");
    }

    @Test
    void shouldNoticeDuplicateInCheck()
    {
        fixture.put(table, "k", "v");
        final long word = onlyWord();
        fillEmptySlots(word);
        assertThat(fixture.check(table).problems()).anyMatch(problem -> problem.contains("also in slot"));
    }

    @Test
    void shouldRefuseMoreOperationsThanSlots()
    {
        fixture.port.deaf = true;
        for (int i = 0; i < 8; i++)
        {
            begin(OperationKind.GET, "k", null);
        }
        assertThat(fixture.engine.freeSlots()).isZero();
        assertThat(fixture.engine.begin(new TableRequest().of(OperationKind.GET, table, Long.MAX_VALUE, 0)
            .key(MemorySegment.ofArray(new byte[1]), 0, 1))).isFalse();
    }

    @Test
    void shouldRefuseLengthsOutOfRange()
    {
        final MemorySegment bytes = MemorySegment.ofArray(new byte[BlockDescriptor.MAX_KEY_BYTES + 1]);
        final TableRequest asked = new TableRequest().of(OperationKind.PUT, table, 0, 0);
        assertThatThrownBy(() -> asked.key(bytes, 0, 0)).hasMessageContaining("keyLength=0");
        assertThatThrownBy(() -> asked.key(bytes, 0, BlockDescriptor.MAX_KEY_BYTES + 1)).hasMessageContaining("65536");
        assertThatThrownBy(() -> asked.key(bytes, 2, BlockDescriptor.MAX_KEY_BYTES))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> asked.value(bytes, 0, BlockDescriptor.MAX_VALUE_BYTES + 1))
            .hasMessageContaining("16384");
        assertThatThrownBy(() -> fixture.engine.begin(asked)).hasMessageContaining("needs a key");
        assertThatThrownBy(() -> fixture.engine.begin(asked.key(bytes, 0, 1))).hasMessageContaining("needs a value");
        assertThat(fixture.engine.freeSlots()).isEqualTo(8);
    }
}
