package io.verbena.server;

import io.verbena.raas.RaasContext;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import java.util.LinkedHashMap;
import java.util.Map;

/** How messages to each node travel, as a figure of a role. Stateless. */
final class NodeTransports
{
    /** The only one that is connected to before its number is known. */
    private static final String META_SERVER = "meta-server";

    private NodeTransports()
    {
    }

    /** Transport by peer: the meta server, then nodes by their numbers, in ascending order. */
    static Map<String, String> figure(final RaasContext.Transports transports)
    {
        final Map<String, String> figure = new LinkedHashMap<>();
        transports.byNode().forEach(
            (nodeId, transport) -> figure.put(0 == nodeId ? META_SERVER : "node " + nodeId, transport));
        return figure;
    }

    /** Notes the connections by what carries them. */
    static void measure(final RaasContext.Transports transports, final Measurements measurements)
    {
        transports.counts().forEach(
            (carrier, count) -> measurements.set(Metric.CONNECTIONS, count, carrier));
    }
}
