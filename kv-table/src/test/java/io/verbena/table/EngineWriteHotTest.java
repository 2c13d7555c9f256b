package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a cached location costs that another engine made stale, once and all the time. */
class EngineWriteHotTest
{
    private static final int USES_TO_LEARN = 8;

    private EngineFixture fixture;
    private EngineFixture other;
    private OpenTable table;
    private OpenTable otherTable;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 16);
        other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        other.nextBlocksAt += 1 << 20;
        otherTable = other.engine.openTable(table.descriptor());
        fixture.put(table, "k", "0");
    }

    @AfterEach
    void tearDown()
    {
        other.close();
        fixture.close();
    }

    @Test
    void shouldPayOneMoreRoundTripForAStaleGet()
    {
        assertThat(fixture.get(table, "k").roundTrips()).isEqualTo(1);
        other.put(otherTable, "k", "1");
        final EngineFixture.Outcome stale = fixture.get(table, "k");
        assertThat(stale.value()).isEqualTo("1");
        assertThat(stale.roundTrips()).isEqualTo(2);
        assertThat(fixture.get(table, "k").roundTrips()).isEqualTo(1);
    }

    @Test
    void shouldPayNoMoreForAStaleUpdateThanForNoLocation()
    {
        other.put(otherTable, "k", "1");
        final EngineFixture.Outcome stale = fixture.put(table, "k", "2");
        assertThat(stale.result()).isEqualTo(OperationResult.STORED);
        assertThat(stale.roundTrips()).isEqualTo(3);
        assertThat(other.get(otherTable, "k").value()).isEqualTo("2");
    }

    /** Without what was known they take 1 and 3. */
    @Test
    void shouldPayOneMoreRoundTripThanWithoutALocationWhenTheKeyIsGone()
    {
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        final EngineFixture.Outcome stale = fixture.get(table, "k");
        assertThat(stale.result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(stale.roundTrips()).isEqualTo(2);
        assertThat(fixture.get(table, "k").roundTrips()).isEqualTo(1);

        fixture.put(table, "k", "1");
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        final EngineFixture.Outcome update = fixture.put(table, "k", "2");
        assertThat(update.result()).isEqualTo(OperationResult.STORED);
        assertThat(update.roundTrips()).isEqualTo(4);
        assertThat(other.get(otherTable, "k").value()).isEqualTo("2");
    }

    @Test
    void shouldPassAWriteHotKeyByUntilItCalmsDown()
    {
        for (int i = 0; i < USES_TO_LEARN; i++)
        {
            other.put(otherTable, "k", "hot " + i);
            assertThat(fixture.get(table, "k").value()).isEqualTo("hot " + i);
        }
        assertThat(fixture.engine.counters().cacheBypasses).isPositive();
        other.put(otherTable, "k", "hotter");
        final EngineFixture.Outcome passedBy = fixture.get(table, "k");
        assertThat(passedBy.value()).isEqualTo("hotter");
        assertThat(passedBy.roundTrips()).isEqualTo(2);
        // The slot and the block it names now; no block in vain.
        assertThat(passedBy.verbs()).isEqualTo(2);
        int gets = 0;
        while (fixture.get(table, "k").roundTrips() > 1)
        {
            assertThat(++gets).isLessThan(2 * USES_TO_LEARN);
        }
    }

    @Test
    void shouldFindWhatMovedIntoTheSlotOfAWriteHotKey()
    {
        for (int i = 0; i < USES_TO_LEARN; i++)
        {
            other.put(otherTable, "k", "hot " + i);
            fixture.get(table, "k");
        }
        other.run(OperationKind.DELETE, otherTable, "k", null, 0);
        assertThat(fixture.get(table, "k").result()).isEqualTo(OperationResult.NOT_FOUND);
        assertThat(fixture.put(table, "k", "again").result()).isEqualTo(OperationResult.STORED);
        assertThat(other.get(otherTable, "k").value()).isEqualTo("again");
    }
}
