package io.verbena.cli.admin;

import io.verbena.load.report.TextTable;
import io.verbena.load.report.Units;

import org.agrona.concurrent.SystemEpochClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What {@code verbena status} shows, for people: the processes, an {@code error:} line for each fault, a
 * {@code warning:} line for each limit that is nearly reached, a table for each role, what is used of limits, figures
 * without a column that are not as expected, and the tables of the cluster. Stateless.
 */
final class StatusText
{
    private static final Column CLIENT_TRANSPORTS = new Column("CLIENT TRANSPORTS", "carriers", StatusText::counts);
    private static final Column NODE_TRANSPORTS = new Column("NODE TRANSPORTS", "node_carriers", StatusText::counts);
    /** The columns of each role, by its name in {@code role}. */
    private static final Map<String, List<Column>> ROLES = Map.of(
        "meta-server", List.of(
            new Column("EPOCH", "epoch", StatusText::count), new Column("SAFE EPOCH", "safe_epoch", StatusText::count),
            new Column("MEMORY NODES", "memory_nodes", StatusText::count),
            new Column("COMPUTE NODES", "compute_nodes", StatusText::count),
            new Column("TABLES", "tables", StatusText::count), NODE_TRANSPORTS),
        "memory-node", List.of(
            new Column("MEMORY MiB", "memory_bytes", StatusText::mebibytes),
            new Column("FREE MiB", "free_bytes", StatusText::mebibytes),
            new Column("RECORDS MiB", "record_bytes", StatusText::mebibytes),
            new Column("INDEX MiB", "index_bytes", StatusText::mebibytes),
            new Column("CHECKPOINT AGE s", "checkpoint_finished_ms", StatusText::ageSeconds),
            new Column("CHECKPOINT RECORDS", "checkpoint_records", StatusText::count),
            new Column("FAILURE DOMAIN", "failure_domain", StatusText::text), NODE_TRANSPORTS),
        "compute-node", List.of(
            new Column("CLIENTS", "clients", StatusText::count), new Column("REQUESTS", "requests", StatusText::count),
            new Column("OPERATIONS", "operations", StatusText::count),
            new Column("HELD MiB", "held_bytes", StatusText::mebibytes), CLIENT_TRANSPORTS, NODE_TRANSPORTS));
    /** Of meta servers that are a group. */
    private static final List<Column> GROUP = List.of(
        new Column("MEMBER", "group_member", StatusText::text), new Column("LEADER", "group_leader", StatusText::text),
        new Column("TERM", "group_term", StatusText::count),
        new Column("LEADERSHIP", "group_leadership", StatusText::count),
        new Column("LEASE ms", "group_lease_left_ms", StatusText::count),
        new Column("COMMITTED", "group_commit_index", StatusText::count),
        new Column("APPLIED", "group_applied_index", StatusText::count),
        new Column("SNAPSHOT", "group_snapshot_index", StatusText::count));
    /** Of those who share a node's connections; one alone that lacks nothing is shown by {@code --all} only. */
    private static final List<Column> TENANT = List.of(
        new Column("TENANT", "name", StatusText::text), new Column("WEIGHT", "weight", StatusText::count),
        new Column("CONNECTIONS", "virtual_queue_pairs", StatusText::count),
        new Column("BATCHES", "batches", StatusText::count), new Column("OPEN", "open_batches", StatusText::count),
        new Column("REQUESTS", "requests", StatusText::count), new Column("CALLS", "calls", StatusText::count),
        new Column("MiB", "payload_bytes", StatusText::mebibytes),
        new Column("WAITED", "waited_batches", StatusText::count),
        new Column("REFUSED", "refusals", StatusText::count),
        new Column("UNKNOWN", "unknown_outcomes", StatusText::count),
        new Column("PINNED MiB", "pinned_bytes", StatusText::mebibytes));
    /** Of memory nodes that keep the same tables. */
    private static final List<Column> GROUPS = List.of(
        new Column("VIEW", "view", StatusText::count), new Column("STATE", "state", StatusText::text),
        new Column("MEMORY NODES", "memory_nodes", StatusText::list),
        new Column("FAILURE DOMAINS", "failure_domains", StatusText::list),
        new Column("LOST", "lost", StatusText::list),
        new Column("RECONCILER", "reconciler", StatusText::text));
    private static final String TENANTS = "tenants";
    /** Transport by peer. */
    private static final String TRANSPORTS = "node_transports";
    /** Figures of the first table, or for programs only, and those that have a table of their own. */
    private static final Set<String> ELSEWHERE = Set.of("role", "ready", "pid", "address", "nodes", "node_id", "state",
        "incarnation", "began_ns", "ready_after_us", "first_client_after_us", "first_request_after_us",
        "join_breakdown", "cluster_id", "checkpoint_failed_ms", "checkpoint_started_ms", "main_ns", "start_breakdown",
        "sweeps_asked", "sweeps_ended", "kinds", "demand", "groups", TRANSPORTS, TENANTS, StatusLimits.LIMITS);
    /** Figures that only {@code --all} shows, whatever their values. */
    private static final Set<String> DETAILS =
        Set.of("memory_nodes", "resp_transport", "resp_buffer_bytes", "resp_allocated_bytes", "allocated_bytes");
    private static final Set<String> RUNNING = Set.of("READY", "SERVING");
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double PERCENT = 100;
    private static final String NONE = "-";

