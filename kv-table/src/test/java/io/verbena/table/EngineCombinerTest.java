package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Writers of one key at one engine. */
class EngineCombinerTest
{
    private static final long LONG_NS = 1_000_000_000L;

    private record Ended(long correlationId, int result, long version, long counter, long sequence)
    {
    }

    private final List<Ended> ended = new ArrayList<>();
    private EngineFixture fixture;
    private OpenTable table;
    private byte[] lastValue;
    private long correlation;
    private long swapsBefore;

    @BeforeEach
    void open()
    {
        open(settings -> { });
    }

    private void open(final Consumer<TableEngineConfiguration> furtherSettings)
    {
        fixture = EngineFixture.single(settings ->
        {
            settings.operationListener(this::note);
            furtherSettings.accept(settings);
        });
        table = fixture.createTable(0, 16);
    }

    private void note(final Operation operation)
    {
        if (operation.kind() == OperationKind.GET)
        {
            lastValue = new byte[operation.valueLength()];
            operation.copyValueTo(MemorySegment.ofArray(lastValue), 0);
            return;
        }
        ended.add(new Ended(operation.correlationId(), operation.result(), operation.version(), operation.counter(),
            operation.sequence()));
    }

    @AfterEach
    void close()
    {
        fixture.close();
    }

    @Test
    void shouldTakeWaitingPutsAlongWithOneSwap()
    {
        begin(OperationKind.PUT, "k", "0");
        finish();
        swapsBefore = fixture.engine.counters().decisiveSwaps;
        for (int i = 1; i <= 5; i++)
        {
            begin(OperationKind.PUT, "k", "value " + i);
        }
        finish();
        assertThat(swaps()).isEqualTo(2);
        assertThat(fixture.engine.counters().combined).isEqualTo(3);
        assertThat(ended).hasSize(6).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(ended).extracting(Ended::correlationId).isSorted();
        assertThat(ended.stream().map(Ended::version).distinct().sorted().toList())
            .isEqualTo(ended.stream().map(Ended::version).toList());
        assertThat(value("k")).isEqualTo("value 5");
    }

    @Test
    void shouldSwapForEachWhereContentionIsNotControlled()
    {
        fixture.close();
        open(settings -> settings.controlsContention(false));
        begin(OperationKind.PUT, "k", "0");
        finish();
        swapsBefore = fixture.engine.counters().decisiveSwaps;
        for (int i = 1; i <= 5; i++)
        {
            begin(OperationKind.PUT, "k", "value " + i);
        }
        finish();
        assertThat(swaps()).isGreaterThanOrEqualTo(5);
        assertThat(fixture.engine.counters().combined).isZero();
    }

