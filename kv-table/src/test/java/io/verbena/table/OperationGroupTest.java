package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.Operation;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Operations begun together: one doorbell for each step that they take together, and results of their own. */
class OperationGroupTest
{
    private static final int SLOTS = 128;

    private record Result(long id, int result, int roundTrips, int doorbells, String value)
    {
    }

    private final List<Result> results = new ArrayList<>();
    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single(settings -> settings.operationSlots(SLOTS).operationListener(this::note));
        fixture.chunkBytes = 256 * 1024;
        table = fixture.createTable(0, 1024);
        runAll(OperationKind.PUT, 100, 0);
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private void note(final Operation operation)
    {
        String value = null;
        if (operation.result() == OperationResult.FOUND)
        {
            final byte[] bytes = new byte[operation.valueLength()];
            operation.copyValueTo(MemorySegment.ofArray(bytes), 0);
            value = new String(bytes, StandardCharsets.UTF_8);
        }
        results.add(new Result(operation.correlationId(), operation.result(), operation.roundTrips(),
            operation.doorbells(), value));
    }

    private void begin(final int kind, final int key)
    {
        final MemorySegment bytes = MemorySegment.ofArray(("key" + key).getBytes(StandardCharsets.UTF_8));
        final MemorySegment value = MemorySegment.ofArray(("value" + key).getBytes(StandardCharsets.UTF_8));
        final TableRequest request = new TableRequest().of(kind, table, fixture.nowNs + 1_000_000_000L, key)
            .key(bytes, 0, (int)bytes.byteSize());
        assertThat(fixture.engine.begin(OperationKind.takesValue(kind) ?
            request.value(value, 0, (int)value.byteSize()) : request)).isTrue();
    }

