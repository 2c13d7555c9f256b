package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the meta server of a cluster elsewhere says of its nodes. Stateless. */
final class RemoteStatus
{
    private static final String NONE = "-";

    private RemoteStatus()
    {
    }

    /**
     * Asks for the living nodes.
     *
     * @param options of the cluster.
     * @param views   to which the latest view of each group of memory nodes is added.
     * @param fills   to which is added how far memory nodes are filled.
     * @param domains to which labels of failure domains are added, by the ids of memory nodes.
     * @return figures of each, in ascending order of their numbers.
     */
    static List<Map<String, Object>> nodes(
        final ClientOptions options, final List<View> views, final List<FillProgress> fills,
        final Map<Integer, String> domains)
    {
        try (MetaCalls meta = options.openMeta())
        {
            views.addAll(meta.views(options.timeoutNs()));
            fills.addAll(meta.result((client) -> client.fills(options.timeoutNs())));
            domains.putAll(meta.failureDomains(options.timeoutNs()));
            return meta.nodes(options.timeoutNs()).stream()
                .map((node) -> figures(node, meta.place(node.device()), domains)).toList();
        }
    }

    private static Map<String, Object> figures(
        final PeerRecord node, final String place, final Map<Integer, String> domains)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", node.nodeId());
        figures.put("role", name(node.role()));
        figures.put("spare", NodeRole.COMPUTE_NODE == node.role() && 0 == node.servicePort());
        figures.put("incarnation", node.incarnation());
        figures.put("address", place);
        figures.put("memory_bytes", node.region().lengthBytes());
        if (NodeRole.MEMORY_NODE == node.role())
        {
            figures.put("failure_domain", domains.getOrDefault(node.nodeId(), FailureDomain.NONE));
        }
        return figures;
    }

    /** @return whether there are nodes of both roles, so that operations are possible. */
    static boolean isReady(final List<Map<String, Object>> nodes)
    {
        return List.of(NodeRole.MEMORY_NODE, NodeRole.COMPUTE_NODE).stream().allMatch((role) -> nodes.stream()
            .anyMatch((node) -> name(role).equals(node.get("role"))));
    }

    private static String name(final NodeRole role)
    {
        return role.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @return a table of them. */
    static String text(final List<?> nodes)
    {
        final TextTable table = new TextTable().row("NODE", "ROLE", "INCARNATION", "ADDRESS", "MEMORY MiB",
            "FAILURE DOMAIN");
        for (final Object node : nodes)
        {
            final Map<?, ?> figures = (Map<?, ?>)node;
            final long lengthBytes = (Long)figures.get("memory_bytes");
            table.row(figures.get("node_id").toString(),
                figures.get("role") + (Boolean.TRUE.equals(figures.get("spare")) ? ", spare" : ""),
                figures.get("incarnation").toString(), figures.get("address").toString(),
                0 == lengthBytes ? NONE : Units.count(lengthBytes >> 20),
                figures.get("failure_domain") instanceof final String label && !label.isEmpty() ? label : NONE);
        }
        return nodes.isEmpty() ? "no nodes\n" : table.toString();
    }
}
