package io.verbena.server;

import io.verbena.compute.ComputeNode;
import io.verbena.compute.figures.OperationTraces;
import io.verbena.meta.MetaServerStat;
import io.verbena.meta.store.StoredNode;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.raas.RaasContext;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * What a dashboard reads of nodes, by the names that it knows: for roles of a process, and for nodes in the process of
 * a cluster. Stateless.
 */
public final class DashboardFigures
{
    private DashboardFigures()
    {
    }

    /**
     * @param transports of the node.
     * @param limits     of the node, with what is used of each.
     * @return figures that each kind of node has.
     */
    public static Map<String, Object> ofConnections(
        final RaasContext.Transports transports, final List<RaasLimit> limits)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_carriers", transports.counts());
        figures.put("node_transports", NodeTransports.figure(transports));
        figures.put(LimitFigures.NAME, LimitFigures.figure(limits));
        return figures;
    }

    /**
     * @param stat         of a meta server.
     * @param leasesLeftNs of the nodes that it knows.
     * @return its figures.
     */
    public static Map<String, Object> ofMetaServer(
        final MetaServerStat stat, final Map<StoredNode, Long> leasesLeftNs)
    {
        final Map<String, Object> figures = counts(stat);
        figures.put("nodes", nodes(leasesLeftNs));
        return figures;
    }

    static Map<String, Object> counts(final MetaServerStat stat)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("epoch", stat.epoch());
        figures.put("safe_epoch", stat.safeEpoch());
        figures.put("memory_nodes", stat.liveMemoryNodes());
        figures.put("lost_memory_nodes", stat.lostMemoryNodes());
        figures.put("compute_nodes", stat.liveComputeNodes());
        figures.put("spare_compute_nodes", stat.spareComputeNodes());
        figures.put("fencing_nodes", stat.fencingNodes());
        figures.put("tables", stat.tables());
        return figures;
    }

    /**
     * @param views   the latest ones of groups of memory nodes.
     * @param domains labels of failure domains, by the ids of memory nodes that have one.
     * @param fills   how far memory nodes are filled, as far as is known.
     * @return figures of each group, ascending, as {@code status --json} has them.
     */
    public static List<Map<String, Object>> groups(
        final List<View> views, final Map<Integer, String> domains, final List<FillProgress> fills)
    {
        return views.stream().sorted(Comparator.comparingInt(View::group))
            .map((view) -> group(view, domains, fills)).toList();
    }

    /** Labels of memory nodes by node id; those without one are left out. */
    static Map<Integer, String> domains(final Set<StoredNode> nodes)
    {
        return nodes.stream().filter((node) -> !FailureDomain.NONE.equals(node.failureDomain()))
            .collect(Collectors.toMap(StoredNode::nodeId, StoredNode::failureDomain));
    }

    private static Map<String, Object> group(
        final View view, final Map<Integer, String> domains, final List<FillProgress> fills)
    {
        final List<Integer> lost = new ArrayList<>();
        for (int member = 0; member < view.members().size(); member++)
        {
            if (view.isLost(member))
            {
                lost.add(view.members().get(member).nodeId());
            }
        }
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("group", view.group());
        figures.put("view", view.number());
        figures.put("state", view.isFilling() ? "filling" : view.state().name().toLowerCase(Locale.ROOT));
        figures.put("memory_nodes", view.members().stream().map(PeerIdentity::nodeId).toList());
        figures.put("failure_domains", view.members().stream()
            .map((member) -> domains.getOrDefault(member.nodeId(), FailureDomain.NONE)).toList());
        figures.put("lost", lost);
        figures.put("reconciler", PeerIdentity.UNREGISTERED.equals(view.reconciler()) ? null :
            view.reconciler().nodeId());
        figures.put("entering", view.hasEntering() ? view.entering().nodeId() : null);
        figures.put("fill", fills.stream().filter((fill) -> fill.attempt().equals(ViewAttempt.of(view))).findFirst()
            .map(DashboardFigures::fill).orElse(null));
        return figures;
    }

    private static Map<String, Object> fill(final FillProgress fill)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("pass", fill.pass());
        figures.put("compared_bytes", fill.comparedBytes());
        figures.put("total_bytes", fill.totalBytes());
        figures.put("copied_bytes", fill.copiedBytes());
        figures.put("differing_bytes", fill.differingBytes());
        figures.put("left_seconds", FillProgress.UNKNOWN == fill.secondsLeft() ? null : fill.secondsLeft());
        return figures;
    }

    static List<Map<String, Object>> nodes(final Map<StoredNode, Long> leasesLeftNs)
    {
        return leasesLeftNs.entrySet().stream().map((each) -> node(each.getKey(), each.getValue())).toList();
    }

    private static Map<String, Object> node(final StoredNode node, final long leaseLeftNs)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", node.nodeId());
        figures.put("role", roleOf(node));
        figures.put("incarnation", node.incarnation());
        figures.put("state", node.state().name());
        figures.put("lease_left_ms", TimeUnit.NANOSECONDS.toMillis(leaseLeftNs));
        if (NodeRole.MEMORY_NODE == node.role())
        {
            figures.put("failure_domain", node.failureDomain());
        }
        return figures;
    }

    static String roleOf(final StoredNode node)
    {
        return node.role().name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @param stat of a memory node.
     * @return what its memory is used for.
     */
    public static Map<String, Object> ofMemory(final MemoryNodeStat stat)
    {
        final long chunkBytes = stat.chunkLengthBytes();
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("memory_bytes", stat.regionLengthBytes());
        figures.put("free_bytes", stat.freeChunkCount() * chunkBytes);
        figures.put("record_bytes", stat.blockChunkCount() * chunkBytes);
        figures.put("index_bytes", stat.indexChunkCount() * chunkBytes);
        figures.put("orphan_bytes", stat.retainedChunkCount() * chunkBytes);
        return figures;
    }

    /**
     * @param node any compute node.
     * @return its figures that any thread may read.
     */
    public static Map<String, Object> ofComputeNode(final ComputeNode node)
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("node_id", node.nodeId());
        figures.put("incarnation", node.incarnation());
        figures.put("state", node.state().name());
        figures.put("operations", node.operationFigures().answeredCount());
        figures.put("kinds", KindFigures.of(node.operationFigures()));
        return figures;
    }

    /**
     * @param name   of a compute node.
     * @param traces that it keeps.
     * @return its slow operations, the latest first, as in {@code slowlog --json}.
     */
    public static List<Map<String, Object>> slowOperations(final String name, final OperationTraces traces)
    {
        final List<Map<String, Object>> operations = new ArrayList<>();
        for (final Map<String, Object> each : SlowlogFigures.slow(traces))
        {
            final Map<String, Object> operation = new LinkedHashMap<>();
            operation.put("node", name);
            operation.putAll(each);
            operations.add(operation);
        }
        return operations;
    }
}
