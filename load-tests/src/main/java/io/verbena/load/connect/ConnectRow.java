package io.verbena.load.connect;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one way of connecting costs.
 *
 * @param figure      such as {@code known_peer}.
 * @param ownUs       microseconds, median.
 * @param referenceUs of what it is compared with, measured in turn with it; NaN where there is nothing.
 * @param judged      what the goal speaks of: own over reference, or the own microseconds.
 * @param goal        most that is allowed; NaN where none is.
 * @param readsCount  READs posted for it; -1 where they are not counted.
 * @param sendsCount  messages sent for it; -1 where they are not counted.
 */
public record ConnectRow(
    String figure, double ownUs, double referenceUs, double judged, double goal, long readsCount, long sendsCount)
{
    private static final long NOT_COUNTED = -1;

    static ConnectRow alone(
        final String figure, final double ownUs, final double most, final long reads, final long sends)
    {
        return new ConnectRow(figure, ownUs, Double.NaN, ownUs, most, reads, sends);
    }

    /**
     * Of something whose requests are not counted, and that is compared with nothing.
     *
     * @param figure name.
     * @param ownUs  microseconds.
     * @param most   goal of them; NaN for none.
     * @return the row.
     */
    public static ConnectRow alone(final String figure, final double ownUs, final double most)
    {
        return alone(figure, ownUs, most, NOT_COUNTED, NOT_COUNTED);
    }

    static ConnectRow ratio(
        final String figure, final double ownUs, final double referenceUs, final double most, final long reads,
        final long sends)
    {
        return new ConnectRow(figure, ownUs, referenceUs, ownUs / referenceUs, most, reads, sends);
    }

    /**
     * Of something whose requests are not counted.
     *
     * @param figure      name.
     * @param ownUs       microseconds.
     * @param referenceUs of what it is compared with.
     * @param most        goal of their ratio; NaN for none.
     * @return the row.
     */
    public static ConnectRow ratio(
        final String figure, final double ownUs, final double referenceUs, final double most)
    {
        return ratio(figure, ownUs, referenceUs, most, NOT_COUNTED, NOT_COUNTED);
    }

    /** @return whether the goal was reached, or there is none. */
    public boolean isReached()
    {
        return Double.isNaN(goal) || judged <= goal;
    }

    /** @return what is written as JSON, in order. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("figure", figure);
        fields.put("own_us", ownUs);
        fields.put("reference_us", orNull(referenceUs));
        fields.put(Double.isNaN(referenceUs) ? "judged_us" : "judged_ratio", judged);
        fields.put("goal_at_most", orNull(goal));
        fields.put("reads_count", readsCount == NOT_COUNTED ? null : readsCount);
        fields.put("sends_count", sendsCount == NOT_COUNTED ? null : sendsCount);
        fields.put("reached", Double.isNaN(goal) ? null : isReached());
        return fields;
    }

    private static Double orNull(final double value)
    {
        return Double.isNaN(value) ? null : value;
    }
}