    /** A column of a table of a role: the figure, and how it is written. */
    private record Column(String header, String figure, BiFunction<Object, Long, String> format)
    {
        Column(final String header, final String figure, final Function<Object, String> format)
        {
            this(header, figure, (value, nowMs) -> format.apply(value));
        }

        String cell(final Map<?, ?> health, final long nowMs)
        {
            final Object value = health.get(figure);
            return null == value ? NONE : format.apply(value, nowMs);
        }
    }

    private StatusText()
    {
    }

    /**
     * The text of what the command has gathered.
     *
     * @param all     as in the JSON object.
     * @param isWhole whether limits that are far away and figures that are zero are shown, too.
     * @return lines of text.
     */
    static String of(final Map<String, Object> all, final boolean isWhole)
    {
        return of(all, isWhole, SystemEpochClock.INSTANCE.time());
    }

    /** As the other one, at this time, ms since 1970. */
    static String of(final Map<String, Object> all, final boolean isWhole, final long nowMs)
    {
        final List<Map<?, ?>> processes = maps(all.get("processes"));
        final StringBuilder text = new StringBuilder();
        text.append(all.get("address")).append(Boolean.TRUE.equals(all.get("ready")) ? "  ready" : "  NOT READY")
            .append("\n\n")
            .append(all.get("nodes") instanceof final List<?> nodes ? RemoteStatus.text(nodes) : processes(processes));
        if (all.get(StatusFaults.ERRORS) instanceof final List<?> errors)
        {
            errors.forEach((error) -> text.append("error: ").append(error).append('\n'));
        }
        processes.forEach((process) -> StatusFaults.of(process).forEach((fault) ->
            text.append("error: ").append(fault).append('\n')));
        processes.forEach((process) -> StatusLimits.warnings(process).forEach((warning) ->
            text.append("warning: ").append(warning).append('\n')));
        final List<Map<?, ?>> groups = maps(all.get("groups"));
        processes.forEach((process) -> groups.addAll(maps(health(process).get("groups"))));
        StatusFaults.sharedDomains(groups).forEach((warning) -> text.append("warning: ").append(warning).append('\n'));
        Stream.of("meta-server", "memory-node", "compute-node").forEach((role) ->
            text.append(role(role, processes, nowMs)));
        text.append(table("META GROUP", GROUP, processes.stream()
            .filter((process) -> health(process).containsKey("group_member")).toList(), nowMs));
        text.append(groups(groups));
        text.append(transports(processes)).append(tenants(processes, isWhole, nowMs))
            .append(StatusLimits.table(processes, isWhole))
            .append(others(processes, isWhole))
            .append(tables(maps(all.get("tables"))));
        return text.toString();
    }

