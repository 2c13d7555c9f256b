package io.verbena.elle.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One measurement.
 *
 * @param name           what was measured.
 * @param operationsCount operations or transactions of the history.
 * @param elapsedMs      the middle one of several runs, in milliseconds.
 * @param goalMs         what it should take at most, or 0 if there is no goal.
 * @param configurationsCount configurations the search was in, or 0 where there is no search.
 * @param verdict        what the checker said, or "-".
 */
public record BenchmarkRow(
    String name, long operationsCount, double elapsedMs, double goalMs, long configurationsCount, String verdict)
{
    /**
     * Whether the goal was reached.
     *
     * @return true also if there is none.
     */
    public boolean isReached()
    {
        return goalMs == 0 || elapsedMs <= goalMs;
    }

    /**
     * The measurement for programs.
     *
     * @return fields in snake case with units.
     */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", name);
        fields.put("operations_count", operationsCount);
        fields.put("elapsed_ms", elapsedMs);
        fields.put("operations_per_s", operationsCount / elapsedMs * 1_000);
        if (goalMs > 0)
        {
            fields.put("goal_ms", goalMs);
            fields.put("goal_reached", isReached());
        }
        if (configurationsCount > 0)
        {
            fields.put("configurations_count", configurationsCount);
        }
        fields.put("verdict", verdict);
        return fields;
    }
}
