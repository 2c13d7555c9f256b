package io.verbena.embedded;

import io.verbena.client.KvClient;
import io.verbena.client.TableStat;
import io.verbena.memory.MemoryNodeState;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.server.DashboardFigures;
import io.verbena.server.DashboardServer;
import io.verbena.server.dashboard.DashboardSource;
import io.verbena.server.dashboard.TableSampler;

import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemEpochClock;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The dashboard of an embedded cluster: what its nodes have published, gathered when somebody opens the page, at most
 * once a second. It takes no lock of the cluster, which may be held for as long as a node takes to join. Thread-safe.
 */
final class EmbeddedDashboard implements DashboardSource
{
    private static final long FRESH_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_OPERATIONS = 20;
    private static final int NEAR_PERCENT = 90;
    private static final int PERCENT = 100;

    private final EmbeddedServers servers;
    private final List<EmbeddedComputeNode> computeNodes;
    private final TableSampler tables;
    private final NanoClock clock;
    private DashboardServer http;
    private Map<String, Object> last;
    private long lastNs;

    /** Closed with the cluster. */
    private record Tables(KvClient client) implements TableSampler.Tables
    {
        @Override
        public List<String> names()
        {
            return client.tables();
        }

        @Override
        public Map<String, Object> figures(final String name)
        {
            final TableStat stat = client.table(name).stat();
            final Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("table", name);
            figures.put("records", stat.records());
            figures.put("fill", stat.fill());
            figures.put("subtables", stat.subtables());
            figures.put("splits_under_way", stat.splitsUnderWay());
            figures.put("record_bytes", stat.blockBytes());
            figures.put("index_bytes", stat.indexBytes());
            return figures;
        }

        @Override
        public void close()
        {
            // the client is the cluster's
        }
    }

    private EmbeddedDashboard(
        final EmbeddedServers servers, final List<EmbeddedComputeNode> computeNodes, final KvClient client)
    {
        this.servers = servers;
        this.computeNodes = computeNodes;
        clock = servers.clock();
        tables = new TableSampler(() -> new Tables(client), clock, SystemEpochClock.INSTANCE);
    }

    /**
     * Opens the dashboard.
     *
     * @param port         0: any.
     * @param servers      of the cluster, started with figures.
     * @param computeNodes of the cluster now; may be read while it changes.
     * @param client       of its own, closed by the caller afterwards.
     * @return the dashboard, closed by the caller.
     * @throws EmbeddedClusterException when the port is busy, or the class path has no dashboard.
     */
    static EmbeddedDashboard open(
        final int port, final EmbeddedServers servers, final List<EmbeddedComputeNode> computeNodes,
        final KvClient client)
    {
        final EmbeddedDashboard dashboard = new EmbeddedDashboard(servers, computeNodes, client);
        try
        {
            dashboard.http = DashboardServer.open(port, dashboard);
            return dashboard;
        }
        catch (final UncheckedIOException ex)
        {
            throw new EmbeddedClusterException(ex.getMessage(), ex);
        }
    }

    /** @return where it listens. */
    int port()
    {
        return http.port();
    }

    @Override
    public synchronized Map<String, Object> status()
    {
        final long nowNs = clock.nanoTime();
        if (null == last || nowNs - lastNs >= FRESH_NS)
        {
            last = gather();
            lastNs = nowNs;
        }
        return last;
    }

    private Map<String, Object> gather()
    {
        tables.begin();
        final List<Map<String, Object>> nodes = new ArrayList<>();
        final List<String> errors = new ArrayList<>();
        final List<String> warnings = new ArrayList<>();
        addMetaServer(nodes, errors, warnings);
        addMemoryNodes(nodes, errors, warnings);
        addComputeNodes(nodes, errors, warnings);
        final TableSampler.Sample sample = tables.last();
        if (!sample.failure().isEmpty())
        {
            warnings.add("tables: " + sample.failure());
        }
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("time_ms", SystemEpochClock.INSTANCE.time());
        all.put("embedded", true);
        all.put("address", "embedded in process " + ProcessHandle.current().pid());
        all.put("ready", errors.isEmpty());
        all.put("errors", errors);
        all.put("warnings", warnings);
        all.put("processes", nodes);
        all.put("slow_operations", slowOperations());
        all.put("autoscaler_decisions", List.of());
        all.put("tables", sample.tables());
        all.put("tables_time_ms", sample.timeMs());
        return all;
    }

