package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What operations take on a table with some number of copies.
 *
 * @param operation         one of a kind, one after the other, or a workload.
 * @param copies            1 to 3.
 * @param operationsPerS    in the median round.
 * @param medianNs          of one; NaN for a workload, whose operations do not wait for each other.
 * @param p99Ns             likewise.
 * @param verbs             requests posted for one, on average.
 * @param payloadBytes      that these move, for one, on average.
 * @param ratioToOneCopy    of rates, in this run.
 * @param leastRatio        goal of the ratio; NaN for none.
 */
public record ReplicasRow(
    String operation, int copies, double operationsPerS, double medianNs, double p99Ns, double verbs,
    double payloadBytes, double ratioToOneCopy, double leastRatio)
{
    /** @return whether the goal was reached. */
    public boolean isReached()
    {
        return Double.isNaN(leastRatio) || ratioToOneCopy >= leastRatio;
    }

    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operation", operation);
        fields.put("copies_count", copies);
        fields.put("operations_per_s", operationsPerS);
        fields.put("median_ns", medianNs);
        fields.put("p99_ns", p99Ns);
        fields.put("verbs_per_operation_count", verbs);
        fields.put("payload_per_operation_bytes", payloadBytes);
        fields.put("rate_to_one_copy_ratio", ratioToOneCopy);
        fields.put("least_ratio", leastRatio);
        fields.put("reached", isReached());
        return fields;
    }
}
