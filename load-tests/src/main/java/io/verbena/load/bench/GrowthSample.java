package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How fast records came into a table for a while.
 *
 * @param table      which one: growing, or created large.
 * @param elapsedS   seconds since the first insert, at the end of the while.
 * @param records    in the table then.
 * @param subtables  of the table then.
 * @param insertsPerS in the while.
 */
public record GrowthSample(String table, double elapsedS, long records, int subtables, double insertsPerS)
{
    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("table", table);
        fields.put("elapsed_s", elapsedS);
        fields.put("records_count", records);
        fields.put("subtables_count", subtables);
        fields.put("inserts_per_s", insertsPerS);
        return fields;
    }
}
