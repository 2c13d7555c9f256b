package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a number of nodes that update the same keys reach.
 *
 * @param nodes               compute nodes.
 * @param isControlled        whether writers are combined, pause after losses and are limited by a credit.
 * @param updates             updates that ended while it was measured.
 * @param updatesPerSecond    of all nodes, of virtual time.
 * @param swapsPerUpdate      compare-and-swaps that tried to decide an update, for each update.
 * @param combinedShare       part of the updates that went with another one's compare-and-swap.
 */
public record ContentionRow(
    int nodes, boolean isControlled, long updates, double updatesPerSecond, double swapsPerUpdate, double combinedShare)
{
    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("nodes_count", nodes);
        fields.put("controlled", isControlled);
        fields.put("updates_count", updates);
        fields.put("updates_per_second", updatesPerSecond);
        fields.put("swaps_per_update", swapsPerUpdate);
        fields.put("combined_share", combinedShare);
        return fields;
    }
}
