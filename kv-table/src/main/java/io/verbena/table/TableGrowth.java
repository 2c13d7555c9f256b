package io.verbena.table;

import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayList;
import java.util.List;

/**
 * A table's descriptor after splits that are complete.
 *
 * @param descriptor names those that took the place of the replaced ones.
 * @param replaced   subtables that it does not name any more; none: nothing has changed.
 */
public record TableGrowth(TableDescriptor descriptor, List<Subtable> replaced)
{
    /**
     * Follows the splits that led to a subtable.
     *
     * @param published descriptor at the meta server.
     * @param known     the table as this node knows it.
     * @param suffix    directory bits of a key in the subtable.
     * @param depth     of subtables whose words have all come: all splits up to there are complete.
     * @return the descriptor to publish.
     */
    public static TableGrowth of(
        final TableDescriptor published, final OpenTable known, final int suffix, final int depth)
    {
        final List<Subtable> replaced = new ArrayList<>();
        TableDescriptor descriptor = published;
        boolean goesOn = true;
        while (goesOn)
        {
            final long entry = descriptor.entry(suffix & descriptor.subtableCount() - 1);
            final int entryDepth = DirectoryEntry.depth(entry);
            final Subtable subtable = new Subtable(DirectoryEntry.memoryNodeId(entry), suffix & (1 << entryDepth) - 1,
                entryDepth, DirectoryEntry.subtableOffset(entry));
            final long link = known.splitOf(subtable);
            goesOn = entryDepth < depth && link != SplitLink.NONE;
            if (goesOn)
            {
                descriptor = split(descriptor, subtable, link);
                replaced.add(subtable);
            }
        }
        return new TableGrowth(descriptor, replaced);
    }

    private static TableDescriptor split(final TableDescriptor from, final Subtable subtable, final long link)
    {
        final int depth = Math.max(from.depth(), subtable.depth() + 1);
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            final Subtable child = subtable.child(link, i >>> subtable.depth() & 1);
            entries[i] = (i & (1 << subtable.depth()) - 1) != subtable.suffix() ?
                from.entry(i & from.subtableCount() - 1) :
                DirectoryEntry.stable(child.depth(), child.memoryNodeId(), child.offset());
        }
        return new TableDescriptor(
            from.name(), from.tableId(), depth, from.groupCount(), from.hashSeed(), entries);
    }
}
