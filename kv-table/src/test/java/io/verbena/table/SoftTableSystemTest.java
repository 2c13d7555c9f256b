package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.check.TableCheck;
import io.verbena.table.check.TableChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** The engine over virtual queue pairs on the soft fabric: the path of production. */
class SoftTableSystemTest
{
    @TempDir
    Path directory;

    private static MemorySegment bytes(final String text)
    {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldKeepBudgetsOnSoft()
    {
        try (SoftTableFixture fixture = new SoftTableFixture(directory, 8 << 20, 1 << 20, 8))
        {
            final OpenTable table = fixture.createTable("budgets", 11, 1000);
            fixture.run(OperationKind.PUT, table, bytes("warm"), bytes("up"), 0);
            expect(fixture, OperationKind.PUT, table, "record", "v", OperationResult.STORED, 3, 7);
            expect(fixture, OperationKind.PUT, table, "record", "w", OperationResult.STORED, 1, 2);
            expect(fixture, OperationKind.GET, table, "record", null, OperationResult.FOUND, 1, 2);
            expect(fixture, OperationKind.GET, table, "absent", null, OperationResult.NOT_FOUND, 1, 2);
            fixture.engine.onEpoch(10, 0);
            expect(fixture, OperationKind.GET, table, "record", null, OperationResult.FOUND, 1, 2);
            fixture.engine.onEpoch(20, 0);
            expect(fixture, OperationKind.PUT, table, "record", "w", OperationResult.STORED, 2, 4);
            fixture.engine.onEpoch(30, 0);
            fixture.engine.epochs().forgetLocations();
            expect(fixture, OperationKind.GET, table, "record", null, OperationResult.FOUND, 2, 3);
            fixture.engine.onEpoch(40, 0);
            fixture.engine.epochs().forgetLocations();
            expect(fixture, OperationKind.PUT, table, "record", "x", OperationResult.STORED, 3, 5);
            expect(fixture, OperationKind.DELETE, table, "record", null, OperationResult.DELETED, 1, 1);
        }
    }

    private static void expect(
        final SoftTableFixture fixture,
        final int kind,
        final OpenTable table,
        final String key,
        final String value,
        final int result,
        final int roundTrips,
        final int verbs)
    {
        final VerbCounters before = new VerbCounters().add(fixture.vqp.counters());
        assertThat(fixture.run(kind, table, bytes(key), value == null ? null : bytes(value), 0)).isEqualTo(result);
        assertThat(fixture.lastRoundTrips).isEqualTo(roundTrips);
        assertThat(fixture.lastVerbs).isEqualTo(verbs);
        assertThat(fixture.vqp.counters().verbs() - before.verbs()).isEqualTo(verbs);
        assertThat(fixture.vqp.counters().doorbells - before.doorbells).isEqualTo(roundTrips);
    }

    @Test
    void shouldAgreeWithMapOverManyOperationsAndTwoTables()
    {
        final Map<String, String> expected = new HashMap<>();
        final Random random = new Random(5);
        try (SoftTableFixture fixture = new SoftTableFixture(directory, 64 << 20, 1 << 20, 8))
        {
            final OpenTable[] tables =
                {fixture.createTable("one", 1, 2000), fixture.createTable("two", 2, 2000)};
            for (int i = 0; i < 40_000; i++)
            {
                final int which = random.nextInt(2);
                final String key = "key-" + random.nextInt(1500);
                final String mapKey = which + key;
                switch (random.nextInt(4))
                {
                    case 0 ->
                    {
                        final String value = "x".repeat(random.nextInt(900)) + i;
                        assertThat(fixture.run(OperationKind.PUT, tables[which], bytes(key), bytes(value), 0))
                            .isEqualTo(OperationResult.STORED);
                        expected.put(mapKey, value);
                    }
                    case 1 -> assertThat(fixture.run(OperationKind.DELETE, tables[which], bytes(key), null, 0))
                        .isEqualTo(expected.remove(mapKey) == null ?
                            OperationResult.NOT_FOUND : OperationResult.DELETED);
                    default ->
                    {
                        final int result = fixture.run(OperationKind.GET, tables[which], bytes(key), null, 0);
                        final String value = expected.get(mapKey);
                        assertThat(result).isEqualTo(value == null ? OperationResult.NOT_FOUND : OperationResult.FOUND);
                        if (value != null)
                        {
                            assertThat(new String(fixture.lastValue.asSlice(0, fixture.lastValueLength).toArray(
                                ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8)).isEqualTo(value);
                        }
                    }
                }
                if (i % 500 == 0)
                {
                    final long passed = fixture.engine.passedEpoch();
                    fixture.engine.onEpoch(passed + 2, passed);
                }
            }
            long records = 0;
            for (final OpenTable table : tables)
            {
                final TableCheck check = new TableChecker(table.descriptor(), fixture::read).check();
                assertThat(check.problems()).isEmpty();
                records += check.committed;
            }
            assertThat(records).isEqualTo(expected.size());
        }
    }
}
