package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.expiry.Expiry;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Operations on one key that wait for one another at one engine, where its record has a deadline. */
class EngineExpiryCombinerTest
{
    private static final long LONG_NS = 1_000_000_000L;

    private long clockMs = 5_000_000;
    private long tickMs;
    private final Map<Long, Integer> results = new TreeMap<>();
    private long correlation;
    private final EngineFixture fixture = EngineFixture.single(settings -> settings.operationListener(this::note)
        .expiryClock(() -> clockMs += tickMs));
    private final OpenTable table = fixture.createTable(0, 16);
    private long lastExpiryMs;

    @AfterEach
    void close()
    {
        fixture.close();
    }

    private void note(final Operation operation)
    {
        results.put(operation.correlationId(), operation.result());
        lastExpiryMs = operation.expiryMs();
    }

    private static MemorySegment bytes(final String text)
    {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private void begin(final int kind, final String value, final long expiry)
    {
        final TableRequest request =
            new TableRequest().of(kind, table, fixture.nowNs + LONG_NS, ++correlation).key(bytes("k"), 0, 1);
        if (OperationKind.takesValue(kind))
        {
            request.value(bytes(value), 0, value.length()).expiry(expiry);
        }
        assertThat(fixture.engine.begin(request)).isTrue();
    }

    private void finish(final int... expected)
    {
        for (int i = 0; i < 10_000 && fixture.engine.active() > 0; i++)
        {
            fixture.engine.poll();
            fixture.fabric.step();
            fixture.nowNs += 100;
        }
        assertThat(fixture.engine.active()).isZero();
        assertThat(results.values().stream().mapToInt(Integer::intValue)).containsExactly(
            Arrays.stream(expected).boxed().toArray(Integer[]::new));
        results.clear();
    }

    /** Both wait for the first one, and would have one block if the last one could be carried. */
    @Test
    void shouldKeepTheDeadlineOfThePutBeforeIt()
    {
        begin(OperationKind.PUT, "0", Expiry.NONE);
        begin(OperationKind.PUT, "1", Expiry.at(clockMs + 10));
        begin(OperationKind.PUT, "2", Expiry.KEEP);
        finish(OperationResult.STORED, OperationResult.STORED, OperationResult.STORED);
        begin(OperationKind.GET, null, Expiry.NONE);
        finish(OperationResult.FOUND);
        assertThat(lastExpiryMs).isEqualTo(clockMs + 10);
    }

    @Test
    void shouldFindARecordGoneWhoseDeadlineTheWriterBeforeSetInThePast()
    {
        begin(OperationKind.PUT, "0", Expiry.NONE);
        begin(OperationKind.PUT_IF_PRESENT, "1", Expiry.at(clockMs - 1));
        begin(OperationKind.PUT_IF_PRESENT, "2", Expiry.NONE);
        finish(OperationResult.STORED, OperationResult.STORED, OperationResult.NOT_FOUND);
    }

    /** The clock goes on between the two, and only the second one is behind the deadline. */
    @Test
    void shouldJudgeARecordAnewForEachThatWaits()
    {
        begin(OperationKind.PUT, "0", Expiry.at(clockMs + 2));
        finish(OperationResult.STORED);
        tickMs = 1;
        begin(OperationKind.PUT_IF_ABSENT, "1", Expiry.NONE);
        begin(OperationKind.PUT_IF_ABSENT, "2", Expiry.NONE);
        finish(OperationResult.EXISTS, OperationResult.STORED);
    }

    @Test
    void shouldJudgeWhatAWriterHasJustStored()
    {
        begin(OperationKind.PUT, "0", Expiry.NONE);
        finish(OperationResult.STORED);
        tickMs = 1;
        begin(OperationKind.PUT, "1", Expiry.at(clockMs + 2));
        begin(OperationKind.PUT_IF_ABSENT, "2", Expiry.NONE);
        finish(OperationResult.STORED, OperationResult.STORED);
    }
}
