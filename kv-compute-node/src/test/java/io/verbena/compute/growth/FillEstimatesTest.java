package io.verbena.compute.growth;

import io.verbena.compute.MemoryRig;
import io.verbena.compute.figures.TableFill;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class FillEstimatesTest
{
    private final MemoryRig rig = new MemoryRig();
    private final FillEstimates fills = new FillEstimates();
    private final OpenTable table = open("users", 1);

    private OpenTable open(final String name, final int tableId)
    {
        final TablePlan plan = TablePlan.forRecords(
            name, tableId, 1, 100, new int[]{MemoryRig.MEMORY_NODE}, MemoryRig.CHUNK_BYTES);
        plan.place(MemoryRig.MEMORY_NODE, MemoryRig.offset(tableId - 1));
        return rig.engine.openTable(plan.descriptor());
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    private double fill()
    {
        return fills.of(List.of(table)).getFirst().fill();
    }

    @Test
    void shouldKnowNothingOfATableThatNobodyHasSeen()
    {
        fills.add(table, 0, 0);
        assertThat(fills.of(List.of(table))).isEmpty();
    }

    @Test
    void shouldAddLooksUpUntilAllSlotsWereSeen()
    {
        fills.add(table, 1, 10);
        fills.add(table, 4, 10);
        assertThat(fills.of(List.of(table))).containsExactly(new TableFill("users", 1, 0.25));
    }

    /** All of a table, or a window of a larger one, and then all of it again when it has more records. */
    @Test
    void shouldFollowWhatChanges()
    {
        final int all = table.groupCount * BucketDescriptor.SLOTS_PER_GROUP;
        assertThat(all).isLessThan(FillEstimates.WINDOW_SLOTS);
        fills.add(table, 0, all);
        fills.add(table, all, all);
        assertThat(fill()).isCloseTo(2.0 / 3, Offset.offset(1e-9));
        for (int i = 0; i < 10; i++)
        {
            fills.add(table, all, all);
        }
        assertThat(fill()).isBetween(0.998, 1.0);
    }

    @Test
    void shouldForgetTablesThatAreNotOpenAnyMore()
    {
        final OpenTable other = open("items", 2);
        fills.add(table, 1, 2);
        fills.add(other, 1, 4);
        assertThat(fills.of(List.of(table, other))).extracting(TableFill::table).containsExactly("users", "items");
        assertThat(fills.of(List.of(other))).extracting(TableFill::fill).containsExactly(0.25);
        assertThat(fills.of(List.of(table, other))).extracting(TableFill::table).containsExactly("items");
    }
}
