package io.verbena.table;

import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The round-trip budget, counted at the port and by the engine, which must agree. */
class RoundTripBudgetTest
{
    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 64);
        fixture.put(table, "warm", "memory is leased");
    }

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private EngineFixture.Outcome measure(
        final int kind, final String key, final String value, final long version, final String expectedVerbs)
    {
        final VerbCounters before = new VerbCounters().add(fixture.port.counters);
        final EngineFixture.Outcome outcome = kind == OperationKind.INCREMENT ?
            fixture.increment(table, key, 3) : fixture.run(kind, table, key, value, version);
        final VerbCounters after = fixture.port.counters;
        final String verbs = "r" + (after.reads - before.reads) + " w" + (after.writes - before.writes) + " c" +
            (after.compareSwaps - before.compareSwaps) + " d" + (after.doorbells - before.doorbells);
        assertThat(verbs).as(OperationKind.name(kind)).isEqualTo(expectedVerbs);
        assertThat(outcome.doorbells()).isEqualTo((int)(after.doorbells - before.doorbells));
        assertThat(outcome.roundTrips()).isEqualTo(outcome.doorbells());
        assertThat(outcome.verbs()).isEqualTo((int)(after.verbs() - before.verbs()));
        return outcome;
    }

    private void coldCache()
    {
        // Two epochs on, no cached location may be used.
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    @Test
    void shouldTakeOneRoundTripForCachedGet()
    {
        fixture.put(table, "k", "v");
        assertThat(measure(OperationKind.GET, "k", null, 0, "r2 w0 c0 d1").value()).isEqualTo("v");
    }

    @Test
    void shouldTakeTwoRoundTripsForColdGet()
    {
        fixture.put(table, "k", "v");
        coldCache();
        assertThat(measure(OperationKind.GET, "k", null, 0, "r3 w0 c0 d2").value()).isEqualTo("v");
    }

    private void passEpochs()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
    }

    @Test
    void shouldTakeOneRoundTripForGetWhoseLocationWasSeenSomeEpochsAgo()
    {
        fixture.put(table, "k", "v");
        passEpochs();
        assertThat(measure(OperationKind.GET, "k", null, 0, "r2 w0 c0 d1").value()).isEqualTo("v");
    }

    @Test
    void shouldTakeTwoRoundTripsForUpdateWhoseLocationWasSeenSomeEpochsAgo()
    {
        fixture.put(table, "k", "v");
        passEpochs();
        measure(OperationKind.PUT, "k", "w", 0, "r2 w1 c1 d2");
        assertThat(measure(OperationKind.GET, "k", null, 0, "r2 w0 c0 d1").value()).isEqualTo("w");
        passEpochs();
        measure(OperationKind.DELETE, "k", null, 0, "r2 w0 c1 d2");
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldFindWhatAnotherEngineStoredWhereAKeyWasSomeEpochsAgo()
    {
        final EngineFixture other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        other.nextBlocksAt += 1 << 20;
        final OpenTable otherTable = other.engine.openTable(table.descriptor());
        fixture.put(table, "k", "old");
        other.put(otherTable, "k", "new");
        passEpochs();
        assertThat(measure(OperationKind.GET, "k", null, 0, "r3 w0 c0 d2").value()).isEqualTo("new");
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        passEpochs();
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        other.close();
    }

    @Test
    void shouldTakeTwoRoundTripsForCachedButStaleGet()
    {
        final EngineFixture other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        other.nextBlocksAt += 1 << 20;
        fixture.put(table, "k", "old");
        other.put(other.engine.openTable(table.descriptor()), "k", "new");
        assertThat(measure(OperationKind.GET, "k", null, 0, "r3 w0 c0 d2").value()).isEqualTo("new");
        other.close();
    }

    @Test
    void shouldTakeOneRoundTripForAbsentGet()
    {
        assertThat(measure(OperationKind.GET, "absent", null, 0, "r2 w0 c0 d1").result())
            .isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldTakeOneRoundTripForCachedUpdate()
    {
        fixture.put(table, "k", "v");
        measure(OperationKind.PUT, "k", "w", 0, "r0 w1 c1 d1");
        assertThat(fixture.get(table, "k").value()).isEqualTo("w");
    }

    @Test
    void shouldTakeThreeRoundTripsForColdUpdate()
    {
        fixture.put(table, "k", "v");
        coldCache();
        measure(OperationKind.PUT, "k", "w", 0, "r3 w1 c1 d3");
        assertThat(fixture.get(table, "k").value()).isEqualTo("w");
    }

    @Test
    void shouldTakeThreeRoundTripsForInsert()
    {
        measure(OperationKind.PUT, "k", "v", 0, "r4 w1 c2 d3");
    }

    @Test
    void shouldTakeThreeRoundTripsForPutIfAbsent()
    {
        assertThat(measure(OperationKind.PUT_IF_ABSENT, "k", "v", 0, "r4 w1 c2 d3").result())
            .isEqualTo(OperationResult.STORED);
        assertThat(measure(OperationKind.PUT_IF_ABSENT, "k", "w", 0, "r2 w0 c0 d1").result())
            .isEqualTo(OperationResult.EXISTS);
        coldCache();
        assertThat(measure(OperationKind.PUT_IF_ABSENT, "k", "w", 0, "r3 w0 c0 d2").result())
            .isEqualTo(OperationResult.EXISTS);
    }

    @Test
    void shouldTakeOneRoundTripForCachedDelete()
    {
        fixture.put(table, "k", "v");
        assertThat(measure(OperationKind.DELETE, "k", null, 0, "r0 w0 c1 d1").result())
            .isEqualTo(OperationResult.DELETED);
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldTakeThreeRoundTripsForColdDelete()
    {
        fixture.put(table, "k", "v");
        coldCache();
        assertThat(measure(OperationKind.DELETE, "k", null, 0, "r3 w0 c1 d3").result())
            .isEqualTo(OperationResult.DELETED);
        assertThat(measure(OperationKind.DELETE, "k", null, 0, "r2 w0 c0 d1").result())
            .isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldTakeOneRoundTripForCachedReplaceByVersion()
    {
        final long version = fixture.put(table, "k", "v").version();
        final EngineFixture.Outcome replaced = measure(OperationKind.REPLACE, "k", "w", version, "r0 w1 c1 d1");
        assertThat(replaced.result()).isEqualTo(OperationResult.STORED);
        assertThat(replaced.version()).isGreaterThan(version);
        // A mismatch is told by a look, never by the cache.
        final EngineFixture.Outcome refused = measure(OperationKind.REPLACE, "k", "x", version, "r3 w0 c0 d2");
        assertThat(refused.result()).isEqualTo(OperationResult.VERSION_MISMATCH);
        assertThat(refused.version()).isEqualTo(replaced.version());
    }

    @Test
    void shouldTakeThreeRoundTripsForColdReplaceByVersion()
    {
        final long version = fixture.put(table, "k", "v").version();
        coldCache();
        assertThat(measure(OperationKind.REPLACE, "k", "w", version, "r3 w1 c1 d3").result())
            .isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldTakeOneRoundTripForCachedDeleteByVersion()
    {
        final long version = fixture.put(table, "k", "v").version();
        assertThat(measure(OperationKind.DELETE_VERSION, "k", null, version, "r0 w0 c1 d1").result())
            .isEqualTo(OperationResult.DELETED);
    }

    @Test
    void shouldTakeOneRoundTripForCachedPutIfPresent()
    {
        fixture.put(table, "k", "v");
        assertThat(measure(OperationKind.PUT_IF_PRESENT, "k", "w", 0, "r0 w1 c1 d1").result())
            .isEqualTo(OperationResult.STORED);
        coldCache();
        measure(OperationKind.PUT_IF_PRESENT, "k", "x", 0, "r3 w1 c1 d3");
        assertThat(measure(OperationKind.PUT_IF_PRESENT, "absent", "x", 0, "r2 w0 c0 d1").result())
            .isEqualTo(OperationResult.NOT_FOUND);
    }

    @Test
    void shouldTakeOneRoundTripForIncrementWhenTheValueIsCached()
    {
        assertThat(measure(OperationKind.INCREMENT, "n", null, 0, "r4 w1 c2 d3").counter()).isEqualTo(3);
        assertThat(measure(OperationKind.INCREMENT, "n", null, 0, "r0 w1 c1 d1").counter()).isEqualTo(6);
        coldCache();
        assertThat(measure(OperationKind.INCREMENT, "n", null, 0, "r3 w1 c1 d3").counter()).isEqualTo(9);
        coldCache();
        fixture.get(table, "n");
        // Whoever has read a value of 8 bytes knows the counter.
        assertThat(measure(OperationKind.INCREMENT, "n", null, 0, "r0 w1 c1 d1").counter()).isEqualTo(12);
    }

    @Test
    void shouldTakeTwoRoundTripsForCachedAppendAndThreeForOthers()
    {
        measure(OperationKind.APPEND, "a", "one", 0, "r4 w1 c2 d3");
        measure(OperationKind.APPEND, "a", "two", 0, "r2 w1 c1 d2");
        coldCache();
        measure(OperationKind.APPEND, "a", "three", 0, "r3 w1 c1 d3");
        assertThat(fixture.get(table, "a").value()).isEqualTo("onetwothree");
    }

    @Test
    void shouldTakeOneRoundTripForCachedExists()
    {
        fixture.put(table, "k", "v");
        assertThat(measure(OperationKind.EXISTS, "k", null, 0, "r2 w0 c0 d1").result())
            .isEqualTo(OperationResult.FOUND);
    }

    @Test
    void shouldCountTheFenceAsRoundTripWhereTheDeviceNeedsOne()
    {
        final StepFabric fabric = new StepFabric(3);
        fabric.readsOvertakeAtomics = true;
        fabric.addMemory(EngineFixture.NODE, EngineFixture.MEMORY_BYTES);
        fabric.addMemory(EngineFixture.OTHER_NODE, EngineFixture.MEMORY_BYTES);
        try (EngineFixture fencing = new EngineFixture(fabric, settings -> { }))
        {
            final OpenTable fenced = fencing.createTable(0, 64);
            final EngineFixture.Outcome outcome = fencing.put(fenced, "k", "v");
            assertThat(outcome.doorbells()).isEqualTo(3);
            assertThat(outcome.roundTrips()).isEqualTo(4);
        }
    }
}