    @Test
    void shouldInsertAKeyForAllOfABatch()
    {
        begin(OperationKind.PUT, "new", "1");
        begin(OperationKind.PUT, "new", "2");
        begin(OperationKind.PUT, "other", "3");
        begin(OperationKind.PUT, "new", "4");
        finish();
        assertThat(ended).hasSize(4).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(value("new")).isEqualTo("4");
        assertThat(value("other")).isEqualTo("3");
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @Test
    void shouldGiveEachIncrementItsOwnSum()
    {
        for (int i = 0; i < 6; i++)
        {
            increment("c", 10 + i);
        }
        finish();
        assertThat(ended).extracting(Ended::counter).containsExactly(10L, 21L, 33L, 46L, 60L, 75L);
        assertThat(swaps()).isEqualTo(2);
        assertThat(ended.stream().map(Ended::version).distinct()).hasSize(6);
    }

    @Test
    void shouldLeaveOutOnlyTheIncrementsThatDoNotFit()
    {
        increment("c", Long.MAX_VALUE - 10);
        increment("c", 20);
        increment("c", 4);
        increment("c", 7);
        increment("c", 6);
        increment("c", 1);
        finish();
        assertThat(ended).extracting(Ended::result).containsExactly(OperationResult.STORED,
            OperationResult.COUNTER_OVERFLOW, OperationResult.STORED, OperationResult.COUNTER_OVERFLOW,
            OperationResult.STORED, OperationResult.COUNTER_OVERFLOW);
        assertThat(ended.get(4).counter).isEqualTo(Long.MAX_VALUE);
        assertThat(ended.get(5).version).isEqualTo(ended.get(0).version);
    }

    @Test
    void shouldKeepTheOrderOfKindsThatDoNotCombine()
    {
        increment("k", 1);
        begin(OperationKind.PUT, "k", "text");
        increment("k", 1);
        begin(OperationKind.PUT, "k", "12345678");
        increment("k", 1);
        finish();
        assertThat(ended).extracting(Ended::correlationId).isSorted();
        assertThat(ended).extracting(Ended::result).containsExactly(OperationResult.STORED, OperationResult.STORED,
            OperationResult.NOT_A_COUNTER, OperationResult.STORED, OperationResult.STORED);
    }

    @Test
    void shouldTellAWaiterInTimeThatItHadNoEffect()
    {
        begin(OperationKind.PUT, "k", "0");
        final long nowNs = fixture.nowNs;
        begin(OperationKind.PUT, "k", "late", nowNs + 50);
        begin(OperationKind.PUT, "k", "1");
        fixture.nowNs += 60;
        fixture.engine.poll();
        assertThat(ended).extracting(Ended::correlationId).containsExactly(2L);
        assertThat(ended.getFirst().result).isEqualTo(OperationResult.TIMED_OUT_NOT_APPLIED);
        finish();
        assertThat(ended).extracting(Ended::correlationId).containsExactly(2L, 1L, 3L);
        assertThat(value("k")).isEqualTo("1");
    }

    /** So many of the batch's requests execute before its connection is lost: two lines and the compare-and-swap. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldTakeEffectOnceWhenABatchOfIncrementsIsLostAndRepeated(final int steps)
    {
        increment("c", 1);
        finish();
        increment("c", 10);
        increment("c", 100);
        increment("c", 1_000);
        increment("c", 10_000);
        while (ended.size() < 2)
        {
            step();
        }
        fixture.engine.poll();
        for (int i = 0; i < steps; i++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.connect();
        assertThat(ended).hasSize(5);
        assertThat(ended.subList(2, 5)).allMatch(end -> end.result == OperationResult.OUTCOME_UNKNOWN);
        for (int i = 2; i < 5; i++)
        {
            fixture.engine.repeatNext(ended.get(i).sequence);
            increment("c", new long[]{100, 1_000, 10_000}[i - 2]);
        }
        finish();
        assertThat(ended.subList(5, 8)).allMatch(end -> end.result == OperationResult.STORED);
        get("c");
        assertThat(ByteBuffer.wrap(lastValue).order(ByteOrder.LITTLE_ENDIAN).getLong()).isEqualTo(11_111);
    }

    /** A member that is told "unknown" before its batch has posted anything decisive, for the second time. */
    @Test
    void shouldCountOnceWhenAMemberIsBegunAgainWhileItsBatchLooks()
    {
        fixture.close();
        open(settings -> settings.locationCacheEntries(0));
        increment("c", 1);
        increment("c", 10);
        increment("c", 100);
        while (ended.isEmpty() || fixture.engine.counters().decisiveSwaps < 2)
        {
            step();
        }
        fixture.port.fail(true);
        fixture.connect();
        assertThat(ended.subList(1, 3)).allMatch(end -> end.result == OperationResult.OUTCOME_UNKNOWN);
        increment("c", 1_000);
        repeatIncrement(ended.get(1), 10, fixture.nowNs + 10_000);
        repeatIncrement(ended.get(2), 100, fixture.nowNs + LONG_NS);
        while (ended.size() < 4)
        {
            step();
        }
        fixture.nowNs += 10_000;
        fixture.engine.poll();
        assertThat(ended.subList(3, 5)).extracting(Ended::result)
            .containsExactly(OperationResult.STORED, OperationResult.OUTCOME_UNKNOWN);
        repeatIncrement(ended.get(4), 10, fixture.nowNs + LONG_NS);
        finish();
        assertThat(ended.subList(5, 7)).allMatch(end -> end.result == OperationResult.STORED);
        get("c");
        assertThat(ByteBuffer.wrap(lastValue).order(ByteOrder.LITTLE_ENDIAN).getLong()).isEqualTo(1_111);
    }

    /** A batch that lost its first swap took effect with another one: what that expected is still there to be asked. */
    @Test
    void shouldNotTellOfTheFirstSwapOfABatchWhatItsSecondDid()
    {
        increment("c", 1);
        finish();
        increment("c", 10);
        increment("c", 100, fixture.nowNs + 10_000);
        increment("c", 1_000);
        for (int request = 0; request < 3; request++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.connect();
        fixture.engine.poll();
        assertThat(swaps()).isEqualTo(3);
        fixture.nowNs += 10_000;
        fixture.engine.poll();
        assertThat(ended.subList(1, 3)).allMatch(end -> end.result == OperationResult.OUTCOME_UNKNOWN);
        finish();
        repeatIncrement(ended.get(2), 100, fixture.nowNs + LONG_NS);
        finish();
        repeatIncrement(ended.get(1), 10, fixture.nowNs + LONG_NS);
        finish();
        assertThat(ended.subList(3, 6)).allMatch(end -> end.result == OperationResult.STORED);
        get("c");
        assertThat(ByteBuffer.wrap(lastValue).order(ByteOrder.LITTLE_ENDIAN).getLong()).isEqualTo(1_111);
    }

    @Test
    void shouldPutAgainWhatWentWithALostBatch()
    {
        begin(OperationKind.PUT, "k", "0");
        finish();
        begin(OperationKind.PUT, "k", "1");
        begin(OperationKind.PUT, "k", "2");
        begin(OperationKind.PUT, "k", "3");
        while (ended.size() < 2)
        {
            step();
        }
        fixture.engine.poll();
        fixture.port.fail(true);
        fixture.connect();
        assertThat(ended).hasSize(3);
        assertThat(ended.get(2).result).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        finish();
        assertThat(ended.get(3).result).isEqualTo(OperationResult.STORED);
        get("k");
        assertThat(new String(lastValue, StandardCharsets.UTF_8)).isEqualTo("2");
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @Test
    void shouldAppendForAllOfABatchWithOneSwap()
    {
        for (int i = 0; i < 6; i++)
        {
            begin(OperationKind.APPEND, "new", "<" + i + ">");
        }
        finish();
        assertThat(ended).hasSize(6).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(ended).extracting(Ended::correlationId).isSorted();
        assertThat(ended.stream().map(Ended::version).distinct().sorted().toList())
            .isEqualTo(ended.stream().map(Ended::version).toList());
        assertThat(swaps()).isEqualTo(2);
        assertThat(fixture.engine.counters().combined).isEqualTo(4);
        assertThat(value("new")).isEqualTo("<0><1><2><3><4><5>");
    }

    /** As one after the other: what does not fit changes nothing, what comes behind it may. */
    @Test
    void shouldLeaveOutOnlyTheAppendsThatDoNotFit()
    {
        begin(OperationKind.PUT, "k", "p".repeat(10_000));
        for (final int length : new int[]{4_000, 3_000, 2_000, 1_000, 300, 200})
        {
            begin(OperationKind.APPEND, "k", Integer.toString(length).charAt(0) + "x".repeat(length - 1));
        }
        finish();
        assertThat(ended).extracting(Ended::result).containsExactly(OperationResult.STORED, OperationResult.STORED,
            OperationResult.VALUE_TOO_LONG, OperationResult.STORED, OperationResult.VALUE_TOO_LONG,
            OperationResult.STORED, OperationResult.VALUE_TOO_LONG);
        assertThat(swaps()).isEqualTo(2);
        assertThat(value("k")).isEqualTo("p".repeat(10_000) + "4" + "x".repeat(3_999) + "2" + "x".repeat(1_999) + "3" +
            "x".repeat(299));
        begin(OperationKind.APPEND, "k", "y".repeat(500));
        begin(OperationKind.APPEND, "k", "y".repeat(500));
        begin(OperationKind.APPEND, "k", "y".repeat(500));
        finish();
        assertThat(ended.subList(7, 10)).allMatch(end -> end.result == OperationResult.VALUE_TOO_LONG);
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    /** Its own bytes were set aside when its batch was made first; with the longest keys there is no room for that. */
    @ParameterizedTest
    @ValueSource(ints = {1, 65_472, 65_473})
    void shouldAppendWhatWasLeftOutWhenTheValueIsAnotherOneBySwap(final int keyLength)
    {
        final boolean isCombined = keyLength <= 65_472;
        fixture.chunkBytes = 512 * 1024;
        final String key = "k".repeat(keyLength);
        begin(OperationKind.PUT, key, "p".repeat(16_000));
        finish();
        begin(OperationKind.APPEND, key, "0");
        begin(OperationKind.APPEND, key, "1".repeat(100));
        begin(OperationKind.APPEND, key, "2".repeat(16_200));
        while (fixture.engine.counters().decisiveSwaps < 3)
        {
            step();
        }
        fixture.port.deaf = true;
        try (EngineFixture rival = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2)))
        {
            rival.nextBlocksAt += 2 << 20;
            rival.chunkBytes = 512 * 1024;
            rival.put(rival.engine.openTable(table.descriptor()), key, "rival");
        }
        fixture.port.deaf = false;
        finish();
        assertThat(ended).hasSize(4).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(fixture.engine.counters().combined).isEqualTo(isCombined ? 1 : 0);
        assertThat(value(key)).isEqualTo("rival" + "1".repeat(100) + "2".repeat(16_200));
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    /** So many of the batch's requests execute before its connection is lost. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldAppendOnceWhenABatchIsLostAndRepeated(final int steps)
    {
        begin(OperationKind.PUT, "k", "p");
        finish();
        for (int i = 0; i < 4; i++)
        {
            begin(OperationKind.APPEND, "k", Integer.toString(i));
        }
        while (fixture.engine.counters().decisiveSwaps < 3)
        {
            step();
        }
        for (int i = 0; i < steps; i++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.connect();
        assertThat(ended.subList(2, 5)).allMatch(end -> end.result == OperationResult.OUTCOME_UNKNOWN);
        for (int i = 2; i < 5; i++)
        {
            fixture.engine.repeatNext(ended.get(i).sequence);
            begin(OperationKind.APPEND, "k", Integer.toString(i - 1));
        }
        finish();
        assertThat(ended.subList(5, 8)).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(value("k")).isEqualTo("p0123");
    }

    private void get(final String key)
    {
        final MemorySegment bytes = bytes(key);
        assertThat(fixture.engine.begin(new TableRequest().of(OperationKind.GET, table, fixture.nowNs + LONG_NS, 0)
            .key(bytes, 0, (int)bytes.byteSize()))).isTrue();
        finish();
    }

    private String value(final String key)
    {
        get(key);
        return new String(lastValue, StandardCharsets.UTF_8);
    }

    private static MemorySegment bytes(final String text)
    {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private void begin(final int kind, final String key, final String value)
    {
        begin(kind, key, value, fixture.nowNs + LONG_NS);
    }

    private void begin(final int kind, final String key, final String value, final long deadlineNs)
    {
        final MemorySegment keyBytes = bytes(key);
        final MemorySegment valueBytes = bytes(value);
        assertThat(fixture.engine.begin(new TableRequest().of(kind, table, deadlineNs, ++correlation)
            .key(keyBytes, 0, (int)keyBytes.byteSize()).value(valueBytes, 0, (int)valueBytes.byteSize()))).isTrue();
    }

    private void increment(final String key, final long delta)
    {
        increment(key, delta, fixture.nowNs + LONG_NS);
    }

    private void increment(final String key, final long delta, final long deadlineNs)
    {
        final MemorySegment keyBytes = bytes(key);
        assertThat(fixture.engine.begin(new TableRequest().of(OperationKind.INCREMENT, table, deadlineNs, ++correlation)
            .key(keyBytes, 0, (int)keyBytes.byteSize()).delta(delta))).isTrue();
    }

    private void repeatIncrement(final Ended attempt, final long delta, final long deadlineNs)
    {
        fixture.engine.repeatNext(attempt.sequence);
        increment("c", delta, deadlineNs);
    }

    private void step()
    {
        fixture.nowNs += 100;
        fixture.fabric.step();
        fixture.engine.poll();
    }

    private void finish()
    {
        for (int i = 0; i < 10_000 && fixture.engine.active() > 0; i++)
        {
            step();
        }
        assertThat(fixture.engine.active()).isZero();
    }

    private long swaps()
    {
        return fixture.engine.counters().decisiveSwaps - swapsBefore;
    }
}
