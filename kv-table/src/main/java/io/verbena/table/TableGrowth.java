package io.verbena.table;

import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A table's descriptor after splits and merges that are complete.
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
            goesOn = entryDepth < depth && link != SplitLink.NONE && !MergeLink.isLink(link);
            if (goesOn)
            {
                descriptor = split(descriptor, subtable, link);
                replaced.add(subtable);
            }
        }
        return new TableGrowth(descriptor, replaced);
    }

    /**
     * Follows the splits and merges that led to a subtable.
     *
     * @param published descriptor at the meta server.
     * @param known     the table as this node knows it.
     * @param subtable  whose words have all come, and so have those of all that led there.
     * @return the descriptor to publish; nothing is replaced if it names that one already, or goes another way.
     */
    public static TableGrowth to(
        final TableDescriptor published, final OpenTable known, final Subtable subtable)
    {
        final Set<Subtable> replaced = new LinkedHashSet<>();
        final int depth = Math.max(published.depth(), subtable.depth());
        final long[] entries = new long[1 << depth];
        boolean leadsThere = true;
        for (int i = 0; i < entries.length; i++)
        {
            final Subtable at =
                follow(known, i, published.entry(i & published.subtableCount() - 1), subtable, replaced);
            leadsThere &= at.equals(subtable) || !subtable.covers(i);
            entries[i] = DirectoryEntry.stable(at.depth(), at.memoryNodeId(), at.offset());
        }
        return leadsThere ? new TableGrowth(shallow(published, depth, entries), List.copyOf(replaced)) :
            new TableGrowth(published, List.of());
    }

    /**
     * Follows links from an entry's subtable to the one given, or, where the entry is none of its own, as long as there
     * are keys of that one.
     */
    private static Subtable follow(
        final OpenTable known, final int suffix, final long entry, final Subtable to, final Set<Subtable> passed)
    {
        Subtable at = new Subtable(DirectoryEntry.memoryNodeId(entry), suffix & (1 << DirectoryEntry.depth(entry)) - 1,
            DirectoryEntry.depth(entry), DirectoryEntry.subtableOffset(entry));
        long link = known.splitOf(at);
        while (!at.equals(to) && link != SplitLink.NONE && (to.covers(suffix) || to.isWithin(at)))
        {
            passed.add(at);
            at = MergeLink.isLink(link) ? at.merged(link) : at.child(link, suffix >>> at.depth() & 1);
            link = known.splitOf(at);
        }
        return at;
    }

    /** As deep as its deepest subtable, no deeper. */
    private static TableDescriptor shallow(final TableDescriptor from, final int depth, final long[] entries)
    {
        int deepest = 0;
        for (final long entry : entries)
        {
            deepest = Math.max(deepest, DirectoryEntry.depth(entry));
        }
        return new TableDescriptor(from.name(), from.tableId(), Math.min(depth, deepest), from.groupCount(),
            from.hashSeed(), Arrays.copyOf(entries, 1 << Math.min(depth, deepest)));
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
