package io.verbena.cli.cluster;

import io.verbena.load.report.Units;

import org.agrona.concurrent.SystemEpochClock;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What {@code verbena status} shows, for people. Stateless. */
final class StatusText
{
    /** Figures that have a column, or are of no interest here. */
    private static final Set<String> COLUMNS = Set.of("role", "ready", "pid", "address", "nodes", "node_id",
        "incarnation", "began_ns", "ready_after_us", "first_request_after_us", "join_breakdown",
        "checkpoint_failed_ms", "main_ns", "start_breakdown");
    /** Figures that are shown only when they are not as they should be. */
    private static final Map<String, Object> EXPECTED = Map.of("meta_server", "reached", "lost_memory_nodes", 0L,
        "fencing_nodes", 0L, "failed_writes", 0L, "refused_handshakes", 0L, "orphan_bytes", 0L,
        "unknown_bytes", 0L, "reclaiming", false);
    private static final Set<String> RUNNING = Set.of("READY", "SERVING");
    private static final String PROCESS = "%-12s %8s  %-9s %6s %12s %9s  %s%n";
    private static final String TABLE = "%-24s %14s %8s %12s %10s%n";

    private StatusText()
    {
    }

    /** The text of what the command has gathered. */
    static String of(final Map<String, Object> all)
    {
        final StringBuilder text = new StringBuilder();
        text.append(all.get("address")).append(Boolean.TRUE.equals(all.get("ready")) ? "  ready" : "  NOT READY")
            .append("\n\n");
        final List<Map<?, ?>> processes = maps(all.get("processes"));
        final List<Map<?, ?>> leases = new ArrayList<>();
        for (final Map<?, ?> process : processes)
        {
            leases.addAll(
                process.get("health") instanceof final Map<?, ?> health ? maps(health.get("nodes")) : List.of());
        }
        text.append(line(PROCESS, "PROCESS", "PID", "STATE", "NODE", "INCARNATION", "LEASE", ""));
        processes.forEach((process) -> text.append(process(process, leases)));
        if (null != all.get("tables"))
        {
            text.append('\n').append(line(TABLE, "TABLE", "RECORDS", "FILL", "RECORD BYTES", "INDEX"));
            maps(all.get("tables")).forEach((table) -> text.append(line(TABLE, table.get("table"),
                Units.count((long)table.get("records")), String.format(Locale.ROOT, "%.3f", table.get("fill")),
                Units.mebibytes((long)table.get("record_bytes")), Units.mebibytes((long)table.get("index_bytes")))));
        }
        return text.toString();
    }

    private static String process(final Map<?, ?> process, final List<Map<?, ?>> leases)
    {
        final Map<?, ?> health = process.get("health") instanceof final Map<?, ?> map ? map : Map.of();
        final String state = !Boolean.TRUE.equals(process.get("live")) ? "dead" : health.isEmpty() ? "silent" :
            Boolean.TRUE.equals(health.get("ready")) ? "ready" : "not ready";
        final Object node = health.get("node_id");
        final String lease = leases.stream()
            .filter((known) -> known.get("node_id").equals(node) && "LIVE".equals(known.get("state")))
            .map((known) -> known.get("lease_left_ms") + " ms").findFirst().orElse("");
        final String figures = health.entrySet().stream()
            .filter((figure) -> isShown(String.valueOf(figure.getKey()), figure.getValue()))
            .map((figure) -> figure(String.valueOf(figure.getKey()), figure.getValue()))
            .collect(Collectors.joining(" "));
        return line(PROCESS, process.get("name"), process.get("pid"), state, text(node),
            text(health.get("incarnation")), lease, figures);
    }

    private static boolean isShown(final String name, final Object value)
    {
        final boolean isRunning = "state".equals(name) && RUNNING.contains(value);
        return !COLUMNS.contains(name) && !"".equals(value) && !Map.of().equals(value) && !isRunning &&
            !(EXPECTED.containsKey(name) && EXPECTED.get(name).equals(value));
    }

    private static String figure(final String name, final Object value)
    {
        if (name.endsWith("_bytes") && value instanceof final Long bytes)
        {
            return name.substring(0, name.length() - "_bytes".length()) + ':' + Units.mebibytes(bytes).replace(" ", "");
        }
        if ("checkpoint_finished_ms".equals(name) && value instanceof final Long finishedMs)
        {
            return "checkpoint:" + (0 == finishedMs ? "none" : Math.max(0, TimeUnit.MILLISECONDS.toSeconds(
                SystemEpochClock.INSTANCE.time() - finishedMs)) + "s_ago");
        }
        return name + ':' + (value instanceof final Map<?, ?> map ? map.entrySet().stream()
            .map((part) -> part.getValue() + "x" + part.getKey()).collect(Collectors.joining(",")) : value);
    }

    private static String text(final Object value)
    {
        return null == value ? "" : value.toString();
    }

    private static String line(final String format, final Object... cells)
    {
        return String.format(Locale.ROOT, format, cells).stripTrailing() + '\n';
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
