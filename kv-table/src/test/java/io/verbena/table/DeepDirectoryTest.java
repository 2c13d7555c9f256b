package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableSplit;
import org.junit.jupiter.api.Test;

/** Tables of more subtables than an array of them would have room for in a message. */
class DeepDirectoryTest
{
    private static final int DEPTH = 8;
    /** Of the message in which the meta server gets a descriptor. */
    private static final int MOST_BYTES = 3_584;
    private static final long NEW_SUBTABLES_AT = 512 * 1024;

    @Test
    void shouldSplitBeyondDepthEightAndNameTheSubtables()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(DEPTH, 1);
            for (int i = 0; i < 500; i++)
            {
                fixture.put(table, "key" + i, "v" + i);
            }
            final Subtable subtable = table.subtable(0);
            assertThat(table.mayBeSplit(subtable, MOST_BYTES)).isTrue();

            final TableSplit split = fixture.engine.growth().begin(
                table, 0, NEW_SUBTABLES_AT, NEW_SUBTABLES_AT + 4096, Long.MAX_VALUE / 2);
            for (int i = 0; i < 10_000 && !split.isFinished(); i++)
            {
                fixture.engine.poll();
                fixture.fabric.step();
            }
            assertThat(split.state()).isEqualTo(TableSplit.State.DONE);
            final TableGrowth growth = TableGrowth.to(table.descriptor(), table, table.subtable(0));
            assertThat(growth.replaced()).containsExactly(subtable);

            final byte[] bytes = growth.descriptor().encode();
            assertThat(bytes.length).isLessThan(MOST_BYTES);
            final TableDescriptor published = TableDescriptor.decode(bytes);
            assertThat(published.depth()).isEqualTo(DEPTH + 1);
            assertThat(published.distinctSubtables()).isEqualTo((1 << DEPTH) + 1);
            assertThat(DirectoryEntry.subtableOffset(published.entry(1 << DEPTH))).isEqualTo(NEW_SUBTABLES_AT + 4096);
            final OpenTable newcomers = fixture.engine.openTable(published);
            for (int i = 0; i < 500; i++)
            {
                assertThat(fixture.get(newcomers, "key" + i).value()).isEqualTo("v" + i);
            }
        }
    }

    @Test
    void shouldNotSplitWhatNoDescriptorCouldName()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(DEPTH, 1);
            final int bytes = table.descriptor().encode().length;
            assertThat(table.mayBeSplit(table.subtable(0), bytes)).isFalse();
            assertThat(table.mayBeSplit(table.subtable(0), 2 * bytes)).isTrue();
        }
    }
}
