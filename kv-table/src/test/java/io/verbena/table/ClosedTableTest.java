package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What an engine still does about a table that was dropped: it ends what is under way, and begins nothing. */
class ClosedTableTest
{
    private static final String LARGE = "v".repeat(16_000);

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable dropped = fixture.createTable(0, 16);
    private final OpenTable kept = fixture.createTable(
        TablePlan.ofShape("kept", 0x4321, 43, 0, 16, new int[]{EngineFixture.NODE}), 256 * 1024);

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    @Test
    void shouldClearTombstonesOfOtherTablesOnly()
    {
        putAndDelete(dropped);
        putAndDelete(kept);
        fixture.put(kept, "next", "v");
        dropped.close();
        fixture.engine.onEpoch(10, 9);

        fixture.run(OperationKind.DELETE, kept, "next", null, 0);

        assertThat(fixture.engine.counters().tombstonesCleared).isOne();
        assertThat(fixture.check(dropped).tentative).isOne();
    }

    @Test
    void shouldNotClearTheTombstoneOfADeleteThatEndsAfterTheTableWasClosed()
    {
        fixture.put(dropped, "k", "v");
        fixture.put(kept, "next", "v");
        fixture.begin(OperationKind.DELETE, dropped, "k", null, 0, fixture.nowNs + 1_000_000);
        dropped.close();
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.DELETED);
        fixture.engine.onEpoch(10, 9);

        fixture.run(OperationKind.DELETE, kept, "next", null, 0);

        assertThat(fixture.engine.counters().tombstonesCleared).isZero();
        assertThat(fixture.check(dropped).tentative).isOne();
    }

    @Test
    void shouldEndAnOperationThatWaitsForMemory()
    {
        fixture.chunksLeft = 1;
        int number = 0;
        EngineFixture.Outcome outcome;
        do
        {
            outcome = fixture.run(OperationKind.PUT, kept, "key" + number++, LARGE, 0, 1_000_000);
        }
        while (outcome.result() == OperationResult.STORED);
        // Its block waits for the epoch, and the next operation for that.
        fixture.run(OperationKind.DELETE, kept, "key0", null, 0);
        fixture.begin(OperationKind.PUT, dropped, "k", LARGE, 0, fixture.nowNs + 1_000_000);
        fixture.engine.poll();
        assertThat(fixture.outcome).as("it waits").isNull();
        dropped.close();
        fixture.engine.poll();

        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.TABLE_CHANGED);
        assertThat(fixture.outcome.verbs()).isZero();
    }

    @Test
    void shouldBeginNothing()
    {
        fixture.put(dropped, "k", "v");
        dropped.close();

        for (final int kind : new int[]{OperationKind.GET, OperationKind.DELETE})
        {
            final EngineFixture.Outcome outcome = fixture.run(kind, dropped, "k", null, 0);
            assertThat(outcome.result()).isEqualTo(OperationResult.TABLE_CHANGED);
            assertThat(outcome.verbs()).isZero();
        }
    }

    @Test
    void shouldLeaveTheOutcomeOfARepetitionUnknown()
    {
        fixture.put(dropped, "k", "v");
        fixture.begin(OperationKind.PUT, dropped, "k", "w", 0, fixture.nowNs + 1_000_000);
        fixture.port.fail(true);
        fixture.connect();
        assertThat(fixture.outcome.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        dropped.close();

        fixture.engine.repeatNext(fixture.lastSequence);
        final EngineFixture.Outcome repeated = fixture.put(dropped, "k", "w");

        assertThat(repeated.result()).isEqualTo(OperationResult.OUTCOME_UNKNOWN);
        assertThat(repeated.verbs()).isZero();
    }

    private void putAndDelete(final OpenTable table)
    {
        fixture.put(table, "k", "v");
        fixture.run(OperationKind.DELETE, table, "k", null, 0);
    }
}
