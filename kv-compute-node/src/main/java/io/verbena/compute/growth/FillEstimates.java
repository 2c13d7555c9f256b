package io.verbena.compute.growth;

import io.verbena.compute.figures.TableFill;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BucketDescriptor;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * How full tables are, by what looks at some of their groups have found: the latest looks count, older ones half as
 * much for each window that has passed since. Owned by the node's thread.
 */
final class FillEstimates
{
    /** Slots of a window: the estimate is within 2 percentage points of what was there, 19 times of 20. */
    static final int WINDOW_SLOTS = 4_096;

    /** What the looks at a table have found. */
    private static final class Seen
    {
        private double records;
        private double slots;
    }

    private final Map<OpenTable, Seen> seen = new IdentityHashMap<>();

    /**
     * Notes a look.
     *
     * @param table   that was looked at.
     * @param records found.
     * @param slots   where they were; 0: the look has seen nothing.
     */
    void add(final OpenTable table, final int records, final int slots)
    {
        if (slots > 0)
        {
            final Seen of = seen.computeIfAbsent(table, (_) -> new Seen());
            final long all = (long)table.subtableCount() * table.groupCount * BucketDescriptor.SLOTS_PER_GROUP;
            if (of.slots >= Math.min(WINDOW_SLOTS, all))
            {
                of.records /= 2;
                of.slots /= 2;
            }
            of.records += records;
            of.slots += slots;
        }
    }

    /**
     * Forgets tables that are not open any more.
     *
     * @param open tables.
     * @return those of them that were looked at.
     */
    List<TableFill> of(final List<OpenTable> open)
    {
        final List<TableFill> fills = new ArrayList<>();
        final Map<OpenTable, Seen> kept = new IdentityHashMap<>();
        for (final OpenTable table : open)
        {
            final Seen of = seen.get(table);
            if (null != of)
            {
                kept.put(table, of);
                fills.add(new TableFill(table.descriptor().name(), table.subtableCount(), of.records / of.slots));
            }
        }
        seen.keySet().retainAll(kept.keySet());
        return fills;
    }
}
