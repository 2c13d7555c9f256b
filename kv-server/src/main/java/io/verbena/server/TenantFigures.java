package io.verbena.server;

import io.verbena.raas.usage.ContextUsage;
import io.verbena.raas.usage.TenantUsage;

import java.util.LinkedHashMap;
import java.util.Map;

/** Connections of a process and what their tenants did, as figures. Stateless. */
final class TenantFigures
{
    private TenantFigures()
    {
    }

    static void put(final Map<String, Object> figures, final ContextUsage usage)
    {
        figures.put("virtual_queue_pairs", usage.virtualQps());
        figures.put("queue_pairs", usage.queuePairs());
        figures.put("dc_initiators", usage.dcInitiators());
        figures.put("dropped_messages", usage.droppedMessages());
        figures.put("replaced_connections", usage.replays().queuePairs());
        figures.put("replayed_requests", usage.replays().requests());
        figures.put("unknown_outcomes", usage.replays().unknownOutcomes());
        figures.put("tenants", usage.tenants().stream().map(TenantFigures::figure).toList());
    }

    private static Map<String, Object> figure(final TenantUsage usage)
    {
        final Map<String, Object> figure = new LinkedHashMap<>();
        figure.put("name", usage.name());
        figure.put("weight", usage.weight());
        figure.put("virtual_queue_pairs", usage.virtualQps());
        figure.put("batches", usage.batches());
        figure.put("requests", usage.requests());
        figure.put("payload_bytes", usage.payloadBytes());
        figure.put("waited_batches", usage.waitedBatches());
        figure.put("refusals", usage.refusals());
        figure.put("unknown_outcomes", usage.unknownOutcomes());
        figure.put("open_batches", usage.openBatches());
        figure.put("calls", usage.calls());
        figure.put("pinned_bytes", usage.pinnedBytes());
        return figure;
    }
}
