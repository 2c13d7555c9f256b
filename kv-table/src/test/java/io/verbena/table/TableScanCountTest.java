package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import io.verbena.table.scan.TableScan;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a walk that counts words tells of a subtable that another engine splits, or merges, and stands still in. */
class TableScanCountTest
{
    private static final int GROUPS = 4;
    private static final int KEYS = 16;
    private static final long NEW_SUBTABLES_AT = 512 * 1024;
    private static final int MAX_STEPS = 100_000;
    /** Fewer than a group takes, so that each is met unfrozen, half frozen, half placed and complete. */
    private static final int STRIDE = 11;

    private EngineFixture fixture;
    private EngineFixture other;
    private OpenTable table;
    private OpenTable othersTable;
    private TableDescriptor published;
    private TableSplit split;
    private TableMerge merge;
    private long splits;
    private long records;

    @BeforeEach
    void setUp()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, GROUPS);
        published = table.descriptor();
        other = new EngineFixture(fixture.fabric, settings -> settings.writerNumber(2));
        other.nextBlocksAt += 1 << 20;
        othersTable = other.engine.openTable(table.descriptor());
        for (int i = 0; i < KEYS; i++)
        {
            fixture.put(table, "key-" + i, "v");
        }
        final long bytes = SubtableDescriptor.lengthBytes(GROUPS);
        split = other.engine.growth().begin(
            othersTable, 0, NEW_SUBTABLES_AT, NEW_SUBTABLES_AT + bytes, Long.MAX_VALUE / 2);
    }

    @AfterEach
    void tearDown()
    {
        other.close();
        fixture.close();
    }

    private void step()
    {
        other.engine.poll();
        other.fabric.step();
    }

    private void finishSplit()
    {
        for (int i = 0; i < MAX_STEPS && !split.isFinished(); i++)
        {
            step();
        }
        assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
    }

    /** Both engines know what the other one has made as if a descriptor had told them. */
    private void publish()
    {
        published = TableGrowth.to(published, othersTable, othersTable.subtable(0)).descriptor();
        othersTable.refresh(published);
        table.refresh(published);
    }

    private void decideMerge()
    {
        merge = other.engine.growth().beginMerge(
            othersTable, 0, NEW_SUBTABLES_AT + 8 * SubtableDescriptor.lengthBytes(GROUPS), Long.MAX_VALUE / 2);
        for (int i = 0; i < MAX_STEPS && othersTable.subtableCount() > 1; i++)
        {
            step();
        }
        table.learn(0, 1, table.directory.groupsOffset(0), othersTable.directory.splitLink(0));
        assertThat(table.subtableCount()).isOne();
    }

    private void count()
    {
        final TableScan scan = fixture.engine.scan();
        splits = 0;
        records = 0;
        for (long from = 0; from != TableScan.END; from = scan.position())
        {
            scan.begin(table, from, fixture.nowNs + 1_000_000_000L, null);
            for (int i = 0; scan.isBusy(); i++)
            {
                fixture.engine.poll();
                fixture.fabric.step();
                assertThat(i).isLessThan(MAX_STEPS);
            }
            splits += scan.splitCount();
            records += scan.recordCount();
        }
    }

    private void shouldCount(final int expected, final int steps)
    {
        count();
        assertThat(splits).as("under way after %d steps", steps).isEqualTo(expected);
        assertThat(records).as("after %d steps", steps).isEqualTo(KEYS);
    }

    @Test
    void shouldCountASplitUntilItIsPublished()
    {
        shouldCount(0, 0);
        finishSplit();
        shouldCount(1, MAX_STEPS);
        publish();
        shouldCount(0, MAX_STEPS);
    }

    /** However far it has come, since the walk completes what is left of it: once, also where that begins half way. */
    @Test
    void shouldCountAMergeUntilItIsPublished()
    {
        boolean isFinished = false;
        for (int steps = 0; !isFinished; steps += STRIDE)
        {
            finishSplit();
            publish();
            shouldCount(0, steps);
            decideMerge();
            for (int i = 0; i < steps; i++)
            {
                step();
            }
            isFinished = merge.isFinished();
            shouldCount(1, steps);
            publish();
            shouldCount(0, steps);
            tearDown();
            setUp();
        }
    }
}
