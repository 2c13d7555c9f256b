package io.verbena.table.growth;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
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
    /** Most links between a subtable that a descriptor names and the present one; a bound, which nothing reaches. */
    private static final int MOST_LINKS = 1 << 12;

    /**
     * The splits and merges that led to the two that took the place of a subtable.
     *
     * @param published descriptor at the meta server.
     * @param known     the table as this node knows it.
     * @param old       subtable whose split is complete.
     * @return the descriptor to publish; nothing is replaced if no split of it is known any more, which then is in a
     *     descriptor already.
     */
    public static TableGrowth ofSplit(
        final TableDescriptor published, final OpenTable known, final Subtable old)
    {
        final long link = known.splitOf(old);
        return link == SplitLink.NONE || MergeLink.isLink(link) ? new TableGrowth(published, List.of()) :
            to(published, known, old.child(link, 0));
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
        final int depth = Math.max(published.depth(), subtable.depth());
        final List<List<Subtable>> ways = new ArrayList<>();
        final Set<Subtable> before = new HashSet<>();
        for (int i = 0; i < 1 << depth; i++)
        {
            final List<Subtable> way = way(known, i, published.entry(i & published.subtableCount() - 1), subtable);
            ways.add(way);
            if (subtable.covers(i))
            {
                if (!way.getLast().equals(subtable))
                {
                    return new TableGrowth(published, List.of());
                }
                before.addAll(way.subList(0, way.size() - 1));
            }
        }
        final Set<Subtable> replaced = new LinkedHashSet<>();
        final long[] entries = new long[1 << depth];
        for (int i = 0; i < entries.length; i++)
        {
            final int end = subtable.covers(i) ? ways.get(i).size() - 1 : behindLast(ways.get(i), before);
            final Subtable at = ways.get(i).get(end);
            replaced.addAll(ways.get(i).subList(0, end));
            entries[i] = DirectoryEntry.stable(at.depth(), at.memoryNodeId(), at.offset());
        }
        return new TableGrowth(shallow(published, depth, entries), List.copyOf(replaced));
    }

    /** From an entry's subtable to the one given, or as far as links are known. */
    private static List<Subtable> way(
        final OpenTable known, final int suffix, final long entry, final Subtable to)
    {
        final List<Subtable> way = new ArrayList<>();
        Subtable at = new Subtable(DirectoryEntry.memoryNodeId(entry), suffix & (1 << DirectoryEntry.depth(entry)) - 1,
            DirectoryEntry.depth(entry), DirectoryEntry.subtableOffset(entry));
        way.add(at);
        for (long link = known.splitOf(at); !at.equals(to) && link != SplitLink.NONE && way.size() < MOST_LINKS;
            link = known.splitOf(at))
        {
            at = MergeLink.isLink(link) ? at.merged(link) : at.child(link, suffix >>> at.depth() & 1);
            way.add(at);
        }
        return way;
    }

    /**
     * Keys of others go as far as those of the subtable go together with them, and not on: what became of them since is
     * not known to be complete, or is another publication's.
     */
    private static int behindLast(final List<Subtable> way, final Set<Subtable> before)
    {
        int end = 0;
        for (int i = 0; i < way.size() - 1; i++)
        {
            end = before.contains(way.get(i)) ? i + 1 : end;
        }
        return end;
    }

    /** As deep as its deepest subtable, no deeper. */
    private static TableDescriptor shallow(final TableDescriptor from, final int depth, final long[] entries)
    {
        int deepest = 0;
        for (final long entry : entries)
        {
            deepest = Math.max(deepest, DirectoryEntry.depth(entry));
        }
        return new TableDescriptor(from.name(), from.tableId(), Math.min(depth, deepest),
            from.leastDepth(), from.groupCount(),
            from.hashSeed(), Arrays.copyOf(entries, 1 << Math.min(depth, deepest)));
    }
}