    private static String processes(final List<Map<?, ?>> processes)
    {
        final List<Map<?, ?>> leases = new ArrayList<>();
        processes.forEach((process) -> leases.addAll(maps(health(process).get("nodes"))));
        final TextTable table = new TextTable().row("PROCESS", "PID", "STATE", "NODE", "INCARNATION", "LEASE ms");
        for (final Map<?, ?> process : processes)
        {
            final Map<?, ?> health = health(process);
            final Object node = health.get("node_id");
            final String lease = leases.stream()
                .filter((known) -> known.get("node_id").equals(node) && "LIVE".equals(known.get("state")))
                .map((known) -> count(known.get("lease_left_ms"))).findFirst().orElse(NONE);
            table.row(text(process.get("name")), text(process.get("pid")), state(process, health), text(node),
                text(health.get("incarnation")), lease);
        }
        return table.toString();
    }

    private static String state(final Map<?, ?> process, final Map<?, ?> health)
    {
        if (!Boolean.TRUE.equals(process.get("live")))
        {
            return "dead";
        }
        if (health.isEmpty())
        {
            return "silent";
        }
        final Object state = health.get("state");
        return Boolean.TRUE.equals(health.get("ready")) ? "ready" : null == state || RUNNING.contains(state) ?
            "not ready" : state.toString().toLowerCase(Locale.ROOT);
    }

    private static String role(final String role, final List<Map<?, ?>> processes, final long nowMs)
    {
        return table(role.toUpperCase(Locale.ROOT).replace('-', ' '), ROLES.get(role), processes.stream()
            .filter((process) -> role.equals(health(process).get("role"))).collect(Collectors.toList()), nowMs);
    }

    private static String table(
        final String header, final List<Column> columns, final List<Map<?, ?>> shown, final long nowMs)
    {
        final TextTable table = new TextTable().row(row(header, columns.stream().map(Column::header)));
        shown.forEach((process) -> table.row(row(text(process.get("name")),
            columns.stream().map((column) -> column.cell(health(process), nowMs)))));
        return shown.isEmpty() ? "" : "\n" + table;
    }

    /** As the meta server knows them that leads. */
    private static String groups(final List<Map<?, ?>> groups)
    {
        final TextTable table = new TextTable().row(row("GROUP", GROUPS.stream().map(Column::header)));
        groups.forEach((group) -> table.row(row(text(group.get("group")),
            GROUPS.stream().map((column) -> column.cell(group, 0)))));
        return groups.isEmpty() ? "" : "\n" + table;
    }

    /** Which way is taken to which peer. */
    private static String transports(final List<Map<?, ?>> processes)
    {
        final TextTable table = new TextTable().row("PROCESS", "TRANSPORT", "PEERS");
        boolean isEmpty = true;
        for (final Map<?, ?> process : processes)
        {
            final Map<String, List<String>> peers = new TreeMap<>();
            if (health(process).get(TRANSPORTS) instanceof final Map<?, ?> byPeer)
            {
                byPeer.forEach((peer, transport) ->
                    peers.computeIfAbsent(text(transport), (each) -> new ArrayList<>()).add(text(peer)));
            }
            peers.forEach((transport, names) ->
                table.row(text(process.get("name")), transport, String.join(", ", names)));
            isEmpty &= peers.isEmpty();
        }
        return isEmpty ? "" : "\n" + table;
    }

    private static String tenants(final List<Map<?, ?>> processes, final boolean isWhole, final long nowMs)
    {
        final TextTable table = new TextTable().row(row("PROCESS", TENANT.stream().map(Column::header)));
        boolean isEmpty = true;
        for (final Map<?, ?> process : processes)
        {
            final List<Map<?, ?>> tenants = maps(health(process).get(TENANTS));
            if (isWhole || 1 < tenants.size() || tenants.stream().anyMatch(StatusText::lacksSomething))
            {
                tenants.forEach((tenant) -> table.row(row(text(process.get("name")),
                    TENANT.stream().map((column) -> column.cell(tenant, nowMs)))));
                isEmpty &= tenants.isEmpty();
            }
        }
        return isEmpty ? "" : "\n" + table;
    }

