package io.verbena.table;

import io.verbena.table.access.EmptiedWords;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

/** What an engine leaves in slots that it empties, and that such slots are as free as any. */
class EngineEmptiedWordTest
{
    private static final int TABLE_AT = 4096;
    private static final long HASH_SEED = 42;
    private static final int SLOTS = BucketDescriptor.SLOTS_PER_GROUP;
    private static final int WRITER_NUMBER = 1;
    private static final int OTHER_WRITER = 7;
    /** Of an insert of a key that is absent: claim and commit. */
    private static final int SWAPS_OF_INSERT = 2;

    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(
            TablePlan.ofShape("t", 9, HASH_SEED, 0, 1, new int[]{EngineFixture.NODE}), TABLE_AT);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private static int at(final int slot)
    {
        return TABLE_AT + SubtableDescriptor.GROUPS_OFFSET + BucketDescriptor.slotPosition(slot);
    }

    private long word(final int slot)
    {
        return fixture.memory().getLong(at(slot), LITTLE_ENDIAN);
    }

    private void fill(final IntToLongFunction words)
    {
        IntStream.range(0, SLOTS).forEach(
            slot -> fixture.memory().putLong(at(slot), words.applyAsLong(slot), LITTLE_ENDIAN));
    }

    private LongStream words()
    {
        return IntStream.range(0, SLOTS).mapToLong(this::word);
    }

    private static long tentative(final String key, final int slot)
    {
        final KeyHash hash = new KeyHash();
        final byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        final MemorySegment segment = Arena.ofAuto().allocate(bytes.length);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
        hash.compute(KeyHash.function(HASH_SEED), segment);
        return SlotWord.withKind(SlotWord.committed(KeyHash.fingerprint(hash.high()), 0, 0, 1, 64L + slot * 64),
            SlotWord.KIND_TENTATIVE);
    }

    @Test
    void shouldClaimASlotThatSomebodyHasEmptied()
    {
        fill(slot -> SlotWord.emptied(OTHER_WRITER, slot));
        final long swapsBefore = fixture.port.counters.compareSwaps;
        final EngineFixture.Outcome outcome = fixture.put(table, "k", "v");
        assertThat(outcome.result()).isEqualTo(OperationResult.STORED);
        assertThat(outcome.roundTrips()).isEqualTo(3);
        assertThat(outcome.retries()).isZero();
        assertThat(fixture.port.counters.compareSwaps - swapsBefore).isEqualTo(SWAPS_OF_INSERT);
        assertThat(words().filter(SlotWord::isCommitted)).hasSize(1);
        assertThat(words().filter(SlotWord::isEmpty)).hasSize(SLOTS - 1);
        assertThat(fixture.get(table, "k").value()).isEqualTo("v");
    }

    /** Its insert is as if it had never been. */
    @Test
    void shouldPutBackWhatItsWordWasPutOn()
    {
        fill(slot -> SlotWord.emptied(OTHER_WRITER, slot));
        final long[] before = words().toArray();
        fixture.begin(OperationKind.PUT, table, "k", "v", 0, fixture.nowNs + 10_000);
        fixture.engine.poll();
        while (words().noneMatch(SlotWord::isTentative))
        {
            fixture.fabric.step();
        }
        fixture.port.deaf = true;
        fixture.nowNs += 20_000;
        fixture.engine.poll();
        fixture.port.deaf = false;
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        assertThat(words().toArray()).isEqualTo(before);
    }

    @Test
    void shouldLeaveAWordOfItsOwnForEachThatItKills()
    {
        final int rivals = 3;
        // Behind the slots that an insert takes first.
        fill(slot -> slot >= SLOTS - rivals ? tentative("k", slot) : SlotWord.EMPTY);
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.STORED);
        final Set<Long> left = new HashSet<>();
        words().filter(word -> SlotWord.EMPTY != word && SlotWord.isEmpty(word)).forEach(left::add);
        final Set<Long> expected = new HashSet<>();
        LongStream.rangeClosed(1, rivals).forEach(count -> expected.add(SlotWord.emptied(WRITER_NUMBER, count)));
        assertThat(left).isEqualTo(expected);
        assertThat(fixture.check(table).isSound()).isTrue();
    }

    /** It is gone, whoever has taken it away. */
    @Test
    void shouldTakeARivalForDeadThatSomebodyElseHasKilled()
    {
        fill(slot -> slot == SLOTS - 1 ? tentative("k", slot) : SlotWord.EMPTY);
        fixture.begin(OperationKind.PUT, table, "k", "v", 0, fixture.nowNs + 1_000_000_000L);
        while (!fixture.engine.toString().contains("kill"))
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
        fixture.memory().putLong(at(SLOTS - 1), SlotWord.emptied(OTHER_WRITER, 5), LITTLE_ENDIAN);
        final EngineFixture.Outcome outcome = fixture.finish();
        assertThat(outcome.result()).isEqualTo(OperationResult.STORED);
        assertThat(outcome.retries()).isZero();
        assertThat(fixture.engine.counters().withdrawals).isZero();
        assertThat(word(SLOTS - 1)).isEqualTo(SlotWord.emptied(OTHER_WRITER, 5));
    }

    /** One that it lost to gets the time to end; then it is in the way no longer. */
    @Test
    void shouldLeaveAWordOfItsOwnWhereARivalStandsThatItLostTo()
    {
        // The first slots of every bucket: lower than those that an insert takes.
        fill(slot -> slot % BucketDescriptor.SLOTS_PER_BUCKET == 0 ? tentative("k", slot) : SlotWord.EMPTY);
        final EngineFixture.Outcome outcome = fixture.put(table, "k", "v");
        assertThat(outcome.result()).isEqualTo(OperationResult.STORED);
        assertThat(outcome.retries()).isPositive();
        assertThat(fixture.engine.counters().withdrawals).isPositive();
        final long[] left =
            words().filter(word -> SlotWord.EMPTY != word && SlotWord.isEmpty(word)).sorted().toArray();
        assertThat(left).hasSizeGreaterThan(1).doesNotHaveDuplicates();
        assertThat(words().filter(SlotWord::isCommitted)).hasSize(1);
    }

    @Test
    void shouldMakeRoomWithAWordOfItsOwn()
    {
        fill(slot -> tentative("other", slot));
        assertThat(fixture.put(table, "k", "v").result()).isEqualTo(OperationResult.STORED);
        assertThat(words().filter(SlotWord::isCommitted)).hasSize(1);
        assertThat(words().anyMatch(word -> SlotWord.EMPTY == word)).isFalse();
        // The slot was emptied before it was claimed, so that a second insert meets what the first has left.
        assertThat(fixture.engine.emptiedWord()).isEqualTo(SlotWord.emptied(WRITER_NUMBER, 2));
    }

    @Test
    void shouldIssueEachWordOnce()
    {
        final EmptiedWords words = new EmptiedWords(OTHER_WRITER);
        assertThat(words.getAsLong()).isEqualTo(SlotWord.emptied(OTHER_WRITER, 1));
        assertThat(words.getAsLong()).isEqualTo(SlotWord.emptied(OTHER_WRITER, 2));
        final long ofTool = EmptiedWords.byTool(tentative("k", 1));
        assertThat(SlotWord.isEmpty(ofTool)).isTrue();
        assertThat(ofTool).isNotIn(SlotWord.EMPTY, EmptiedWords.byTool(tentative("k", 2)));
        assertThat(ofTool >>> SlotWord.EMPTIED_WRITER_SHIFT & 0xFFFF).isZero();
    }
}
