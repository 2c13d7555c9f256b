package io.verbena.cli.admin;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;
import io.verbena.protocol.message.NodePage;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;

import java.util.ArrayList;
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
     * @return figures of each, in ascending order of their numbers.
     */
    static List<Map<String, Object>> nodes(final ClientOptions options)
    {
        try (MetaCalls meta = options.openMeta())
        {
            final List<PeerRecord> nodes = new ArrayList<>();
            NodePage page = page(meta, options, 0);
            nodes.addAll(page.nodes());
            while (page.hasMore())
            {
                final NodePage next = page(meta, options, nodes.getLast().nodeId());
                if (next.membershipVersion() == page.membershipVersion())
                {
                    nodes.addAll(next.nodes());
                    page = next;
                }
                else
                {
                    // Pages of two views do not make one.
                    page = page(meta, options, 0);
                    nodes.clear();
                    nodes.addAll(page.nodes());
                }
            }
            return nodes.stream().map((node) -> figures(node, meta.place(node.device()))).toList();
        }
    }

    private static NodePage page(final MetaCalls meta, final ClientOptions options, final int afterNodeId)
    {
        return meta.result((client) -> client.nodes(afterNodeId, options.timeoutNs()));
    }

    private static Map<String, Object> figures(final PeerRecord node, final String place)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", node.nodeId());
        figures.put("role", name(node.role()));
        figures.put("incarnation", node.incarnation());
        figures.put("address", place);
        figures.put("memory_bytes", node.region().lengthBytes());
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
        final TextTable table = new TextTable().row("NODE", "ROLE", "INCARNATION", "ADDRESS", "MEMORY MiB");
        for (final Object node : nodes)
        {
            final Map<?, ?> figures = (Map<?, ?>)node;
            final long lengthBytes = (Long)figures.get("memory_bytes");
            table.row(figures.get("node_id").toString(), figures.get("role").toString(),
                figures.get("incarnation").toString(), figures.get("address").toString(),
                0 == lengthBytes ? NONE : Units.count(lengthBytes >> 20));
        }
        return nodes.isEmpty() ? "no nodes\n" : table.toString();
    }
}
