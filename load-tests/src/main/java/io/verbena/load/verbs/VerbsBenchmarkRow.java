package io.verbena.load.verbs;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one kind of operation costs.
 *
 * @param operation      such as {@code read_dependent}.
 * @param bareNs         time of the memory access alone; of a round trip for the ping-pong.
 * @param postedNs       time of the same by verbs, posted and polled.
 * @param goalRatio      the most that posted may be of bare.
 * @param allocatedBytes heap bytes for each operation, posted and polled; of a round trip for the ping-pong, this side.
 */
public record VerbsBenchmarkRow(
    String operation, double bareNs, double postedNs, double goalRatio, double allocatedBytes)
{
    /** @return posted over bare. */
    public double ratio()
    {
        return postedNs / bareNs;
    }

    /** @return whether it is fast enough and allocates nothing. */
    public boolean isReached()
    {
        return ratio() <= goalRatio && allocatedBytes == 0;
    }

    /** @return what is written as JSON, in order. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operation", operation);
        fields.put("bare_ns", bareNs);
        fields.put("posted_ns", postedNs);
        fields.put("posted_to_bare_ratio", ratio());
        fields.put("goal_ratio", goalRatio);
        fields.put("allocated_bytes", allocatedBytes);
        fields.put("reached", isReached());
        return fields;
    }
}