    private static boolean lacksSomething(final Map<?, ?> tenant)
    {
        return Stream.of("waited_batches", "refusals", "unknown_outcomes").anyMatch((figure) ->
            tenant.get(figure) instanceof final Long count && count > 0);
    }

    /** Figures that have no column of their own, so that none is hidden; without {@code --all} those that say much. */
    private static String others(final List<Map<?, ?>> processes, final boolean isWhole)
    {
        final TextTable table = new TextTable().row("PROCESS", "FIGURE", "VALUE");
        boolean isEmpty = true;
        for (final Map<?, ?> process : processes)
        {
            final Map<?, ?> health = health(process);
            final Set<String> inColumns = ROLES.getOrDefault(text(health.get("role")), List.of()).stream()
                .map(Column::figure).collect(Collectors.toSet());
            for (final Map.Entry<?, ?> figure : health.entrySet())
            {
                final String name = text(figure.getKey());
                if (!inColumns.contains(name) && !name.startsWith("group_") && !ELSEWHERE.contains(name) &&
                    !StatusFaults.isFault(name) &&
                    (isWhole || !isAsExpected(name, figure.getValue())))
                {
                    table.row(text(process.get("name")), name, other(figure.getValue()));
                    isEmpty = false;
                }
            }
        }
        return isEmpty ? "" : "\n" + table;
    }

    private static boolean isAsExpected(final String name, final Object value)
    {
        return null == value || "".equals(value) || Map.of().equals(value) || value.equals(0L) ||
            value.equals(0.0) || Boolean.FALSE.equals(value) || DETAILS.contains(name);
    }

    private static String other(final Object value)
    {
        return value instanceof Map<?, ?> ? counts(value) : value instanceof Long ? count(value) : text(value);
    }

    private static String tables(final List<Map<?, ?>> tables)
    {
        final TextTable table = new TextTable().row("TABLE", "RECORDS", "FILL %", "RECORDS MiB", "INDEX MiB");
        tables.forEach((figures) -> table.row(text(figures.get("table")), count(figures.get("records")),
            String.format(Locale.ROOT, "%.1f", PERCENT * (double)figures.get("fill")),
            mebibytes(figures.get("record_bytes")), mebibytes(figures.get("index_bytes"))));
        return tables.isEmpty() ? "" : "\n" + table;
    }

    private static String[] row(final String first, final Stream<String> others)
    {
        return Stream.concat(Stream.of(first), others).toArray(String[]::new);
    }

    private static Map<?, ?> health(final Map<?, ?> process)
    {
        return process.get("health") instanceof final Map<?, ?> health ? health : Map.of();
    }

    private static String count(final Object value)
    {
        return Units.count((Long)value);
    }

    private static String mebibytes(final Object value)
    {
        return String.format(Locale.ROOT, "%,.1f", (Long)value / BYTES_PER_MIB);
    }

    private static String ageSeconds(final Object finishedMs, final long nowMs)
    {
        return 0L == (Long)finishedMs ? NONE :
            Units.count(Math.max(0, TimeUnit.MILLISECONDS.toSeconds(nowMs - (Long)finishedMs)));
    }

    /** How many there are of each: {@code 15 shared-memory, 1 dc}. */
    private static String counts(final Object value)
    {
        final String counts = ((Map<?, ?>)value).entrySet().stream()
            .map((part) -> part.getValue() + " " + part.getKey()).collect(Collectors.joining(", "));
        return counts.isEmpty() ? NONE : counts;
    }

    private static String list(final Object value)
    {
        final String elements =
            ((List<?>)value).stream().map(StatusText::text).collect(Collectors.joining(", "));
        return elements.isEmpty() ? NONE : elements;
    }

    private static String text(final Object value)
    {
        return null == value || "".equals(value) ? NONE : value.toString();
    }

    private static List<Map<?, ?>> maps(final Object list)
    {
        final List<Map<?, ?>> maps = new ArrayList<>();
        if (list instanceof final List<?> elements)
        {
            elements.forEach((element) -> maps.add((Map<?, ?>)element));
        }
        return maps;
    }
}
