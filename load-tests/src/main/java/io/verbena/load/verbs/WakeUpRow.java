package io.verbena.load.verbs;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How long a sleeper of another process takes to wake.
 *
 * @param operation    such as {@code send_wake_up}.
 * @param bareP50Ns    by a bare futex: from before the word is changed until the sleeper goes on, median.
 * @param bareP99Ns    the same, 99th percentile.
 * @param postedP50Ns  by verbs: from before the SEND is posted until the event is returned, median.
 * @param postedP99Ns  the same, 99th percentile.
 * @param samplesCount of each.
 */
public record WakeUpRow(
    String operation, long bareP50Ns, long bareP99Ns, long postedP50Ns, long postedP99Ns, int samplesCount)
{
    /** @return what is written as JSON, in order. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operation", operation);
        fields.put("bare_p50_ns", bareP50Ns);
        fields.put("bare_p99_ns", bareP99Ns);
        fields.put("posted_p50_ns", postedP50Ns);
        fields.put("posted_p99_ns", postedP99Ns);
        fields.put("samples_count", (long)samplesCount);
        return fields;
    }
}
