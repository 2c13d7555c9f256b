package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a merge costs those who meet it, in round trips. */
class MergeBudgetTest
{
    private static final int GROUPS = 16;
    private static final long NEW_SUBTABLES_AT = 512 * 1024;

    private EngineFixture fixture;
    private EngineFixture merger;
    private OpenTable table;
    private OpenTable mergersTable;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, GROUPS);
        merger = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        merger.nextBlocksAt += 1 << 20;
        mergersTable = merger.engine.openTable(table.descriptor());
        final long bytes = SubtableDescriptor.lengthBytes(GROUPS);
        final TableSplit split = merger.engine.growth().begin(
            mergersTable, 0, NEW_SUBTABLES_AT, NEW_SUBTABLES_AT + bytes, Long.MAX_VALUE / 2);
        for (int i = 0; i < 100_000 && !split.isFinished(); i++)
        {
            merger.engine.poll();
            merger.fabric.step();
        }
        fixture.put(table, "k", "v");
        assertThat(table.subtableCount()).isEqualTo(2);
    }

    @AfterEach
    void tearDown()
    {
        merger.close();
        fixture.close();
    }

    /** Until the merge is decided, or whole. */
    private void merge(final boolean isWhole)
    {
        final TableMerge merge = merger.engine.growth().beginMerge(
            mergersTable, 0, NEW_SUBTABLES_AT + 8 * SubtableDescriptor.lengthBytes(GROUPS), Long.MAX_VALUE / 2);
        for (int i = 0; i < 100_000 && !merge.isFinished() && (isWhole || mergersTable.subtableCount() > 1); i++)
        {
            merger.engine.poll();
            merger.fabric.step();
        }
        assertThat(mergersTable.subtableCount()).as("%s", merge).isOne();
    }

    private void coldCache()
    {
        fixture.engine.onEpoch(fixture.engine.passedEpoch() + 3, 0);
        fixture.engine.epochs().forgetLocations();
    }

    private int roundTrips(final int kind, final String key)
    {
        return fixture.run(kind, table, key, OperationKind.isRead(kind) ? null : "w", 0).roundTrips();
    }

    @Test
    void shouldTakeOneMoreRoundTripForGetWithOldDirectory()
    {
        coldCache();
        merge(true);
        assertThat(roundTrips(OperationKind.GET, "k")).isEqualTo(3);
        assertThat(roundTrips(OperationKind.GET, "absent")).isEqualTo(1);
    }

    @Test
    void shouldTakeOneMoreRoundTripForGetWhoseGroupIsNotMerged()
    {
        coldCache();
        merge(false);
        table.learn(0, 1, table.directory.groupsOffset(0), mergersTable.directory.splitLink(0));
        assertThat(table.subtableCount()).isOne();
        assertThat(roundTrips(OperationKind.GET, "k")).isEqualTo(3);
    }

    /** Once for each of the two groups where the key may be. */
    @Test
    void shouldCompleteGroupsOnceForAPut()
    {
        coldCache();
        merge(false);
        table.learn(0, 1, table.directory.groupsOffset(0), mergersTable.directory.splitLink(0));
        final int first = roundTrips(OperationKind.PUT, "absent");
        System.out.println("PUT that completes its groups: " + first + " round trips");
        assertThat(first).isLessThanOrEqualTo(16);
        assertThat(roundTrips(OperationKind.PUT, "absent")).isLessThanOrEqualTo(3);
        assertThat(table.pairsHelped()).isLessThanOrEqualTo(2);
    }
}
