package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an engine has learned of a table, and the descriptors that it takes over. */
class OpenTableTest
{
    private static final int NODE = EngineFixture.NODE;
    private static final long FIRST = 512 * 1024;
    private static final long SECOND = FIRST + 4096;
    private static final long MERGED = SECOND + 4096;

    private final EngineFixture fixture = EngineFixture.single();
    private final OpenTable table = fixture.createTable(0, 1);

    @AfterEach
    void tearDown()
    {
        fixture.close();
    }

    private TableDescriptor of(final int depth, final long... entries)
    {
        final TableDescriptor made = table.descriptor();
        return new TableDescriptor(
            made.name(), made.tableId(), depth, 0, made.groupCount(), made.hashSeed(), entries);
    }

    private void learn(final Subtable subtable, final long link)
    {
        table.learn(subtable.suffix(), subtable.depth(), subtable.offset() + SubtableDescriptor.GROUPS_OFFSET, link);
    }

    /**
     * A split is published when the engine knows of a merge behind it, so that what is published is no news. Then the
     * memory of the subtable that was split is used again, for the same keys at the same depth.
     */
    @Test
    void shouldForgetTheSplitOfASubtableWhoseMemoryIsASubtableAgain()
    {
        final Subtable old = table.subtable(0);
        learn(old, SplitLink.of(FIRST, SECOND));
        learn(table.subtable(0), MergeLink.of(MERGED, SECOND));
        assertThat(table.subtable(0).offset()).isEqualTo(MERGED);

        table.refresh(of(1, DirectoryEntry.stable(1, NODE, FIRST), DirectoryEntry.stable(1, NODE, SECOND)));
        assertThat(table.subtable(0).offset()).as("known to be merged").isEqualTo(MERGED);
        table.refresh(of(0, DirectoryEntry.stable(0, NODE, old.offset())));

        assertThat(table.subtable(0)).isEqualTo(old);
        assertThat(table.splitOf(old)).isEqualTo(SplitLink.NONE);
    }
}
