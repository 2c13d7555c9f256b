package io.verbena.server;

import io.verbena.compute.ComputeNode;
import io.verbena.protocol.remote.RequestServer;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.resp.RespServer;
import io.verbena.server.metrics.Measurements;
import io.verbena.server.metrics.Metric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The limits of a process, with what is used of each, as a figure and as values of metrics. Stateless. */
final class LimitFigures
{
    /** Name of the figure. */
    static final String NAME = "limits";

    private LimitFigures()
    {
    }

    /** Of a compute node; {@code resp} is null where it does not serve Redis' protocol. By the node's thread. */
    static List<RaasLimit> ofComputeNode(
        final RequestServer server, final int maxClients, final RespServer resp, final ComputeNode node)
    {
        final List<RaasLimit> counted = new ArrayList<>();
        counted.add(new RaasLimit("clients", server.connections(), maxClients, "--max-clients"));
        if (null != resp)
        {
            counted.add(
                new RaasLimit("clients of Redis", resp.connections(), resp.maxConnections(), "--resp-max-clients"));
        }
        counted.addAll(node.limits());
        counted.addAll(named("client ", server.limits()));
        return counted;
    }

    /** Names apart the limits of a second context of the same process. */
    static List<RaasLimit> named(final String prefix, final List<RaasLimit> limits)
    {
        return limits.stream()
            .map((limit) -> new RaasLimit(prefix + limit.name(), limit.used(), limit.most(), limit.option())).toList();
    }

    static List<Map<String, Object>> figure(final List<RaasLimit> limits)
    {
        return limits.stream().map(LimitFigures::figure).toList();
    }

    private static Map<String, Object> figure(final RaasLimit limit)
    {
        final Map<String, Object> figure = new LinkedHashMap<>();
        figure.put("name", limit.name());
        figure.put("use", limit.used());
        figure.put("limit", limit.most());
        figure.put("option", limit.option());
        return figure;
    }

    /** The label is the name, with an underscore for each space. */
    static void measure(final List<RaasLimit> limits, final Measurements measurements)
    {
        for (final RaasLimit limit : limits)
        {
            final String label = limit.name().replace(' ', '_');
            measurements.set(Metric.LIMIT_TAKEN, limit.used(), label);
            measurements.set(Metric.LIMIT, limit.most(), label);
        }
    }
}
