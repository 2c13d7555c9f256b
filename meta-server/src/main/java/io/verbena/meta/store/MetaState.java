package io.verbena.meta.store;

import java.util.List;

/**
 * Everything a store holds, as read at start.
 *
 * @param counters null when the store is new.
 * @param nodes    every registration not forgotten, by ascending id.
 * @param tables   every table, by name.
 */
public record MetaState(MetaCounters counters, List<StoredNode> nodes, List<StoredTable> tables)
{
    /** @return whether nothing was ever written. */
    public boolean isNew()
    {
        return null == counters;
    }
}
