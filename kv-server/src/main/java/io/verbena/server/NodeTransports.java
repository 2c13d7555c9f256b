package io.verbena.server;

import io.verbena.raas.RaasContext;

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
}
