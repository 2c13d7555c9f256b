package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.directory.Subtable;
import io.verbena.table.directory.TableDirectory;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.MergeLink;
import io.verbena.table.format.SplitLink;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** The subtables that the descriptor of a run's table names, and memory for others. */
final class PublishedSubtables
{
    /** Offsets of memory for subtables. */
    final Deque<Long> free = new ArrayDeque<>();
    /** Of the descriptor. */
    long version;
    private final TablePlan plan;
    private final long hashSeed;
    private final long firstOffset;
    private final TableDirectory catalog;
    /** Offset and epoch of subtables that are not needed any more. */
    private final List<long[]> retired = new ArrayList<>();

    PublishedSubtables(
        final TablePlan plan, final long hashSeed, final long firstOffset, final long freeOffset, final int count)
    {
        this.plan = plan;
        this.hashSeed = hashSeed;
        this.firstOffset = firstOffset;
        catalog = new TableDirectory(plan.descriptor());
        for (int i = 0; i < count; i++)
        {
            free.add(freeOffset + i * plan.subtableBytes());
        }
    }

    void retire(final long offset, final long epoch)
    {
        retired.add(new long[]{offset, epoch});
    }

    /** The first one has no memory that another one may have. */
    void reuse(final long safeEpoch)
    {
        retired.removeIf(one ->
        {
            final boolean isReusable = safeEpoch >= one[1] + EpochTracker.REUSE_DISTANCE;
            return isReusable && (one[0] == firstOffset || free.add(one[0]));
        });
    }

    /** Some node publishes what is complete, which retires the subtables that are not named then. */
    void publish(final LongUnaryOperator primary, final long epoch)
    {
        for (int entry = 0; entry < 1 << catalog.depth(); entry++)
        {
            final long groups = catalog.groupsOffset(entry);
            final long subtable = groups - SubtableDescriptor.GROUPS_OFFSET;
            final long link = MergeLink.linkOf(primary.applyAsLong(subtable + SubtableDescriptor.SPLIT_OFFSET));
            final int depth = catalog.depth(entry);
            if (MergeLink.isLink(link))
            {
                publishMerge(primary, epoch, catalog.suffix(entry), depth, subtable, link);
            }
            else if (SplitLink.isComplete(link) && catalog.learn(
                catalog.suffix(entry), depth, groups, link, TableDirectory.Superseded.NONE))
            {
                version++;
                retire(subtable, epoch);
            }
        }
    }

    /** Only when the sibling stands in the descriptor as well: so none of those between is forgotten. */
    private void publishMerge(
        final LongUnaryOperator primary,
        final long epoch,
        final int suffix,
        final int depth,
        final long subtable,
        final long link)
    {
        final int sibling = suffix ^ 1 << depth - 1;
        if (primary.applyAsLong(MergeLink.merged(link) + SubtableDescriptor.PREDECESSOR_OFFSET) == 0 &&
            catalog.depth(sibling) == depth &&
            catalog.groupsOffset(sibling) == MergeLink.sibling(link) + SubtableDescriptor.GROUPS_OFFSET &&
            catalog.learn(suffix, depth, subtable + SubtableDescriptor.GROUPS_OFFSET, link,
                TableDirectory.Superseded.NONE))
        {
            version++;
            retire(subtable, epoch);
            retire(MergeLink.sibling(link), epoch);
        }
    }

    /** Words that stand in the place of proposals that were taken back. */
    long countWithdrawn(final LongUnaryOperator primary)
    {
        return Subtable.of(descriptor()).stream().filter(subtable ->
            MergeLink.isWithdrawn(primary.applyAsLong(subtable.offset() + SubtableDescriptor.SPLIT_OFFSET))).count();
    }

    TableDescriptor descriptor()
    {
        final TableDescriptor first = plan.descriptor();
        return new TableDescriptor(
            first.name(), first.tableId(), catalog.depth(), 1, hashSeed, catalog.entries(first));
    }
}
