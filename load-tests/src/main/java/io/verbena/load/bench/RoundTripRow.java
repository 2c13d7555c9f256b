package io.verbena.load.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one operation cost, counted where its requests were posted.
 *
 * @param operation      what was done.
 * @param isCached       whether its location was cached and current.
 * @param roundTrips     dependent exchanges; of several operations begun together, the most that one of them took.
 * @param doorbells      rung.
 * @param verbs          requests posted.
 * @param bytesOnWire    payload of READs and WRITEs, and 8 for each atomic; headers depend on the transport.
 * @param mostRoundTrips that the round-trip budget allows.
 */
public record RoundTripRow(
    String operation, boolean isCached, long roundTrips, long doorbells, long verbs, long bytesOnWire,
    int mostRoundTrips)
{
    /** @return whether it kept within the budget. */
    public boolean isWithinBudget()
    {
        return roundTrips <= mostRoundTrips;
    }

    /** @return the figures by name. */
    public Map<String, Object> fields()
    {
        final Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operation", operation);
        fields.put("cached", isCached);
        fields.put("round_trips", roundTrips);
        fields.put("doorbells", doorbells);
        fields.put("verbs", verbs);
        fields.put("bytes_on_wire", bytesOnWire);
        return fields;
    }
}
