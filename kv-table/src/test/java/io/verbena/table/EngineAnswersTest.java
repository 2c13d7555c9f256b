package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.EngineCounters;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableMutation;
import io.verbena.table.operation.TableRequest;
import io.verbena.test.Mutation;
import java.lang.foreign.MemorySegment;
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

/** Writers of one key at one engine that change nothing behind the one before them, and are told so by it. */
class EngineAnswersTest
{
    private static final long LONG_NS = 1_000_000_000L;

    private record Ended(long correlationId, int result, long version, long sequence)
    {
    }

    private final List<Ended> ended = new ArrayList<>();
    private EngineFixture fixture;
    private OpenTable table;
    private String lastValue;
    private long correlation;

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
            final byte[] value = new byte[operation.valueLength()];
            operation.copyValueTo(MemorySegment.ofArray(value), 0);
            lastValue = operation.result() == OperationResult.FOUND ? new String(value, StandardCharsets.UTF_8) : null;
            return;
        }
        ended.add(new Ended(
            operation.correlationId(), operation.result(), operation.version(), operation.sequence()));
    }

    @AfterEach
    void close()
    {
        fixture.close();
    }

    @Test
    void shouldDeleteOnceAndLookOnceForManyDeletes()
    {
        store("k");
        for (int i = 0; i < 6; i++)
        {
            begin(OperationKind.DELETE, "k", null, 0);
        }
        finish();
        final EngineCounters counters = fixture.engine.counters();
        assertThat(results()).containsExactly(OperationResult.DELETED, OperationResult.NOT_FOUND,
            OperationResult.NOT_FOUND, OperationResult.NOT_FOUND, OperationResult.NOT_FOUND, OperationResult.NOT_FOUND);
        assertThat(ended).extracting(Ended::correlationId).isSorted();
        // One compare-and-swap, and the READs of one look.
        assertThat(counters.decisiveSwaps).isEqualTo(2);
        assertThat(counters.doorbells[OperationKind.DELETE]).isEqualTo(2);
        assertThat(counters.verbs[OperationKind.DELETE]).isEqualTo(3);
        assertThat(counters.answered).isEqualTo(4);
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @Test
    void shouldTellThoseThatExpectedTheSameVersionWhichOneThereIsNow()
    {
        final long version = store("k");
        for (int i = 0; i < 5; i++)
        {
            begin(i % 2 == 0 ? OperationKind.REPLACE : OperationKind.DELETE_VERSION, "k", "v" + i, version);
        }
        finish();
        assertThat(results()).containsExactly(OperationResult.STORED, OperationResult.VERSION_MISMATCH,
            OperationResult.VERSION_MISMATCH, OperationResult.VERSION_MISMATCH, OperationResult.VERSION_MISMATCH);
        assertThat(ended.stream().map(Ended::version).distinct()).hasSize(1);
        assertThat(ended.getFirst().version).isGreaterThan(version);
        assertThat(fixture.engine.counters().answered).isEqualTo(3);
        assertThat(fixture.engine.counters().decisiveSwaps).isEqualTo(2);
        assertThat(value("k")).isEqualTo("v0");
    }

    @Test
    void shouldInsertOnceForManyPutsIfAbsent()
    {
        for (int i = 0; i < 5; i++)
        {
            begin(OperationKind.PUT_IF_ABSENT, "k", "v" + i, 0);
        }
        finish();
        assertThat(results()).containsExactly(OperationResult.STORED, OperationResult.EXISTS, OperationResult.EXISTS,
            OperationResult.EXISTS, OperationResult.EXISTS);
        assertThat(ended.stream().map(Ended::version).distinct()).hasSize(1);
        assertThat(fixture.engine.counters().answered).isEqualTo(3);
        assertThat(value("k")).isEqualTo("v0");
        assertThat(fixture.check(table).problems()).isEmpty();
    }

    @Test
    void shouldTakePutsIfPresentAlongWithOneSwap()
    {
        store("k");
        for (int i = 1; i <= 5; i++)
        {
            begin(OperationKind.PUT_IF_PRESENT, "k", "v" + i, 0);
        }
        finish();
        assertThat(ended).hasSize(5).allMatch(end -> end.result == OperationResult.STORED);
        assertThat(ended.stream().map(Ended::version).distinct().sorted().toList())
            .isEqualTo(ended.stream().map(Ended::version).toList()).hasSize(5);
        assertThat(fixture.engine.counters().decisiveSwaps).isEqualTo(3);
        assertThat(fixture.engine.counters().combined).isEqualTo(3);
        assertThat(value("k")).isEqualTo("v5");
    }

    @Test
    void shouldTellPutsIfPresentOfAnAbsentKeyTogether()
    {
        for (int i = 1; i <= 5; i++)
        {
            begin(OperationKind.PUT_IF_PRESENT, "none", "v", 0);
        }
        finish();
        assertThat(ended).hasSize(5).allMatch(end -> end.result == OperationResult.NOT_FOUND && end.version == 0);
        // The first one, which found none before it, its answer for nobody; and one batch.
        assertThat(fixture.engine.counters().doorbells[OperationKind.PUT_IF_PRESENT]).isEqualTo(2);
        assertThat(value("none")).isNull();
    }

    @Test
    void shouldKeepTheOrderAndRunWhatChangesSomething()
    {
        final long version = store("k");
        begin(OperationKind.PUT_IF_ABSENT, "k", "0", 0);
        begin(OperationKind.PUT_IF_ABSENT, "k", "1", 0);
        begin(OperationKind.REPLACE, "k", "2", version);
        begin(OperationKind.PUT_IF_ABSENT, "k", "3", 0);
        begin(OperationKind.DELETE, "k", null, 0);
        begin(OperationKind.DELETE_VERSION, "k", null, version);
        begin(OperationKind.PUT_IF_ABSENT, "k", "4", 0);
        finish();
        assertThat(results()).containsExactly(OperationResult.EXISTS, OperationResult.EXISTS, OperationResult.STORED,
            OperationResult.EXISTS, OperationResult.DELETED, OperationResult.NOT_FOUND, OperationResult.STORED);
        assertThat(ended).extracting(Ended::correlationId).isSorted();
        assertThat(fixture.engine.counters().answered).isEqualTo(2);
        assertThat(value("k")).isEqualTo("4");
    }

    /** What another node did after the leader may have been told to somebody before the late one began. */
    @ParameterizedTest
    @ValueSource(strings = {"", "ANSWERED_IN_TIME"})
    void shouldNotAnswerWhoBeganBehindTheLeader(final String name)
    {
        try (Mutation.Opened _ = TableMutation.named(name).open())
        {
            deleteBehindTheLeader();
        }
        assertThat(ended.getFirst().result).isEqualTo(OperationResult.DELETED);
        assertThat(ended.getLast().result)
            .isEqualTo(name.isEmpty() ? OperationResult.DELETED : OperationResult.NOT_FOUND);
    }

    private void deleteBehindTheLeader()
    {
        store("k");
        begin(OperationKind.DELETE, "k", null, 0);
        // Its compare-and-swap executes, and the answer is late.
        fixture.fabric.step();
        fixture.port.deaf = true;
        try (EngineFixture rival = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2)))
        {
            rival.nextBlocksAt += 1 << 20;
            rival.put(rival.engine.openTable(table.descriptor()), "k", "rival");
            fixture.port.deaf = false;
        }
        begin(OperationKind.DELETE, "k", null, 0);
        finish();
    }

    /** So many of the batch's requests execute before its connection is lost. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldLetThoseWhoWaitFindOutWhenALeaderIsLost(final int steps)
    {
        store("k");
        begin(OperationKind.DELETE, "k", null, 0);
        begin(OperationKind.DELETE, "k", null, 0);
        begin(OperationKind.DELETE, "k", null, 0);
        for (int i = 0; i < steps; i++)
        {
            fixture.fabric.step();
        }
        fixture.port.fail(true);
        fixture.connect();
        assertThat(results()).containsExactly(OperationResult.OUTCOME_UNKNOWN);
        finish();
        assertThat(results().subList(1, 3)).containsExactly(
            steps == 0 ? OperationResult.DELETED : OperationResult.NOT_FOUND, OperationResult.NOT_FOUND);
        fixture.engine.repeatNext(ended.getFirst().sequence);
        begin(OperationKind.DELETE, "k", null, 0);
        finish();
        assertThat(results().getLast())
            .isEqualTo(steps == 0 ? OperationResult.NOT_FOUND : OperationResult.DELETED);
    }

    /** A delete may be what makes the room that a put waits for. */
    @ParameterizedTest
    @ValueSource(strings = {"", "GOES_PAST"})
    void shouldGoPastWhoWaitsForMemory(final String name)
    {
        final boolean goesPast = name.isEmpty();
        try (Mutation.Opened _ = TableMutation.named(name).open())
        {
            deleteBesideAPutThatWaitsForMemory();
            assertThat(results()).containsExactlyElementsOf(goesPast ?
                List.of(OperationResult.DELETED, OperationResult.NOT_FOUND, OperationResult.NOT_FOUND) :
                List.of(OperationResult.DELETED));
            fixture.engine.suspend(EngineFixture.NODE, false);
            fixture.engine.suspend(EngineFixture.OTHER_NODE, false);
            finish();
            assertThat(value("k")).isEqualTo(goesPast ? "1" : null);
        }
    }

    private void deleteBesideAPutThatWaitsForMemory()
    {
        store("k");
        fixture.engine.suspend(EngineFixture.NODE, true);
        fixture.engine.suspend(EngineFixture.OTHER_NODE, true);
        begin(OperationKind.DELETE, "k", null, 0);
        begin(OperationKind.PUT, "k", "1", 0);
        begin(OperationKind.DELETE, "k", null, 0);
        work();
        begin(OperationKind.DELETE, "k", null, 0);
        work();
    }

    /** @return its version. */
    private long store(final String key)
    {
        begin(OperationKind.PUT, key, "stored", 0);
        finish();
        return ended.removeLast().version;
    }

    private String value(final String key)
    {
        begin(OperationKind.GET, key, null, 0);
        finish();
        return lastValue;
    }

    private List<Integer> results()
    {
        return ended.stream().map(Ended::result).toList();
    }

    private static MemorySegment bytes(final String text)
    {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private void begin(final int kind, final String key, final String value, final long version)
    {
        final MemorySegment keyBytes = bytes(key);
        final MemorySegment valueBytes = bytes(value == null ? "" : value);
        final TableRequest request = new TableRequest().of(kind, table, fixture.nowNs + LONG_NS, ++correlation)
            .key(keyBytes, 0, (int)keyBytes.byteSize()).expectedVersion(version);
        assertThat(fixture.engine.begin(OperationKind.takesValue(kind) ?
            request.value(valueBytes, 0, (int)valueBytes.byteSize()) : request)).isTrue();
    }

    private void step()
    {
        fixture.nowNs += 100;
        fixture.fabric.step();
        fixture.engine.poll();
    }

    private void work()
    {
        for (int i = 0; i < 200; i++)
        {
            step();
        }
    }

    private void finish()
    {
        for (int i = 0; i < 10_000 && fixture.engine.active() > 0; i++)
        {
            step();
        }
        assertThat(fixture.engine.active()).isZero();
    }
}