    /** @return doorbells rung. */
    private long runAll(final int kind, final int count, final int from)
    {
        results.clear();
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        fixture.engine.beginGroup();
        for (int i = 0; i < count; i++)
        {
            begin(kind, from + i);
        }
        fixture.engine.endGroup();
        while (results.size() < count || fixture.engine.active() > 0)
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(results.stream().mapToLong(Result::doorbells).sum())
            .as("doorbells told by the operations").isEqualTo(fixture.port.counters.doorbells - before.doorbells);
        return fixture.port.counters.doorbells - before.doorbells;
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    @Test
    void shouldReadManyCachedKeysWithOneDoorbell()
    {
        assertThat(runAll(OperationKind.GET, 100, 0)).isOne();
        assertThat(results).hasSize(100).allMatch(result -> result.roundTrips == 1)
            .allMatch(result -> ("value" + result.id).equals(result.value));
    }

    @Test
    void shouldReadTheBlocksOfAGroupInARowAndThenTheSlots()
    {
        fixture.port.readBytes.clear();
        runAll(OperationKind.GET, 10, 0);
        assertThat(fixture.port.readBytes).hasSize(20);
        assertThat(fixture.port.readBytes.subList(0, 10)).allMatch(bytes -> bytes > Long.BYTES);
        assertThat(fixture.port.readBytes.subList(10, 20)).containsOnly(Long.BYTES);
    }

    @Test
    void shouldReadTheSlotsBeforeTheStepsOfOperationsThatAreNoCachedReads()
    {
        fixture.port.readBytes.clear();
        results.clear();
        fixture.engine.beginGroup();
        begin(OperationKind.GET, 1);
        begin(OperationKind.GET, 2);
        begin(OperationKind.PUT, 3);
        begin(OperationKind.GET, 4);
        fixture.engine.endGroup();
        assertThat(fixture.port.readBytes.subList(2, 4)).containsOnly(Long.BYTES);
        while (results.size() < 4)
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(results).filteredOn(result -> result.value != null)
            .allMatch(result -> ("value" + result.id).equals(result.value)).hasSize(3);
    }

    @Test
    void shouldEndOnlyTheOperationWhoseSlotIsRefused()
    {
        for (int refused = 0; refused < 20; refused++)
        {
            // Ten blocks first, then ten slots.
            fixture.port.readsUntilRefusal = refused;
            runAll(OperationKind.GET, 10, 0);
            assertThat(results).as("READ %d refused", refused).hasSize(10)
                .filteredOn(result -> result.result == OperationResult.CORRUPT)
                .extracting(Result::id).containsExactly(refused % 10L);
            assertThat(results).filteredOn(result -> result.result == OperationResult.FOUND).hasSize(9)
                .allMatch(result -> ("value" + result.id).equals(result.value));
        }
    }

    @Test
    void shouldBeginNothingAfterTheEngineWasClosedWithinAGroup()
    {
        results.clear();
        fixture.engine.beginGroup();
        begin(OperationKind.GET, 0);
        fixture.engine.close();
        fixture.engine.endGroup();
        assertThat(results).singleElement().matches(result -> result.result == OperationResult.NODE_UNAVAILABLE);
    }

    @Test
    void shouldReadManyUncachedKeysWithTwoDoorbells()
    {
        coldCache();
        assertThat(runAll(OperationKind.GET, 100, 0)).isEqualTo(2);
        assertThat(results).hasSize(100).allMatch(result -> result.roundTrips == 2)
            .allMatch(result -> ("value" + result.id).equals(result.value));
    }

    @Test
    void shouldWriteManyKeysWithAsManyDoorbellsAsOne()
    {
        assertThat(runAll(OperationKind.PUT, 100, 0)).isOne();
        coldCache();
        assertThat(runAll(OperationKind.PUT, 100, 0)).isEqualTo(3);
        assertThat(runAll(OperationKind.PUT, 20, 1000)).isEqualTo(3);
        assertThat(runAll(OperationKind.DELETE, 100, 0)).isOne();
        assertThat(results).allMatch(result -> result.result == OperationResult.DELETED);
        assertThat(fixture.check(table).committed).isEqualTo(20);
    }

    @Test
    void shouldGoOnTogetherWhenSomeKeysAreCachedAndSomeAbsent()
    {
        coldCache();
        runAll(OperationKind.GET, 10, 0);
        // 0 to 9 cached, 10 to 99 not, 100 to 109 absent.
        assertThat(runAll(OperationKind.GET, 110, 0)).isEqualTo(2);
        for (final Result result : results)
        {
            assertThat(result.result)
                .isEqualTo(result.id < 100 ? OperationResult.FOUND : OperationResult.NOT_FOUND);
            assertThat(result.roundTrips).isEqualTo(result.id >= 10 && result.id < 100 ? 2 : 1);
        }
    }

    @Test
    void shouldRingSeveralTimesWhenTheLongestBatchIsExceeded()
    {
        fixture.port.maxBatchRequests = 20;
        assertThat(runAll(OperationKind.GET, 100, 0)).isEqualTo(17);
        assertThat(results).allMatch(result -> result.roundTrips == 1);
    }

    @Test
    void shouldTellEachOperationWhenTheConnectionBreaks()
    {
        fixture.port.deaf = true;
        results.clear();
        fixture.engine.beginGroup();
        begin(OperationKind.GET, 1);
        begin(OperationKind.PUT, 2);
        begin(OperationKind.DELETE, 3);
        begin(OperationKind.PUT, 5000);
        fixture.engine.endGroup();
        fixture.port.fail(true);
        assertThat(results).extracting(Result::result).containsExactly(
            OperationResult.NODE_UNAVAILABLE, OperationResult.OUTCOME_UNKNOWN, OperationResult.OUTCOME_UNKNOWN,
            OperationResult.NODE_UNAVAILABLE);
        assertThat(fixture.engine.freeSlots()).isEqualTo(SLOTS);
    }

    @Test
    void shouldPostAnewWhenThePortIsReplacedWithinTheGroup()
    {
        results.clear();
        fixture.engine.beginGroup();
        begin(OperationKind.GET, 1);
        begin(OperationKind.GET, 2);
        fixture.connect();
        begin(OperationKind.GET, 3);
        fixture.engine.endGroup();
        while (results.size() < 3)
        {
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(results).allMatch(result -> ("value" + result.id).equals(result.value));
    }

    @Test
    void shouldKeepOneResultForEachWhenAKeyIsThereTwice()
    {
        results.clear();
        fixture.engine.beginGroup();
        begin(OperationKind.DELETE, 7);
        begin(OperationKind.DELETE, 7);
        fixture.engine.endGroup();
        while (results.size() < 2)
        {
            fixture.nowNs += 100;
            fixture.fabric.step();
            fixture.engine.poll();
        }
        assertThat(results).extracting(Result::result)
            .containsExactlyInAnyOrder(OperationResult.DELETED, OperationResult.NOT_FOUND);
    }
}
