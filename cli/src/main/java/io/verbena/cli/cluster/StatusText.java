package io.verbena.cli.cluster;

import io.verbena.load.report.Units;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What {@code verbena status} shows, for people. Stateless. */
final class StatusText
{
    /** Figures that have a column, or are of no interest here. */
    private static final Set<String> COLUMNS = Set.of("role", "ready", "pid", "address", "nodes", "node_id",
        "incarnation", "began_ns", "ready_after_us", "first_request_after_us", "join_breakdown");
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
            .filter((figure) -> !COLUMNS.contains(figure.getKey()) && !"".equals(figure.getValue()) &&
                !Map.of().equals(figure.getValue()))
            .map((figure) -> figure(String.valueOf(figure.getKey()), figure.getValue()))
            .collect(Collectors.joining(" "));
        return line(PROCESS, process.get("name"), process.get("pid"), state, text(node),
            text(health.get("incarnation")), lease, figures);
    }

    private static String figure(final String name, final Object value)
    {
        if (name.endsWith("_bytes") && value instanceof final Long bytes)
        {
            return name.substring(0, name.length() - "_bytes".length()) + ':' + Units.mebibytes(bytes).replace(" ", "");
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
