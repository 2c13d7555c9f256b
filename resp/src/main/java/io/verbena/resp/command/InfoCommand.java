package io.verbena.resp.command;

import io.verbena.resp.session.ServedPort;
import io.verbena.resp.session.Session;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** INFO: the figures of Redis that have a meaning here, under their names there. Stateless. */
final class InfoCommand
{
    private static final Set<String> ALL = Set.of("default", "all", "everything");

    private InfoCommand()
    {
    }

    static void info(final Session session)
    {
        final Map<String, Map<String, Object>> sections = sections(session);
        final Set<String> wanted = new LinkedHashSet<>();
        for (int i = 1; i < session.arguments().count(); i++)
        {
            final String name = session.arguments().text(i).toLowerCase(Locale.ROOT);
            wanted.addAll(ALL.contains(name) ? sections.keySet() : Set.of(name));
        }
        final StringBuilder text = new StringBuilder();
        sections.forEach((name, figures) ->
        {
            if (1 == session.arguments().count() || wanted.contains(name))
            {
                text.append(text.isEmpty() ? "# " : "\r\n# ").append(name.substring(0, 1).toUpperCase(Locale.ROOT))
                    .append(name.substring(1)).append("\r\n");
                figures.forEach((figure, value) -> text.append(figure).append(':').append(value).append("\r\n"));
            }
        });
        session.writer().verbatim(text.toString());
    }

    private static Map<String, Map<String, Object>> sections(final Session session)
    {
        final ServedPort port = session.worker().port();
        final Runtime heap = Runtime.getRuntime();
        final Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
        final Map<String, Object> server = section(sections, "server");
        final long upS = TimeUnit.NANOSECONDS.toSeconds(session.worker().clock().nanoTime() - port.openedNs());
        server.put("redis_version", ConnectionCommands.REDIS_VERSION);
        server.put("redis_git_sha1", "00000000");
        server.put("redis_mode", ConnectionCommands.mode(session));
        server.put("server_name", "verbena");
        server.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        server.put("arch_bits", Long.SIZE);
        server.put("process_id", ProcessHandle.current().pid());
        server.put("tcp_port", port.port());
        server.put("uptime_in_seconds", upS);
        server.put("uptime_in_days", TimeUnit.SECONDS.toDays(upS));
        final Map<String, Object> clients = section(sections, "clients");
        clients.put("connected_clients", port.connections());
        clients.put("maxclients", port.maxConnections());
        clients.put("blocked_clients", 0);
        final Map<String, Object> memory = section(sections, "memory");
        memory.put("client_buffer_bytes", port.bufferBytes());
        memory.put("heap_used_bytes", heap.totalMemory() - heap.freeMemory());
        memory.put("heap_max_bytes", heap.maxMemory());
        memory.put("maxmemory", 0);
        memory.put("maxmemory_policy", "noeviction");
        final Map<String, Object> persistence = section(sections, "persistence");
        persistence.put("loading", 0);
        final Map<String, Object> stats = section(sections, "stats");
        stats.put("total_connections_received", port.acceptances());
        stats.put("rejected_connections", port.refusals());
        stats.put("evicted_clients", port.evictions());
        stats.put("total_commands_processed", port.commandCount());
        final Map<String, Object> replication = section(sections, "replication");
        replication.put("role", "master");
        replication.put("connected_slaves", 0);
        section(sections, "cluster").put("cluster_enabled", session.worker().settings().isCluster() ? 1 : 0);
        section(sections, "keyspace");
        return sections;
    }

    private static Map<String, Object> section(final Map<String, Map<String, Object>> sections, final String name)
    {
        return sections.computeIfAbsent(name, (key) -> new LinkedHashMap<>());
    }
}