    private void addMetaServer(
        final List<Map<String, Object>> nodes, final List<String> errors, final List<String> warnings)
    {
        final NodeSight.Meta sight = servers.metaSight();
        if (null == sight)
        {
            return;
        }
        final String name = "meta-server";
        if (sight.stat().lostMemoryNodes() > 0)
        {
            errors.add(name + ": memory nodes that are lost: " + sight.stat().lostMemoryNodes() +
                "; reads and writes of their records fail");
        }
        nodes.add(node(name, name, true, DashboardFigures.ofMetaServer(sight.stat(), sight.leasesNs()), sight));
        addLimits(name, sight, warnings);
    }

    private void addMemoryNodes(
        final List<Map<String, Object>> nodes, final List<String> errors, final List<String> warnings)
    {
        final List<EmbeddedServers.WatchedMemory> all = servers.watchedMemory();
        for (int i = 0; i < all.size(); i++)
        {
            final String name = "memory-" + (i + 1);
            final EmbeddedServers.WatchedMemory watched = all.get(i);
            final NodeSight.Memory sight = watched.sight();
            final boolean isReady = watched.node().isReady();
            if (!isReady)
            {
                final boolean hasFailed = MemoryNodeState.FAILED == watched.node().state();
                errors.add(name + ": " + (hasFailed ? "failed" : "not ready") + ": " + watched.node().failure());
            }
            final Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("node_id", watched.node().nodeId());
            figures.put("incarnation", watched.node().incarnation());
            if (null != sight)
            {
                figures.putAll(DashboardFigures.ofMemory(sight.stat()));
                addLimits(name, sight, warnings);
            }
            nodes.add(node(name, "memory-node", isReady, figures, sight));
        }
    }

    private void addComputeNodes(
        final List<Map<String, Object>> nodes, final List<String> errors, final List<String> warnings)
    {
        for (final EmbeddedComputeNode each : computeNodes)
        {
            final NodeSight.Compute sight = each.sight();
            if (!each.isServing())
            {
                errors.add(each.name() + ": does not serve: " + each.failure());
            }
            sight.unreached().forEach((id, why) ->
                errors.add(each.name() + ": does not reach memory node " + id + ": " + why));
            final Map<String, Object> figures = each.figures();
            figures.put("memory_nodes", sight.memoryNodes());
            nodes.add(node(each.name(), "compute-node", each.isServing(), figures, sight));
            addLimits(each.name(), sight, warnings);
        }
    }

    private static Map<String, Object> node(
        final String name, final String role, final boolean isReady, final Map<String, Object> figures,
        final NodeSight sight)
    {
        final Map<String, Object> health = new LinkedHashMap<>();
        health.put("role", role);
        health.put("ready", isReady);
        health.putAll(figures);
        if (null != sight)
        {
            // The options that raise them are those of processes.
            health.putAll(DashboardFigures.ofConnections(sight.transports(), sight.limits().stream()
                .map((limit) -> new RaasLimit(limit.name(), limit.used(), limit.most(), "none")).toList()));
        }
        final Map<String, Object> node = new LinkedHashMap<>();
        node.put("name", name);
        node.put("pid", ProcessHandle.current().pid());
        node.put("live", true);
        node.put("health", health);
        return node;
    }

    private static void addLimits(final String name, final NodeSight sight, final List<String> warnings)
    {
        for (final RaasLimit limit : sight.limits())
        {
            if (limit.used() > 0 && PERCENT * limit.used() >= NEAR_PERCENT * limit.most())
            {
                warnings.add(name + ": " + limit.name() + ": " + limit.used() + " of at most " + limit.most() +
                    " are in use");
            }
        }
    }

    private List<Map<String, Object>> slowOperations()
    {
        return computeNodes.stream().flatMap((node) -> node.slowOperations().stream())
            .sorted(Comparator.comparingLong((Map<String, Object> each) -> (Long)each.get("ended_ms")).reversed())
            .limit(MOST_OPERATIONS).toList();
    }

    /** Answers nothing more; what is under way ends first, or is cut off. */
    @Override
    public void close()
    {
        CloseHelper.closeAll(http, tables);
    }
}
