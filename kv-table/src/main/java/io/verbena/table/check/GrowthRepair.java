package io.verbena.table.check;

import io.verbena.table.TableEngine;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.growth.TableGrowth;
import io.verbena.table.growth.TableMerge;
import io.verbena.table.growth.TableSplit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Ends every split and every merge of a table that has begun, whoever began it, also one that no operation meets any
 * more, in a store that nobody else works on: looks at the header of each subtable that the descriptor names, and of
 * those that links lead to. Driven by {@link #poll}, and by that of its engine, whose splits it begins one after the
 * other. Owner thread of the engine only.
 */
public final class GrowthRepair
{
    private final TableEngine engine;
    private final OpenTable table;
    private final long timeoutNs;
    private final Deque<Integer> suffixes = new ArrayDeque<>();
    private TableSplit split;
    private int suffix;
    private int depthBefore;
    private int finishedCount;
    private TableMerge merge;
    private String failure;

    /**
     * @param engine    with a port to each memory node of the table; splits nothing else meanwhile.
     * @param table     opened by it from the descriptor that is published.
     * @param timeoutNs for each split.
     */
    public GrowthRepair(final TableEngine engine, final OpenTable table, final long timeoutNs)
    {
        this.engine = engine;
        this.table = table;
        this.timeoutNs = timeoutNs;
        table.subtables().forEach((leaf) -> suffixes.add(leaf.suffix()));
    }

    /** @return whether it has ended: every split is complete, unless {@link #failure()} says what is in the way. */
    public boolean isDone()
    {
        return failure != null || suffixes.isEmpty() && split == null && merge == null;
    }

    /** @return why it cannot go on, or null; what was done stays, and harms nobody. */
    public String failure()
    {
        return failure;
    }

    /** @return splits that were not complete, and are now. */
    public int finishedCount()
    {
        return finishedCount;
    }

    /**
     * @return when it has ended without a failure: the descriptor that names the subtables which took the place of
     *     others, and those others, which nobody needs any more.
     */
    public TableGrowth growth()
    {
        TableDescriptor descriptor = table.descriptor();
        final List<Subtable> replaced = new ArrayList<>();
        for (final Subtable leaf : table.subtables())
        {
            final TableGrowth growth = TableGrowth.to(descriptor, table, leaf);
            descriptor = growth.descriptor();
            replaced.addAll(growth.replaced());
        }
        return new TableGrowth(descriptor, replaced);
    }

    /**
     * Goes on.
     *
     * @param nowNs time now.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (isDone() || split != null && !split.isFinished() || merge != null && !merge.isFinished())
        {
            return 0;
        }
        if (merge != null)
        {
            onMerged();
        }
        else if (split != null)
        {
            onFinished(nowNs);
        }
        else
        {
            suffix = suffixes.poll();
            depthBefore = table.directory.depth(suffix);
            split = engine.growth().begin(table, suffix, 0, 0, nowNs + timeoutNs);
        }
        return 1;
    }

    private void onMerged()
    {
        if (merge.state() == TableMerge.State.FAILED && !merge.isWithdrawn())
        {
            failure = merge.failure();
        }
        else
        {
            // What the suffix finds now is whole; it may be split again, or merged further.
            finishedCount += merge.isWithdrawn() ? 0 : 1;
            suffixes.add(suffix);
        }
        merge = null;
    }

    private void onFinished(final long nowNs)
    {
        if (split.isMerged())
        {
            merge = engine.growth().finishMergeAlone(table, suffix, nowNs + timeoutNs);
        }
        else if (split.state() == TableSplit.State.FAILED)
        {
            failure = split.failure();
        }
        else if (table.directory.depth(suffix) > depthBefore)
        {
            finishedCount += split.groupsDone() > 0 ? 1 : 0;
            suffixes.add(suffix);
            suffixes.add(suffix | 1 << depthBefore);
        }
        split = null;
    }

    @Override
    public String toString()
    {
        return "GrowthRepair{left=" + suffixes.size() + " finished=" + finishedCount + " split=" + split +
            (failure == null ? "" : " failure=" + failure) + '}';
    }
}
