package io.verbena.load.demo;

import io.verbena.client.OperationKind;
import io.verbena.client.OperationStatistics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What one operation of a kind cost on average, counted where its verbs were posted.
 */
record OperationCost(String operation, long count, double roundTrips, double verbs, double doorbells)
{
    /**
     * Of all kinds that occurred.
     */
    static List<OperationCost> of(final OperationStatistics statistics)
    {
        final List<OperationCost> costs = new ArrayList<>();
        for (final OperationKind kind : OperationKind.values())
        {
            final long count = statistics.count(kind) + statistics.failures(kind);
            if (count > 0)
            {
                costs.add(new OperationCost(
                    kind.name().toLowerCase(Locale.ROOT),
                    count,
                    (double)statistics.roundTrips(kind) / count,
                    (double)statistics.verbs(kind) / count,
                    (double)statistics.doorbells(kind) / count));
            }
        }
        return costs;
    }

    void addTo(final Map<String, Object> figures)
    {
        figures.put("round_trips_per_" + operation, roundTrips);
        figures.put("verbs_per_" + operation, verbs);
        figures.put("doorbells_per_" + operation, doorbells);
    }
}
