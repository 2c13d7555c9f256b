package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How fast a table took operations for a while.
 *
 * @param table          which one: growing, created large, or of a cluster.
 * @param elapsedS       seconds since the first insert, at the end of the while.
 * @param records        in the table then.
 * @param subtables      of the table then.
 * @param operationsPerS that ended in the while: inserts, reads or deletes of the run, whatever it did then.
 */
public record GrowthSample(String table, double elapsedS, long records, int subtables, double operationsPerS)
{
    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("table", table);
        fields.put("elapsed_s", elapsedS);
        fields.put("records_count", records);
        fields.put("subtables_count", subtables);
        fields.put("operations_per_s", operationsPerS);
        return fields;
    }
}
